package encode_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// place copies a file of testdata/debugfile to dir/name.
func place(t *testing.T, file, dir, name string) string {
	t.Helper()
	data := testfile.Read(t, filepath.Join("testdata/debugfile", file))
	to := filepath.Join(dir, name)
	testfile.Write(t, to, data)
	return to
}

func TestDebugFile(t *testing.T) {
	const link = "x86-gcc5.debug"
	for _, tt := range []struct {
		name, file, golden string
		debug, at          string // what is placed where; DIR is --debug_dir
	}{
		{"beside", "x86-gcc5.elf", "x86-gcc5", link, "OWN/" + link},
		{"in .debug", "x86-gcc5.elf", "x86-gcc5", link, "OWN/.debug/" + link},
		{"in --debug_dir", "x86-gcc5.elf", "x86-gcc5", link, "DIR/" + link},
		{"in the folder's place in --debug_dir", "x86-gcc5.elf", "x86-gcc5", link, "DIR/OWN/" + link},
		{"no symbols either", "x86-gcc5.stripped.elf", "x86-gcc5", link, "OWN/" + link},
		{"build-id", "build-id.elf", "x86-fields", ".build-id/01/23456789abcdef.debug", "DIR/.build-id/01/23456789abcdef.debug"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			path := place(t, tt.file, own, "prog")
			opt := encode.Options{Features: encode.DefaultFeatures, DebugFiles: encode.DebugFiles{Dir: dir}}
			if _, err := runFiles([]string{path}, opt); err == nil {
				t.Fatal("no debug file and no error")
			}
			at := strings.NewReplacer("DIR/OWN", filepath.Join(dir, own), "DIR", dir, "OWN", own).Replace(tt.at)
			place(t, tt.debug, "/", at)
			want := testfile.Read(t, "testdata/golden/"+tt.golden+".default.btf")
			for _, jobs := range []int{1, 2} {
				opt.Jobs = jobs
				if got, err := runFiles([]string{path}, opt); err != nil || !bytes.Equal(got, want) {
					t.Errorf("jobs=%d: %d bytes of BTF, want %d; %v", jobs, len(got), len(want), err)
				}
			}
		})
	}
}

func TestDebugFileThatDoesNotBelong(t *testing.T) {
	const link = "x86-gcc5.debug"
	dir := t.TempDir()
	path := place(t, "x86-gcc5.elf", dir, "prog")
	fails := func(why string) {
		t.Helper()
		if _, err := runFiles([]string{path}, encode.Options{DebugFiles: encode.DebugFiles{Dir: dir}}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("error %v, want %q", err, why)
		}
	}
	fails(`separate debug file "x86-gcc5.debug" is not in ` + dir)

	debug := place(t, link, dir, link)
	data := testfile.Read(t, debug)
	write := func(b []byte) {
		testfile.Write(t, debug, b)
	}
	write(append(bytes.Clone(data), 0))
	fails("checksum")
	write(data[:100])
	fails("outside the file")
	write([]byte("text"))
	fails("not an ELF file")
	place(t, "x86-gcc5.elf", dir, link)
	fails("no .debug_info")

	// The link must be the name of a file in a folder, not a path.
	image := testfile.Read(t, path)
	k := bytes.Index(image, []byte(link))
	image[k+3] = '/'
	testfile.Write(t, path, image)
	fails("is not a file name")

	// Build-ids must be equal.
	path = place(t, "build-id.elf", dir, "other")
	place(t, link, dir, ".build-id/01/23456789abcdef.debug")
	fails("no build-id")
	place(t, ".build-id/01/23456789abcdef.debug", dir, ".build-id/01/23456789abcdef.debug")
	image = testfile.Read(t, path)
	k = bytes.Index(image, []byte("\x01\x23\x45\x67\x89\xab\xcd\xef"))
	image[k+1] ^= 1
	testfile.Write(t, path, image)
	place(t, ".build-id/01/23456789abcdef.debug", dir, ".build-id/01/22456789abcdef.debug")
	fails("build-id is another")
	if err := os.RemoveAll(filepath.Join(dir, ".build-id")); err != nil {
		t.Fatal(err)
	}
	if _, err := runFiles([]string{path}, encode.Options{DebugFiles: encode.DebugFiles{Dir: dir}}); !errors.Is(err, encode.ErrNoDwarf) {
		t.Errorf("a build-id without a file: %v", err)
	}
}
