package loadbtf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	return testfile.Read(t, splitFiles+name)
}

func write(t *testing.T, data []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	testfile.Write(t, path, data)
	return path
}

// image is a relocatable file of the machine, with these sections.
func image(machine int, sections ...elftest.Section) []byte {
	return elftest.Image{Layout: elftest.Of(true, false), Type: elfabi.ETRel, Machine: machine, Sections: sections}.Bytes()
}

const machineX86 = 62

// fails checks that err is one line that names the file and says want.
func fails(t *testing.T, what string, err error, path, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: error %v, want %s: … %s", what, err, path, want)
	}
}

// TestChain: each file is read over those before it, in both ways, and an error names
// the one that it is in.
func TestChain(t *testing.T) {
	chain := []string{splitFiles + "x86.base.btf", splitFiles + "x86.module.btf", splitFiles + "x86.upper.btf"}
	for n := range len(chain) + 1 {
		b, err := Loader{}.Chain(chain[:n])
		if err != nil {
			t.Fatal(err)
		}
		o, done, err := Loader{}.OpenChain(chain[:n])
		if err != nil {
			t.Fatal(err)
		}
		if (b == nil) != (n == 0) || (o == nil) != (n == 0) {
			t.Fatalf("%d files: %v %v", n, b, o)
		}
		for i := n - 1; i >= 0; b, o, i = b.Base, o.Base, i-1 {
			want := read(t, filepath.Base(chain[i]))
			if !bytes.Equal(b.Encode(), want) || !bytes.Equal(o.Encode(), want) {
				t.Errorf("%d files: other BTF in file %d", n, i)
			}
		}
		if b != nil || o != nil {
			t.Errorf("%d files: a base too many", n)
		}
		done()
	}
	for _, wrong := range [][]string{{chain[1]}, {chain[0], chain[2]}, {chain[0], splitFiles + "none"}} {
		last := wrong[len(wrong)-1]
		_, err := Loader{}.Chain(wrong)
		fails(t, "Chain", err, last, "")
		b, done, err := Loader{}.OpenChain(wrong)
		fails(t, "OpenChain", err, last, "")
		if b != nil || done != nil {
			t.Error("something comes back with an error")
		}
	}
}

// TestHints: an error of split BTF says what the reason may be.
func TestHints(t *testing.T) {
	module := splitFiles + "x86.module.btf"
	base, err := Loader{}.Load(splitFiles+"s390x.base.btf", nil)
	if err != nil {
		t.Fatal(err)
	}
	small := btftest.New()
	small.Int("int", 4)
	for _, c := range []struct {
		what, hint string
		base       *btf.Blob
		path, want string
		not        string
	}{
		{"no base", "give a base", nil, module, "; give a base", "another base"},
		{"no base and no hint", "", nil, module, "offset 0 is not the empty string", ";"},
		{"no split BTF", "give a base", nil, write(t, bytes.Repeat([]byte("no BTF, "), 8)), "neither an ELF file nor BTF", "give a base"},
		{"another base", "give a base", small.Blob(t), module, " (split from another base?)", "give a base"},
		{"another byte order", "", base, module, "", ";"},
	} {
		_, err := Loader{NoBase: c.hint}.Load(c.path, c.base)
		fails(t, c.what, err, c.path, c.want)
		if err != nil && strings.Contains(err.Error(), c.not) {
			t.Errorf("%s: %v says %q", c.what, err, c.not)
		}
	}
}

// TestELF: what is read of an ELF file, and what is not.
func TestELF(t *testing.T) {
	base := btftest.Parse(t, read(t, "x86.base.btf"), nil)
	raw := func(name string) elftest.Section { return elftest.Section{Name: SectionBTF, Data: read(t, name)} }
	below := elftest.Section{Name: SectionBTFBase, Data: read(t, "x86.distilled.base.btf")}
	note := elftest.Section{Name: SectionBaseSum, Data: BaseNote(base)}
	wrongNote := elftest.Section{Name: SectionBaseSum, Data: BaseNote(btftest.Parse(t, below.Data, nil))}
	empty := elftest.Section{Name: SectionBTF, Type: elftest.Nobits, Size: 1000}
	const module, distilled, relocated = "x86.module.btf", "x86.distilled.btf", "relocated"
	inKernel, err := distill.NewRelocator(base).Relocate(btftest.Parse(t, read(t, distilled), btftest.Parse(t, below.Data, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what     string
		sections []elftest.Section
		over     *btf.Blob
		given    string // what Load reads with OnlyGiven; or its error after "!"
		load     string // the same without
	}{
		{"alone", []elftest.Section{raw("x86.base.btf")}, nil, "x86.base.btf", "x86.base.btf"},
		{"over a base", []elftest.Section{raw(module)}, base, module, module},
		{"over none", []elftest.Section{raw(module)}, nil, "! section .BTF: btf: strings", "! section .BTF: btf: strings"},
		{"with a note", []elftest.Section{raw(module), note}, base, module, module},
		{"with the note of another base", []elftest.Section{raw(module), wrongNote}, base, "!is not the base's", "!is not the base's"},
		{"with its base", []elftest.Section{raw(distilled), below}, nil, "!builds upon its .BTF.base", distilled},
		{"with its base, over another", []elftest.Section{raw(distilled), below}, base, relocated, relocated},
		{"with bytes that are not a base", []elftest.Section{raw(distilled), {Name: SectionBTFBase, Data: []byte("no BTF")}}, base, "!section .BTF.base: btf:", "!section .BTF.base: btf:"},
		{"with its base, over one without its types", []elftest.Section{raw(distilled), below}, btftest.New().Blob(t), "!no INT", "!no INT"},
		{"without BTF", []elftest.Section{below}, base, "!no section .BTF", "!no section .BTF"},
		{"of a debug file", []elftest.Section{empty}, nil, "!no section .BTF with contents, as in a debug file", "!no section .BTF with contents, as in a debug file"},
	} {
		path := write(t, image(machineX86, c.sections...))
		for way, load := range map[string]struct {
			f    func(string, *btf.Blob) (*btf.Blob, error)
			want string
		}{"Load": {Loader{}.Load, c.load}, "with OnlyGiven": {Loader{OnlyGiven: true}.Load, c.given}} {
			b, err := load.f(path, c.over)
			if want, ok := strings.CutPrefix(load.want, "!"); ok {
				fails(t, c.what+", "+way, err, path, want)
				if b != nil {
					t.Errorf("%s, %s: something comes back with an error", c.what, way)
				}
			} else if err != nil || load.want != relocated && !bytes.Equal(b.Encode(), read(t, load.want)) || load.want == relocated && !bytes.Equal(b.Encode(), inKernel.Encode()) {
				t.Errorf("%s, %s: %v", c.what, way, err)
			}
		}
	}
	for _, sections := range [][]elftest.Section{nil, {empty}} { // what has no BTF is encoded
		made := Loader{Encode: func(mmapelf.Source) ([]byte, func(), error) { return read(t, module), func() {}, nil }}
		if b, err := made.Load(write(t, image(machineX86, sections...)), base); err != nil || !bytes.Equal(b.Encode(), read(t, module)) {
			t.Errorf("%d sections: %v", len(sections), err)
		}
	}
	for _, c := range []struct {
		data []byte
		want Raw
	}{
		{image(machineX86, raw(module), below, note), Raw{PointerSize: 8, Relocatable: true}},
		{image(elfabi.EMBPF, raw(module)), Raw{PointerSize: 8, Relocatable: true, BPF: true}},
		{elftest.Image{Layout: elftest.Of(false, true), Type: 2, Machine: 20, Sections: []elftest.Section{raw(module)}}.Bytes(), Raw{PointerSize: 4}},
	} {
		err := Loader{}.With(write(t, c.data), func(r Raw) error {
			if r.PointerSize != c.want.PointerSize || r.Relocatable != c.want.Relocatable || r.BPF != c.want.BPF || r.Encoded || r.Section != " section .BTF:" {
				t.Errorf("%+v", r)
			}
			return io.ErrNoProgress
		})
		if err != io.ErrNoProgress {
			t.Errorf("With returned %v", err)
		}
	}
}

// TestSources: bytes and a reader are read like a file, compressed ones too.
func TestSources(t *testing.T) {
	base := btftest.Parse(t, read(t, "x86.base.btf"), nil)
	for _, name := range []string{"x86.base.btf", "x86.base-btf.o"} {
		for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
			data := read(t, name+suffix)
			for way, in := range map[string]mmapelf.Source{
				"bytes":  {Path: "in", Data: data},
				"reader": {Path: "in", Reader: bytes.NewReader(data), Size: int64(len(data))},
				"path":   {Path: splitFiles + name + suffix},
			} {
				b, done, err := Loader{}.OpenSource(in, nil)
				if err != nil {
					t.Errorf("%s%s as %s: %v", name, suffix, way, err)
					continue
				}
				if !bytes.Equal(b.Encode(), base.Encode()) {
					t.Errorf("%s%s as %s: other BTF", name, suffix, way)
				}
				if mapped := way == "path" && suffix == ""; mapped != (b.Mapping != nil) {
					t.Errorf("%s%s as %s: %d bytes are said to be mapped", name, suffix, way, len(b.Mapping))
				}
				done()
			}
		}
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{[]byte{}, "btf: header"},
		{[]byte("\x1f"), "btf: header"},
		{[]byte("\x1f\x8b"), "cannot read: gzip: the file ends too early"},
		{[]byte("\x7fELF"), ""},
		{read(t, "x86.module.btf"), "offset 0 is not the empty string"},
		{read(t, "x86.base.btf.gz")[:200], "cannot read: gzip"},
	} {
		b, done, err := Loader{}.OpenSource(mmapelf.Source{Path: "in", Data: c.data}, nil)
		fails(t, "bytes", err, "in", c.want)
		if b != nil || done != nil {
			t.Error("something comes back with an error")
		}
		_, _, err = Loader{}.OpenSource(mmapelf.Source{Path: "in", Reader: bytes.NewReader(c.data), Size: int64(len(c.data))}, nil)
		fails(t, "reader", err, "in", c.want)
	}
}

// TestLoaderOptions: standard input, paths that are refused, and files that are
// encoded first.
func TestLoaderOptions(t *testing.T) {
	want := read(t, "x86.base.btf")
	for _, name := range []string{"x86.base.btf", "x86.base-btf.o", "x86.base.btf.xz"} {
		asked := 0
		l := Loader{Stdin: func() (*os.File, error) { asked++; return os.Open(splitFiles + name) }}
		if b, err := l.Load(Dash, nil); err != nil || !bytes.Equal(b.Encode(), want) || asked != 1 {
			t.Errorf("%s on standard input: %v", name, err)
		}
	}
	closed := errors.New("closed")
	_, err := Loader{Stdin: func() (*os.File, error) { return nil, closed }}.Load(Dash, nil)
	fails(t, "no standard input", err, Dash, "cannot open: closed")
	_, err = Loader{}.Load(Dash, nil)
	fails(t, "a file of that name", err, Dash, "cannot open: no such file")
	path := write(t, want)
	_, err = Loader{Refuse: func(p string) string { return "refused, " + filepath.Base(p) }}.Load(path, nil)
	fails(t, "refused", err, path, "refused, file")
	if _, err := (Loader{Refuse: func(string) string { return "" }}).Load(path, nil); err != nil {
		t.Error(err)
	}
	freed := 0
	l := Loader{Encode: func(in mmapelf.Source) ([]byte, func(), error) {
		if in.Path != path {
			return nil, nil, closed
		}
		return want, func() { freed++ }, nil
	}}
	testfile.Write(t, path, image(machineX86))
	err = l.With(path, func(r Raw) error {
		if !r.Encoded || !bytes.Equal(r.BTF, want) || r.PointerSize != 8 || freed != 0 {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil || freed != 1 {
		t.Errorf("%v, freed %d times", err, freed)
	}
	if _, err = l.Load(write(t, image(machineX86)), nil); err != closed {
		t.Errorf("error %v, want Encode's", err)
	}
}

// TestWhenDWARFCounts crosses the choices of Loader.DWARF with files that have BTF or not, and
// with what Encode finds.
func TestWhenDWARFCounts(t *testing.T) {
	own, encoded := read(t, "x86.base.btf"), read(t, "s390x.base.btf")
	broken := errors.New("broken DWARF")
	const fromFile, fromDWARF, asked, unasked = "", "DWARF", true, false
	for _, c := range []struct {
		dwarf  DWARF
		hasBTF bool
		finds  error // of Encode
		asks   bool
		want   string // where the BTF is from, or the error
	}{
		{DWARFLast, true, nil, unasked, fromFile},
		{DWARFLast, true, broken, unasked, fromFile},
		{DWARFLast, false, nil, asked, fromDWARF},
		{DWARFLast, false, ErrNoBTF, asked, "no section .BTF"},
		{DWARFLast, false, broken, asked, "broken DWARF"},
		{DWARFFirst, true, nil, asked, fromDWARF},
		{DWARFFirst, true, ErrNoBTF, asked, fromFile},
		{DWARFFirst, true, broken, asked, "broken DWARF"},
		{DWARFFirst, false, nil, asked, fromDWARF},
		{DWARFFirst, false, ErrNoBTF, asked, "no section .BTF"},
		{DWARFOnly, true, nil, asked, fromDWARF},
		{DWARFOnly, true, ErrNoBTF, asked, "no section .BTF"},
		{DWARFOnly, false, nil, asked, fromDWARF},
		{DWARFOnly, false, ErrNoBTF, asked, "no section .BTF"},
	} {
		var sections []elftest.Section
		if c.hasBTF {
			sections = append(sections, elftest.Section{Name: SectionBTF, Data: own})
		}
		asks, freed := 0, 0
		l := Loader{DWARF: c.dwarf, Encode: func(mmapelf.Source) ([]byte, func(), error) {
			if asks++; c.finds != nil {
				return nil, nil, c.finds
			}
			return encoded, func() { freed++ }, nil
		}}
		b, err := l.Load(write(t, image(machineX86, sections...)), nil)
		what := fmt.Sprintf("%+v", c)
		if (asks == 1) != c.asks || asks > 1 || c.want == fromDWARF && freed != 1 {
			t.Errorf("%s: Encode was called %d times, and done %d times", what, asks, freed)
		}
		switch want := map[string][]byte{fromFile: own, fromDWARF: encoded}[c.want]; {
		case want == nil && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v", what, err)
		case want != nil && (err != nil || !bytes.Equal(b.Encode(), want)):
			t.Errorf("%s: other BTF, or error %v", what, err)
		}
	}
}

// TestMisfitNamesTheBase: only if BTF was read over files are they part of the error.
func TestMisfitNamesTheBase(t *testing.T) {
	small := btftest.New()
	small.Int("int", 4)
	base, module := write(t, small.Blob(t).Encode()), splitFiles+"x86.module.btf"
	_, err := Loader{}.Chain([]string{base, module})
	fails(t, "over a file", err, module, base)
	_, err = Loader{NoBase: "give a base"}.Chain([]string{module})
	fails(t, "over none", err, module, "; give a base")
	_, err = Loader{BaseFiles: []string{base}, NoBase: "give a base"}.Load(module, nil)
	fails(t, "files of a base that is not there", err, module, "; give a base")
}

// TestSmallFiles: a file shorter than a header is an error, and an empty file is not
// mapped.
func TestSmallFiles(t *testing.T) {
	data := read(t, "x86.base.btf")
	for n := range 24 {
		path := write(t, data[:n])
		_, err := Loader{}.Load(path, nil)
		fails(t, "cut off", err, path, "btf: header")
	}
}

// TestEndless: of a file that does not begin as BTF in any form, no more is read than
// says so.
func TestEndless(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan int)
	go func() { // until the pipe is closed
		n := 0
		for zeros := make([]byte, 4<<10); ; {
			m, err := w.Write(zeros)
			if n += m; err != nil {
				written <- n
				return
			}
		}
	}()
	l := Loader{Stdin: func() (*os.File, error) { return r, nil }}
	if b, err := l.Load(Dash, nil); err == nil || !strings.Contains(err.Error(), "neither an ELF file nor BTF") {
		t.Errorf("%v, %v, want an error about the first bytes", b, err)
	}
	if n := <-written; n > 1<<20 {
		t.Errorf("%d bytes were read", n)
	}
}
