//go:build linux

package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

func elfFiles() []hostileFile {
	cut := func(n func(e *elfImage) uint64) func() []byte {
		return patched(func(e *elfImage) { e.data = e.data[:n(e)] })
	}
	oldBTF := func(s dt.Section) func() []byte {
		return func() []byte {
			f := goodFile()
			f.Sections = append(f.Sections, s)
			return f.Bytes()
		}
	}
	return []hostileFile{
		{name: "control-good", want: mustWork, outcome: same, file: control},
		{name: "control-good-v5", want: mustWork, outcome: same, file: func() []byte {
			f := goodFile()
			f.Units[0].Version = 4
			return f.Bytes()
		}},
		{name: "elf-empty", want: mustFail, outcome: "an empty file", file: func() []byte { return nil }},
		{name: "elf-text", want: mustFail, outcome: "not an ELF file", file: func() []byte { return []byte("int main(void)\n{\n\treturn 0;\n}\n") }},
		{name: "elf-ident-only", want: mustFail, outcome: "ends inside the header", file: cut(func(*elfImage) uint64 { return 16 })},
		{name: "elf-header-only", want: mustFail, outcome: "section table", file: cut(func(*elfImage) uint64 { return 64 })},
		{name: "elf-half", want: mustFail, outcome: "section table", file: cut(func(e *elfImage) uint64 {
			h := e.header(".debug_info")
			return le.Uint64(h[shOffset:]) + le.Uint64(h[shSize:])/2
		})},
		{name: "elf-no-sections", want: mustFail, outcome: "no section table, so no debug information can be found", file: patched(func(e *elfImage) {
			clear(e.data[40:48])
			clear(e.data[60:64])
		})},
		{name: "elf-shoff-past-end", want: mustFail, outcome: "section table at 0x828 is outside the file of 0x440 bytes", file: patched(func(e *elfImage) { le.PutUint64(e.data[40:], uint64(len(e.data))+1000) })},
		{name: "elf-shoff-wrap", want: mustFail, outcome: "section table at 0xffffffffffffffc0 is outside the file of 0x440 bytes", file: patchedHeader("", 40, 8, 1<<64-64)},
		{name: "elf-shentsize-0", want: either, outcome: "section table entries of 0 bytes, want 64", file: patchedHeader("", 58, 2, 0)},
		{name: "elf-shentsize-1", want: either, outcome: "section table entries of 1 bytes, want 64", file: patchedHeader("", 58, 2, 1)},
		{name: "elf-shnum-65279", want: mustFail, outcome: "file ends inside the table (", file: patchedHeader("", 60, 2, 0xfeff)},
		{name: "elf-shnum-ext-2^56", want: mustFail, outcome: "file ends inside the table (", file: patched(func(e *elfImage) {
			clear(e.data[60:62])
			le.PutUint64(e.data[e.shoff()+shSize:], 1<<56)
		})},
		{name: "elf-70000-sections", want: mustWork, outcome: same, file: func() []byte {
			f := goodFile()
			for i := range 70000 {
				f.Sections = append(f.Sections, dt.Section{Name: fmt.Sprint(".text.f", i), Flags: 6})
			}
			return f.Bytes()
		}},
		{name: "elf-shstrndx-past", want: mustFail, outcome: "section name table is section", file: patchedHeader("", 62, 2, 0x7000)},
		{name: "elf-name-past-strtab", want: mustFail, outcome: "is outside the name table of 0x46 bytes", file: patchedHeader(".debug_info", shName, 4, 1<<30)},
		{name: "elf-info-size-2^63", want: mustFail, outcome: "bytes of section 2 leave the file of 0x440 bytes", file: patchedHeader(".debug_info", shSize, 8, 1<<63)},
		{name: "elf-info-off-wrap", want: mustFail, outcome: "0x7f bytes of section 2 leave the file of 0x440 bytes", file: patchedHeader(".debug_info", shOffset, 8, 1<<64-16)},
		{name: "elf-info-past-end", want: mustFail, outcome: "0x3c9 bytes of section 2 leave the file of 0x440 bytes", file: patched(func(e *elfImage) {
			h := e.header(".debug_info")
			le.PutUint64(h[shSize:], uint64(len(e.data))+1-le.Uint64(h[shOffset:]))
		})},
		{name: "elf-info-is-header", want: mustFail, outcome: "unit length goes beyond the section", file: patchedHeader(".debug_info", shOffset, 8, 0)},
		{name: "elf-info-nobits", want: mustFail, outcome: "section .debug_info is empty, or its contents are in another file", file: patchedHeader(".debug_info", shType, 4, 8)},
		{name: "elf-abbrev-missing", want: mustFail, outcome: "abbreviation table beyond the section", file: damaged(func(s *sections) { s.drop(".debug_abbrev") })},
		{name: "elf-no-debug", want: mayEmpty, outcome: nothing, file: func() []byte { return goodFile().Image(nil) }},
		{name: "elf-btf-nobits", want: either, outcome: same, file: oldBTF(dt.Section{Name: ".BTF", Type: 8, Size: 5000})},
		{name: "elf-btf-garbage", want: either, outcome: same, file: func() []byte {
			r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, 500)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return oldBTF(dt.Section{Name: ".BTF", Data: b})()
		}},
		{name: "elf-two-debug-info", want: either, outcome: "a second .debug_info section has a unit that is not a type unit", file: damaged(func(s *sections) { s.all = append(s.all, *s.info()) })},
		{name: "elf-class-3", want: mustFail, outcome: "unknown ELF class 3", file: patchedHeader("", 4, 1, 3)},
		{name: "elf-data-3", want: mustFail, outcome: "unknown byte order 3", file: patchedHeader("", 5, 1, 3)},
		{name: "elf-data-swapped", want: mustFail, outcome: "is outside the file of 0x440 bytes", file: patchedHeader("", 5, 1, 2)},
		{name: "elf-machine-unknown", want: either, outcome: same, file: patchedHeader("", 18, 2, 0x1234)},
		{name: "elf-symtab-link-bad", want: either, outcome: "linked string table is section", file: patchedHeader(".symtab", shLink, 4, 0x7fff)},
		{name: "elf-symtab-entsize-0", want: either, outcome: same, file: patchedHeader(".symtab", shEntsize, 8, 0)},
		{name: "elf-symtab-size-odd", want: either, outcome: "43 bytes are not a whole number of symbols of 24 bytes", file: patched(func(e *elfImage) {
			h := e.header(".symtab")
			le.PutUint64(h[shSize:], le.Uint64(h[shSize:])-5)
		})},
		{name: "elf-sym-shndx-bad", want: either, outcome: valid, file: patched(func(e *elfImage) {
			sym := e.data[le.Uint64(e.header(".symtab")[shOffset:])+24:]
			le.PutUint32(sym, 1<<30)
			le.PutUint16(sym[6:], 0xfeff)
		})},
		{name: "elf-200k-same-symbol", want: either, outcome: same, file: func() []byte {
			return symbolFile(200000, "count_items\x00", func(int) uint32 { return 1 })
		}},
		{name: "elf-long-names-shared-tail", want: either, outcome: "names of symbols overlap, so that too much of it is read again", file: func() []byte {
			return symbolFile(100000, string(bytes.Repeat([]byte("x"), 1<<20))+"\x00", func(i int) uint32 { return uint32(1 + i) })
		}},
	}
}

// symbolFile is the good file with n function symbols in place of its own.
func symbolFile(n int, strs string, name func(i int) uint32) []byte {
	f := goodFile()
	f.NoSymtab = true
	symtab := make([]byte, 24, 24*(n+1))
	for i := range n {
		symtab = le.AppendUint32(symtab, name(i))
		symtab = append(symtab, 0x12, 0, 1, 0)
		symtab = le.AppendUint64(symtab, dt.TextAddr+0x10)
		symtab = le.AppendUint64(symtab, 16)
	}
	f.Sections = []dt.Section{{Name: ".symtab", Type: 2, Data: symtab}, {Name: ".strtab", Type: 3, Data: []byte("\x00" + strs)}}
	return f.Bytes()
}
