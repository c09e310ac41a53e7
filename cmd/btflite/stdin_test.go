package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestELFOnStandardInput: commands read ELF files for more than types. This works from
// standard input, wherever in its file that begins, and from compressed files, or an error says
// that it does not.
func TestELFOnStandardInput(t *testing.T) {
	inlined := inlineInput(t)
	raw := splitDir + "x86.base.btf"
	const (
		size     = "\ntotal: 78\n"
		site     = "add at .text+0x14, 0x10014, in f+0x4\n\ta: reg5\n"
		onlyOnce = "btflite: standard input can be read only once\n"
		noFile   = "btflite: standard input is not a file: use < FILE\n"
		noStart  = "btflite: standard input does not begin where its file does: copy the rest to a file\n"
	)
	for _, c := range []struct {
		args       string // "-" is standard input
		in         string
		file, pipe string // part of what is said of a file and of a pipe
	}{
		{"why sum_point -", smallFile, "sum_point: not in BTF: optimized parameters\n", noFile},
		{"funcs -s -", smallFile, size, size},
		{"funcs --addr=0x401090 -", smallFile, "attach to it by kprobe:sum_point.constprop.0", "attach to it by kprobe:sum_point.constprop.0"},
		{"funcs -s -", raw, "btflite: -: ELF header+0x0: not an ELF file\n", "btflite: -: ELF header+0x0: not an ELF file\n"},
		{"inline add -", inlined, site, site},
		{"inline --at=f+0x4 -", inlined, site, site},
		{"inline --at=0x10014 -", inlined, site, site},
		{"inline --elf=- add " + inlined, inlined, "add at .text+0x14, 0x10014, in f+0x4\n", noFile},
		{"doctor -", raw, "/dev/stdin: fine: BTF\n", noFile},
		{"doctor --btf_base=- " + splitDir + "x86.module.btf", raw, "x86.module.btf: fine", noFile},
		{"doctor --btf_base=- -", raw, onlyOnce, onlyOnce},
		{"inline --elf=- add -", inlined, onlyOnce, onlyOnce},
		{"archive find -o . -", smallFile, "btflite: /dev/stdin: ", noFile},
		{"fullcircle --cc=true -", smallFile, "btflite: /dev/stdin: true -std=gnu17 -fsigned-char: has written no object\n", noFile},
		{"-J --btf_encode_detached=/dev/null - -", smallFile, "", noFile},
		{"flatten -o /dev/null -", raw, "", noFile},
		{"flatten -o /dev/null - " + splitDir + "x86.module.btf", raw, "", noFile},
		{"flatten -o /dev/null --btf_base=" + raw + " -", splitDir + "x86.module.btf", "", noFile},
		{"dump -", raw, "[2] INT 'int'", "[2] INT 'int'"},
		{"dump --btf_base=- " + splitDir + "x86.module.btf", raw, "[", "["},
		{"show -", raw, "struct ", "struct "},
		{"stats -", raw, "STRUCT", "STRUCT"},
		{"verify -", raw, ": fine: ", ": fine: "},
		{"diff - " + raw, raw, "", ""},
		{"sort - /dev/null", raw, "", ""},
		{"dedup -o /dev/null -", raw, "", ""},
		{"lower --kernel=6.1 - /dev/null", raw, "", ""},
	} {
		data := testfile.Read(t, c.in)
		for _, way := range []string{"file", "pipe", "behind something", "compressed"} {
			args, want := strings.Fields(c.args), c.file
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = append(os.Environ(), fakeEncoder+"=real")
			switch way {
			case "file":
				f, err := os.Open(c.in)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				cmd.Stdin = f
			case "pipe":
				cmd.Stdin, want = bytes.NewReader(data), c.pipe
			case "behind something":
				const something = "something"
				f, err := os.Open(testfile.New(t, "behind", append([]byte(something), data...)))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.Seek(int64(len(something)), io.SeekStart); err != nil {
					t.Fatal(err)
				}
				if cmd.Stdin = f; c.pipe == noFile {
					want = noStart
				}
			case "compressed":
				i := slices.Index(cmd.Args, dash)
				if c.pipe != c.file || strings.HasPrefix(want, "btflite: ") || i < 0 {
					continue
				}
				cmd.Args[i] = compressed(t, data)
			}
			if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) || want == "" && len(out) > 0 {
				t.Errorf("%s, %s: %s, want %s", c.args, way, out, want)
			}
		}
	}
}

// TestNothingIntoOpenFiles: a file that is named as a descriptor is not replaced, because who has
// opened it would go on with the old one.
func TestNothingIntoOpenFiles(t *testing.T) {
	path := testfile.New(t, "in.elf", testfile.Read(t, smallFile))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := testfile.Read(t, path)
	for name, want := range map[string]string{
		"-": "nothing is added to standard input: give --btf_encode_detached=OUT", "/dev/stdin": "nothing is added to standard input: give --btf_encode_detached=OUT",
		"/dev/fd/0": "nothing is added to an open file, /dev/fd/0: give its name, or --btf_encode_detached=OUT", "/proc/self/fd/0": "nothing is added to an open file, /proc/self/fd/0: ",
	} {
		cmd := exec.Command(os.Args[0], "-J", name)
		cmd.Env, cmd.Stdin = append(os.Environ(), fakeEncoder+"=real"), f
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s (%v), want %s", name, out, err, want)
		}
	}
	if !bytes.Equal(testfile.Read(t, path), before) {
		t.Error("the file has changed")
	}
}

// compressed is the path of a file with these bytes, compressed.
func compressed(t *testing.T, data []byte) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write(data)
	if err == nil {
		err = w.Close()
	}
	path := filepath.Join(t.TempDir(), "in.elf.gz")
	if err == nil {
		err = os.WriteFile(path, buf.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
