package basematch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// elfFile writes an ELF file with sections of these contents.
func elfFile(t *testing.T, name string, machine int, contents ...string) string {
	t.Helper()
	f := dt.File{Machine: machine}
	for i := 0; i < len(contents); i += 2 {
		f.Sections = append(f.Sections, dt.Section{Name: contents[i], Flags: 2, Data: []byte(contents[i+1])})
	}
	return testfile.New(t, name, f.Bytes())
}

// member is a member of a struct of ints.
type member struct {
	name string
	off  uint32 // bits
}

// structs is BTF over base with an int and structs of it.
func structs(t *testing.T, base *btf.Blob, size uint32, name string, members ...member) *btf.Blob {
	t.Helper()
	b := btftest.Over(base)
	id := b.Int("int", 4)
	var parts []btftest.Part
	for _, m := range members {
		parts = append(parts, b.Member(m.name, id, m.off))
	}
	b.Struct("other", 0)
	b.Struct(name, size, parts...)
	return b.Blob(t)
}

const (
	rel612 = "6.12.0-7-amd64"
	rel72  = "7.2.13+deb14-cloud-arm64"
)

func bannerOf(release string) string {
	return "x\x00Linux version \x00Linux version %s\x00Linux version " + release + " (build@host) (gcc) #1 SMP\n\x00Linux version 9.9.9 (x)"
}

func TestOfKernel(t *testing.T) {
	base := structs(t, nil, 64, "module", member{"state", 0}, member{"list", 32})
	split := structs(t, base, 8, "own", member{"m", 0})
	pad := strings.Repeat("p", 256<<10-8)
	for _, tt := range []struct {
		name, path string
		b          *btf.Blob
		release    string
		machine    uint16
		size       uint32
	}{
		{"elf", elfFile(t, "vmlinux", dt.MachineAARCH64, ".rodata", bannerOf(rel612)), base, rel612, dt.MachineAARCH64, 64},
		{"split", elfFile(t, "vmlinux", 0, ".rodata", bannerOf(rel72)), split, rel72, dt.MachineX86_64, 64},
		{"across pieces", elfFile(t, "vmlinux", 0, ".rodata", pad+bannerOf(rel72)), base, rel72, dt.MachineX86_64, 64},
		{"no banner", elfFile(t, "vmlinux", 0, ".rodata", "Linux version 6.1"), base, "", dt.MachineX86_64, 64},
		{"too long", elfFile(t, "vmlinux", 0, ".rodata", bannerOf("1"+strings.Repeat("1", 70))), base, "9.9.9", dt.MachineX86_64, 64},
		{"no rodata", elfFile(t, "vmlinux", 0), base, "", dt.MachineX86_64, 64},
		{"not there", "none", base, "", 0, 64},
		{"no struct module", "none", structs(t, nil, 64, "modul"), "", 0, 0},
	} {
		if k := OfKernel(mmapelf.Source{Path: tt.path}, tt.b); k.Release != tt.release || k.Machine != tt.machine || k.ModuleSize != tt.size {
			t.Errorf("%s: %+v", tt.name, k)
		}
	}
}

// moduleIn describes the module in the file at path.
func moduleIn(t *testing.T, path string) Module {
	t.Helper()
	f, err := mmapelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return OfModule(f)
}

func TestOfModule(t *testing.T) {
	info := "license=GPL\x00vermagic=" + rel612 + " SMP preempt mod_unload \x00vermagic=later\x00"
	path := elfFile(t, "m.ko", dt.MachineS390, ".modinfo", info, ".gnu.linkonce.this_module", strings.Repeat("x", 1280))
	if m := moduleIn(t, path); m != (Module{rel612, dt.MachineS390, 1280}) {
		t.Errorf("%+v", m)
	}
	for name, want := range map[string]Module{
		elfFile(t, "m.o", 0, ".modinfo", "license=GPL\x00x.vermagic=1\x00"): {Machine: dt.MachineX86_64},
		elfFile(t, "m.o", 0): {Machine: dt.MachineX86_64},
	} {
		if m := moduleIn(t, name); m != want {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMismatch(t *testing.T) {
	base := structs(t, nil, 64, "module", member{"state", 0}, member{"list", 32})
	own := func(size uint32, members ...member) *btf.Blob { return structs(t, base, size, "module", members...) }
	vmlinux := elfFile(t, "vmlinux", 0, ".rodata", bannerOf(rel612))
	k, raw := OfKernel(mmapelf.Source{Path: vmlinux}, base), OfKernel(mmapelf.Source{Path: "raw.btf"}, base)
	same := own(64, member{"state", 0}, member{"list", 32})
	for _, tt := range []struct {
		name string
		k    *Kernel
		m    Module
		own  *btf.Blob
		want string
	}{
		{"nothing known", raw, Module{}, nil, ""},
		{"all the same", k, Module{rel612, dt.MachineX86_64, 64}, same, ""},
		{"same members, other types", raw, Module{}, same, ""},
		{"machine", k, Module{rel612, dt.MachineS390, 64}, nil, "for another machine (e_machine 22) than the base VMLINUX (62)"},
		{"release", k, Module{rel72, dt.MachineX86_64, 64}, nil, "built for " + rel72 + ", but the base VMLINUX is of " + rel612},
		{"release, raw", raw, Module{rel72, dt.MachineX86_64, 64}, nil, ""},
		{"size", raw, Module{rel72, 0, 128}, nil, "its struct module has 128 bytes, in the base raw.btf has 64"},
		{"own size", raw, Module{}, own(72, member{"state", 0}, member{"list", 32}), "its struct module has other members than in the base raw.btf"},
		{"own members", raw, Module{}, own(64, member{"state", 0}), "its struct module has other members than in the base raw.btf"},
		{"own offset", raw, Module{}, own(64, member{"state", 0}, member{"list", 64}), "its struct module has other members than in the base raw.btf"},
		{"own name", raw, Module{}, own(64, member{"state", 0}, member{"mkobj", 32}), "its struct module has other members than in the base raw.btf"},
		{"no struct module in the base", OfKernel(mmapelf.Source{Path: "x"}, structs(t, nil, 1, "m")), Module{"", 0, 128}, own(72), ""},
	} {
		if got := tt.k.Mismatch(tt.m, tt.own); got != strings.ReplaceAll(tt.want, "VMLINUX", vmlinux) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// FuzzOfModule: any file tells something or nothing.
func FuzzOfModule(f *testing.F) {
	file := dt.File{Sections: []dt.Section{{Name: ".modinfo", Data: []byte("vermagic=1")}, {Name: ".rodata", Data: []byte(bannerOf("6"))},
		{Name: ".gnu.linkonce.this_module", Data: []byte("x")}}}
	f.Add(file.Bytes())
	file.Class32, file.BigEndian = true, true
	f.Add(bytes.Clone(file.Bytes()))
	blob := btftest.New().Blob(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := testfile.New(t, "f", data)
		if k := OfKernel(mmapelf.Source{Path: path}, blob); len(k.Release) > maxRelease {
			t.Errorf("kernel: %q", k.Release)
		}
		e, err := mmapelf.Open(path)
		if err != nil {
			return
		}
		defer e.Close()
		if m := OfModule(e); len(m.Release) > maxRelease {
			t.Errorf("module: %q", m.Release)
		}
	})
}
