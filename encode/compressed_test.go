package encode_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// manyUnits makes a file of some megabytes, long enough for a stream to drop the parts
// that were committed.
func manyUnits(version int) *dt.File {
	f := &dt.File{}
	for i := range 100 {
		i32 := intType()
		u := dt.CU(dt.Name(fmt.Sprintf("unit%d.c", i)), i32)
		u.Version = version
		for k := range 100 {
			name := fmt.Sprintf("s%d_%d", i, k)
			s := structure(name, 16)
			for m := range 8 {
				s.Add(member(fmt.Sprintf("m%d", m), i32, 2*m))
			}
			u.Root.Add(s)
			addr := uint64(dt.TextAddr + (i*100+k)%0xfff0)
			list := dt.List{{0x55}, binary.LittleEndian.AppendUint64([]byte{0x0e}, addr*0x9e3779b97f4a7c15)}
			u.Root.Add(function("f_"+name, addr, i32, ref(dt.TagFormalParameter, "p", ptr(s), dt.LocationList(list))))
			f.Symbols = append(f.Symbols, dt.Func("f_"+name, addr))
		}
		f.Units = append(f.Units, u)
	}
	return f
}

// compress gives the image of f with compressed debug sections.
func compress(t *testing.T, f *dt.File, kind string) []byte {
	t.Helper()
	secs := f.DebugSections()
	for i := range secs {
		s := &secs[i]
		n := uint64(len(s.Data))
		header := func(typ uint32) []byte {
			b := binary.LittleEndian.AppendUint64(nil, uint64(typ))
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, n), 1)
		}
		var b bytes.Buffer
		switch kind {
		case "zstd":
			b.Write(header(2))
			w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			w.Write(s.Data)
			w.Close()
			s.Flags |= 0x800
		case "zlib", "gnu":
			if kind == "gnu" {
				b.WriteString("ZLIB")
				binary.Write(&b, binary.BigEndian, n)
				s.Name = ".z" + s.Name[1:]
			} else {
				b.Write(header(1))
				s.Flags |= 0x800
			}
			w := zlib.NewWriter(&b)
			w.Write(s.Data)
			w.Close()
		}
		s.Data = b.Bytes()
	}
	return f.Image(secs)
}

// TestCompressedIsTheSame: whatever compresses the sections, the BTF is the plain file's.
func TestCompressedIsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("files of some megabytes")
	}
	dir := t.TempDir()
	for _, version := range []int{4, 5} {
		f := manyUnits(version)
		plain := filepath.Join(dir, "plain")
		testfile.Write(t, plain, f.Bytes())
		want := mustRun(t, []string{plain}, encode.Options{Features: encode.DefaultFeatures})
		for _, kind := range []string{"zlib", "zstd", "gnu"} {
			path := filepath.Join(dir, kind)
			image := compress(t, f, kind)
			testfile.Write(t, path, image)
			for _, jobs := range []int{1, 4} {
				got, err := runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("DWARF %d, %s, jobs=%d: %d bytes of BTF, want %d; %v", version, kind, jobs, len(got), len(want), err)
				}
			}
			// A stream that is cut or changed is an error that names the section.
			bad := bytes.Clone(image)
			bad[len(bad)/8] ^= 0x55
			testfile.Write(t, path, bad)
			if _, err := runFiles([]string{path}, encode.Options{Jobs: 2}); err == nil || !strings.Contains(err.Error(), "debug_info") {
				t.Errorf("DWARF %d, %s with a changed byte: %v", version, kind, err)
			}
		}
	}
}
