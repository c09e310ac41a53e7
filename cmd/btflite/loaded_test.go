package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// linkedWithBTF is a linked file with a section .BTF of room bytes that a segment
// loads, as a kernel's, and DWARF for the BTF of structFile("fine").
func linkedWithBTF(t *testing.T, room int) []byte {
	t.Helper()
	const addr = 0x90000
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	s := dt.N(dt.TagStructureType, dt.Name("fine"), dt.Size(8), dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(4)))
	f := dt.File{
		Units:    []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(langC11), i, s)}},
		Sections: []dt.Section{{Name: loadbtf.SectionBTF, Flags: 2, Addr: addr, Data: bytes.Repeat([]byte("o"), room)}},
	}
	image := f.Bytes()
	e, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	const phdr = 64 // p_offset, p_vaddr, p_paddr, p_filesz, p_memsz from byte 8
	for i, v := range []uint64{e.Section(loadbtf.SectionBTF).Offset, addr, addr, uint64(room), uint64(room)} {
		binary.LittleEndian.PutUint64(image[phdr+8+8*i:], v)
	}
	return image
}

// TestLoadedBTF: the .BTF of a linked file keeps its place, and its segment has the
// section's contents, so that a kernel accepts the BTF when it is loaded. BTF for which
// there is no room is refused, with advice.
func TestLoadedBTF(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "vmlinux"), filepath.Join(dir, "out")
	put := func(data []byte) {
		testfile.Write(t, file, data)
	}
	put(linkedWithBTF(t, 1))
	btfliteRun(t, exitOK, "--btf_encode_detached="+out, file)
	want := testfile.Read(t, out)
	for _, room := range []int{len(want) - 1, len(want), len(want) + 1, len(want) + 4321} {
		before := linkedWithBTF(t, room)
		put(before)
		if room < len(want) {
			_, stderr := btfliteRun(t, exitFailure, "-J", file)
			if want := fmt.Sprintf("btflite: %s: section .BTF is loaded with the program and has room for %d bytes there, not for %d; write it to a file of its own (btflite --btf_encode_detached=vmlinux.btf -J %s), or link the program again with the BTF\n",
				file, room, len(want), file); stderr != want {
				t.Errorf("%q, want %q", stderr, want)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the file changed: %v", err)
			}
			continue
		}
		for range 2 {
			btfliteRun(t, exitOK, "-J", file)
			f, err := elf.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			s, p := f.Section(loadbtf.SectionBTF), f.Progs[0]
			section, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			segment := make([]byte, p.Filesz)
			if _, err := p.ReadAt(segment, 0); err != nil {
				t.Fatal(err)
			}
			if s.Addr != p.Vaddr || s.Flags != elf.SHF_ALLOC || s.Size != uint64(room) || !bytes.Equal(section, segment) {
				t.Errorf("%+v in %+v, contents equal: %v", s.SectionHeader, p.ProgHeader, bytes.Equal(section, segment))
			}
			f.Close()
			if room == len(want) && !bytes.Equal(section, want) {
				t.Error("not the bytes of the detached file")
			}
			btfliteRun(t, exitOK, "verify", "--boot", file)
			if same, stderr := btfliteRun(t, exitOK, "diff", out, file); same != "" {
				t.Errorf("%s%s", same, stderr)
			}
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); names != nil {
		t.Errorf("left %s", strings.Join(names, " "))
	}
}

// TestInPlaceIsCheckedFirst: a refusal that is certain comes before anything is encoded.
func TestInPlaceIsCheckedFirst(t *testing.T) {
	old := runEncode
	defer func() { runEncode = old }()
	encoded := false
	runEncode = func(paths []string, o *job.Options) (*finish.Encoded, error) {
		encoded = true
		return old(paths, o)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "vmlinux")
	put := func() {
		encoded = false
		os.Remove(file)
		testfile.Write(t, file, testfile.Read(t, smallFile))
	}
	refused := func(want string, words ...string) {
		t.Helper()
		before := testfile.Read(t, file)
		if _, stderr := btfliteRun(t, exitFailure, append(words, "-J", file)...); encoded || !strings.Contains(stderr, want) {
			t.Errorf("encoded: %v; %q, want %q", encoded, stderr, want)
		}
		if !bytes.Equal(testfile.Read(t, file), before) {
			t.Error("the file has changed")
		}
	}
	put()
	if err := os.Link(file, filepath.Join(dir, "second")); err != nil {
		t.Skip("no hard links here: ", err)
	}
	refused("file has 2 hard links")
	btfliteRun(t, exitOK, "-J", "--btf_encode_detached="+filepath.Join(dir, "out"), file)
	put()
	if err := elfwrite.Set(file, nil, nil, bytesSection(loadbtf.SectionBTFBase, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	refused("objcopy --remove-section=.BTF.base " + file + ")")
	put()
	if err := elfwrite.Set(file, nil, nil, bytesSection(".BTF.ext", []byte("x"))); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{nil, {"--btf_features=default,distilled_base", "--btf_base=" + splitFiles + "x86.base.btf"}} {
		refused("section .BTF.ext belongs to the .BTF of the compiler", words...)
	}
	btfliteRun(t, exitOK, "-J", "--btf_encode_detached="+filepath.Join(dir, "out"), file)
	put()
	btfliteRun(t, exitOK, "-J", file)
	onlyFiles(t, dir, "out", "second", "vmlinux")
}
