package btffile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// flatten joins files in their order.
func flatten(t testing.TB, base *btf.Blob, files []*btf.Blob) *Flat {
	t.Helper()
	f, err := NewFlattener(base, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Free()
	for _, b := range files {
		if err := f.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	flat, err := f.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return flat
}

// checkFlat checks that flat begins with the base, and that each type of each file is in it:
// with the same words, and references to where the file's types are. A declaration may have
// become a definition of its name.
func checkFlat(base *btf.Blob, files []*btf.Blob, flat *Flat) error {
	out, err := btf.Parse(flat.Data, nil)
	if err != nil {
		return err
	}
	if !slices.Equal(out.Words[:len(base.Words)], base.Words) || !bytes.HasPrefix(out.Strings, base.Strings) {
		return errors.New("the base is not at the beginning")
	}
	for i, b := range files {
		if err := checkOrigin(b, out, flat.Origin[i]); err != nil {
			return fmt.Errorf("file %d: %w", i, err)
		}
	}
	return nil
}

// origin is where the types of a file are in the output.
type origin struct {
	from, out *btf.Blob
	ids       []uint32
	seen      map[[2]uint32]bool // pairs that are being compared
}

// at is the id in the output of a type of the file.
func (o *origin) at(id uint32) uint32 {
	if id < o.from.FirstID {
		return id
	}
	return o.ids[id-o.from.FirstID]
}

// checkOrigin is checkFlat for one file, whose types have the ids in out.
func checkOrigin(b, out *btf.Blob, ids []uint32) error {
	o := &origin{b, out, ids, map[[2]uint32]bool{}}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if !o.same(id, o.at(id)) {
			return fmt.Errorf("type [%d] is [%d], which differs", id, o.at(id))
		}
	}
	return nil
}

// same tells whether type to of the output has the contents of type id of the file. Its
// references have to lead to where the file's types are, or to types that differ only in that
// something is declared and not defined.
func (o *origin) same(id, to uint32) bool {
	pair := [2]uint32{id, to}
	if o.seen[pair] || declares(o.from, o.out, id, to) || declares(o.out, o.from, to, id) {
		return true
	}
	o.seen[pair] = true
	a, b := o.from.Record(id), o.out.Record(to)
	if a == nil || b == nil || a.Info() != b.Info() {
		return a == nil && b == nil
	}
	from, refs, names := contents(o.from, a)
	got, gotRefs, gotNames := contents(o.out, b)
	for i, ref := range refs {
		if o.at(ref) != gotRefs[i] && !o.same(ref, gotRefs[i]) {
			return false
		}
	}
	return slices.Equal(from, got) && slices.Equal(names, gotNames)
}

// contents are the words of a record without references and names, and these.
func contents(b *btf.Blob, r btf.Record) (words, refs []uint32, names []string) {
	words = slices.Clone(r)
	btf.EachRef(words, func(w *uint32) { refs = append(refs, *w); *w = 0 })
	btf.EachName(words, func(w *uint32) { names = append(names, b.Name(*w)); *w = 0 })
	return words, refs, names
}

// declares tells whether type id of b is a declaration, or an enum without values, and type to
// of out is of its name.
func declares(b, out *btf.Blob, id, to uint32) bool {
	r, d := b.Record(id), out.Record(to)
	if r == nil || d == nil || r.Kind() != btf.KindFwd && (r.Kind() != btf.KindEnum || r.Vlen() > 0) {
		return false
	}
	return b.Name(r.Name()) == out.Name(d.Name())
}

// TestFlattenDisagreement: what modules share is there once, where they disagree all is there,
// and a declaration leads to the only definition.
func TestFlattenDisagreement(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Ptr(b.Fwd("declared"))
		b.Struct("item", 4, b.Member("a", i, 0))
	})
	const i, item = 1, 4
	one := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("shared", 8, b.Member("x", i, 0), b.Member("y", item, 32))
		b.Struct("other", 4, b.Member("x", i, 0))
		b.Ptr(b.Fwd("late"))
		b.Func("f", btftest.Static, b.Proto(i, b.Param("p", b.Ptr(item))))
	})
	two := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Func("f", btftest.Static, b.Proto(i, b.Param("p", b.Ptr(item))))
		b.Struct("other", 8, b.Member("x", i, 32))
		b.Ptr(b.Struct("late", 4, b.Member("z", i, 0)))
		b.Struct("shared", 8, b.Member("x", i, 0), b.Member("y", item, 32))
		b.Struct("declared", 4, b.Member("q", i, 0))
	})
	files := []*btf.Blob{one, two}
	flat := flatten(t, base, files)
	if err := checkFlat(base, files, flat); err != nil {
		t.Error(err)
	}
	out := btftest.Parse(t, flat.Data, nil)
	count := map[string]int{}
	for id := uint32(1); id < out.TypeCount(); id++ {
		r := out.Record(id)
		count[r.Kind().String()+" "+out.Name(r.Name())]++
	}
	for what, n := range map[string]int{"STRUCT shared": 1, "STRUCT other": 2, "STRUCT late": 1, "FWD late": 0, "FUNC f": 1, "PTR ": 3, "STRUCT declared": 1, "FWD declared": 1} {
		if count[what] != n {
			t.Errorf("%s: %d, want %d\n%s", what, count[what], n, btftest.Text(out))
		}
	}
}

// TestFlattenSplit: modules of both byte orders, none at all, and the batch algorithm, which has
// the same types.
func TestFlattenSplit(t *testing.T) {
	for _, machine := range []string{"x86", "s390x"} {
		dir := "../../testdata/split/" + machine
		base := btftest.Read(t, dir+".base.btf", nil)
		module := btftest.Read(t, dir+".module.btf", base)
		for _, files := range [][]*btf.Blob{{}, {module}, {module, module}} {
			flat := flatten(t, base, files)
			if err := checkFlat(base, files, flat); err != nil {
				t.Errorf("%s, %d files: %v", machine, len(files), err)
			}
			if len(files) == 0 {
				if !bytes.Equal(flat.Data, base.Encode()) {
					t.Errorf("%s: a kernel alone is changed", machine)
				}
				continue
			}
			batch, err := Batch(base, files)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkFlat(base, files, batch); err != nil {
				t.Errorf("%s, %d files at once: %v", machine, len(files), err)
			}
			if len(batch.Data) != len(flat.Data) {
				t.Errorf("%s, %d files: %d bytes, at once %d", machine, len(files), len(flat.Data), len(batch.Data))
			}
		}
	}
}

// TestFlattenIrregular: records that no compiler writes are for Batch.
func TestFlattenIrregular(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	odd := btftest.Build(t, base, func(b *btftest.Builder) { b.Add("name", btf.Info(btf.KindPtr, 0, false), 1) })
	f, err := NewFlattener(base, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Free()
	if err := f.Add(odd); !errors.Is(err, ErrIrregular) {
		t.Errorf("error %v", err)
	}
	if err := f.Add(base); err == nil {
		t.Error("the base is taken as a module")
	}
	flat, err := Batch(base, []*btf.Blob{odd})
	if err == nil {
		err = checkFlat(base, []*btf.Blob{odd}, flat)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := NewFlattener(odd, nil, false); err == nil {
		t.Error("a module is taken as the base")
	}
}

// TestFlattenModules: all modules of a kernel. BTFLITE_BTF is its BTF, BTFLITE_SPLIT a folder
// with the BTF of its modules.
func TestFlattenModules(t *testing.T) {
	kernel, dir := os.Getenv("BTFLITE_BTF"), os.Getenv("BTFLITE_SPLIT")
	if kernel == "" || dir == "" {
		t.Skip("BTFLITE_BTF and BTFLITE_SPLIT are not set")
	}
	base := btftest.Read(t, kernel, nil)
	var files []*btf.Blob
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".btf") {
			files = append(files, btftest.Read(t, path, base))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkFlat(base, files, flatten(t, base, files)); err != nil {
		t.Error(err)
	}
	t.Logf("%d files", len(files))
}

// FuzzFlatten: whatever the files are, there is an error, or each type is where it is said to
// be.
func FuzzFlatten(f *testing.F) {
	for _, machine := range []string{"x86", "s390x"} {
		var data [2][]byte
		for i, part := range []string{".base.btf", ".module.btf"} {
			data[i], _ = os.ReadFile("../../testdata/split/" + machine + part)
		}
		f.Add(data[0], data[1], data[1])
	}
	f.Fuzz(func(t *testing.T, kernel, one, two []byte) {
		base, err := btf.Parse(kernel, nil)
		if err != nil || len(base.Skipped) > 0 {
			return
		}
		var files []*btf.Blob
		for _, data := range [][]byte{one, two} {
			if b, err := btf.Parse(data, base); err == nil && len(b.Skipped) == 0 {
				files = append(files, b)
			}
		}
		join, err := NewFlattener(base, nil, true)
		if err != nil {
			return
		}
		defer join.Free()
		for _, b := range files {
			if join.Add(b) != nil {
				return
			}
		}
		flat, err := join.Finish()
		if err != nil {
			return
		}
		if err := checkFlat(base, files, flat); err != nil {
			t.Error(err)
		}
	})
}
