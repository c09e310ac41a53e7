//go:build linux

package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// seed is an undamaged file and what its mutants need to know of it.
type seed struct {
	name      string
	data      []byte
	class64   bool
	bigEndian bool
	order     binary.ByteOrder
	areas     map[string][]area // by kind of mutation
	dies      []uint32          // offsets of DIEs in their units
	dieAt     []int             // the same as offsets in the file
	refAt     []int             // in the file: words that look like references to DIEs

	same map[string]string // by program: hash of what it makes of the seed itself
}

// area is a stretch of the file.
type area struct{ off, size int }

// Kinds of mutations, with how often each is taken.
var kinds = []struct {
	name   string
	weight int
}{
	{"info-struct", 24}, {"info-bytes", 18}, {"shdr", 14}, {"abbrev-struct", 9}, {"abbrev-bytes", 8}, {"ehdr", 7},
	{"symtab", 5}, {"str", 4}, {"other-debug", 4}, {"reloc", 3}, {"truncate", 3}, {"phdr", 1},
}

func newSeed(name string, data []byte) (*seed, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	s := &seed{name: name, data: data, class64: f.Class == elf.ELFCLASS64, order: f.ByteOrder,
		bigEndian: f.Data == elf.ELFDATA2MSB, areas: map[string][]area{}, same: map[string]string{}}
	add := func(kind string, off, size int) {
		if size > 0 {
			s.areas[kind] = append(s.areas[kind], area{off, size})
		}
	}
	header, phsize, shsize, shoff := 52, 32, 40, int(s.order.Uint32(data[32:]))
	if s.class64 {
		header, phsize, shsize, shoff = 64, 56, 64, int(s.order.Uint64(data[40:]))
	}
	add("ehdr", 0, header)
	add("phdr", header, phsize*len(f.Progs))
	add("shdr", shoff, shsize*len(f.Sections))
	add("truncate", 0, len(data))
	for _, sec := range f.Sections {
		if sec.Type == elf.SHT_NOBITS || sec.Type == elf.SHT_NULL {
			continue
		}
		off, size := int(sec.Offset), int(sec.FileSize)
		switch name := strings.TrimPrefix(strings.TrimPrefix(sec.Name, ".z"), "."); {
		case strings.HasPrefix(name, "rel"):
			add("reloc", off, size)
		case name == "debug_info":
			add("info-bytes", off, size)
			if sec.Flags&elf.SHF_COMPRESSED == 0 && !strings.HasPrefix(sec.Name, ".z") {
				add("info-struct", off, size)
				s.findDIEs(f, off, size)
			}
		case name == "debug_types":
			add("info-bytes", off, size)
		case name == "debug_abbrev":
			add("abbrev-bytes", off, size)
			add("abbrev-struct", off, size)
		case name == "debug_str", name == "debug_line_str":
			add("str", off, size)
		case strings.HasPrefix(name, "debug_"):
			add("other-debug", off, size)
		case name == "symtab", name == "strtab", name == "shstrtab", name == "BTF_ids":
			add("symtab", off, size)
		}
	}
	return s, nil
}

// findDIEs notes where DIEs begin, and the words that refer to them.
func (s *seed) findDIEs(f *elf.File, off, size int) {
	d, err := f.DWARF()
	if err != nil {
		return
	}
	r := d.Reader()
	unit := uint32(0)
	known := map[uint32]bool{}
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag.String() == "CompileUnit" {
			unit = uint32(e.Offset) // the first DIE; its header lies before it
		}
		if e.Tag != 0 {
			s.dieAt = append(s.dieAt, off+int(e.Offset))
			rel := uint32(e.Offset) - unit + 12
			s.dies = append(s.dies, rel, uint32(e.Offset))
			known[rel], known[uint32(e.Offset)] = true, true
		}
	}
	for i := off; i+4 <= off+size; i++ {
		if v := s.order.Uint32(s.data[i:]); v > 12 && known[v] {
			s.refAt = append(s.refAt, i)
		}
	}
}

// mutate returns mutant n and the kind of its damage.
func (s *seed) mutate(n int) (data []byte, kind string) {
	h := fnv.New64a()
	h.Write([]byte(s.name))
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
	total := 0
	for _, k := range kinds {
		if len(s.areas[k.name]) > 0 {
			total += k.weight
		}
	}
	at := r.IntN(total)
	for _, k := range kinds {
		if len(s.areas[k.name]) == 0 {
			continue
		}
		if at -= k.weight; at < 0 {
			kind = k.name
			break
		}
	}
	d := bytes.Clone(s.data)
	areas := s.areas[kind]
	a := areas[r.IntN(len(areas))]
	switch kind {
	case "truncate":
		return d[:r.IntN(len(d))], kind
	case "info-struct":
		for range 1 + r.IntN(2) {
			s.damageDIE(r, d, a)
		}
	case "abbrev-struct":
		for range 1 + r.IntN(2) {
			d[a.off+r.IntN(a.size)] = abbrevBytes[r.IntN(len(abbrevBytes))]
		}
	case "shdr", "ehdr", "phdr":
		for range 1 + r.IntN(2) {
			s.damageField(r, d, a)
		}
	default:
		for range 1 + r.IntN(4) {
			s.damageBytes(r, d, a)
		}
	}
	return d, kind
}

// abbrevBytes are tags, attributes and forms that encoders look at.
var abbrevBytes = []byte{
	0x00, 0x01, 0x02, 0x04, 0x05, 0x0b, 0x0d, 0x0f, 0x11, 0x13, 0x15, 0x16, 0x17, 0x18, 0x1d, 0x21, 0x24, 0x26,
	0x28, 0x2e, 0x34, 0x35, 0x37, 0x3b, 0x47, 0x03, 0x38, 0x3e, 0x49, 0x2f, 0x6b, 0x31, 0x06, 0x07, 0x08, 0x0a,
	0x0c, 0x0e, 0x10, 0x12, 0x14, 0x19, 0x1a, 0x1b, 0x1f, 0x20, 0x22, 0x25, 0x7f, 0x80, 0xff,
}

// odd are values at the edges of what fields hold.
var odd = []uint64{0, 1, 2, 3, 4, 7, 8, 0x10, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 1 << 32, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// put writes the low n bytes of v, within the file.
func (s *seed) put(d []byte, at, n int, v uint64) {
	var b [8]byte
	s.order.PutUint64(b[:], v)
	p := b[:n]
	if s.bigEndian {
		p = b[8-n:]
	}
	copy(d[min(at, len(d)):], p)
}

// damageDIE changes a reference or what a DIE is.
func (s *seed) damageDIE(r *rand.Rand, d []byte, a area) {
	if len(s.dieAt) == 0 {
		s.damageBytes(r, d, a)
		return
	}
	die := s.dieAt[r.IntN(len(s.dieAt))]
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		if len(s.refAt) == 0 {
			s.damageBytes(r, d, a)
			return
		}
		at := s.refAt[r.IntN(len(s.refAt))]
		v := uint64(s.dies[r.IntN(len(s.dies))])
		switch r.IntN(8) {
		case 0:
			v = odd[r.IntN(len(odd))]
		case 1:
			v += uint64(r.IntN(3))
		case 2:
			v = uint64(s.order.Uint32(d[at:])) - uint64(r.IntN(40))
		}
		s.put(d, at, 4, v)
	case 4:
		d[die] = byte(r.IntN(70))
	case 5: // another DIE's bytes
		from := s.dieAt[r.IntN(len(s.dieAt))]
		copy(d[die:], s.data[from:min(from+1+r.IntN(24), len(s.data))])
	case 6: // a DIE's own bytes, not its code
		s.put(d, die+1+r.IntN(16), 1<<r.IntN(3), odd[r.IntN(len(odd))])
	case 7: // a unit header, most often the first
		s.put(d, a.off+r.IntN(12), 1<<r.IntN(3), odd[r.IntN(len(odd))])
	}
}

// damageField changes an aligned field of a header.
func (s *seed) damageField(r *rand.Rand, d []byte, a area) {
	n := 1 << r.IntN(4)
	at := a.off + r.IntN(a.size)&^(n-1)
	v := odd[r.IntN(len(odd))]
	switch r.IntN(3) {
	case 0:
		v = uint64(r.IntN(len(d) + 64))
	case 1:
		if at+4 <= len(d) {
			v = uint64(s.order.Uint32(d[at:])) + uint64(r.IntN(9)) - 4
			n = min(n, 4)
		}
	}
	s.put(d, at, n, v)
}

// damageBytes changes a few bytes anywhere in the area.
func (s *seed) damageBytes(r *rand.Rand, d []byte, a area) {
	at := a.off + r.IntN(a.size)
	switch r.IntN(5) {
	case 0:
		d[at] ^= 1 << r.IntN(8)
	case 1:
		d[at] = byte(r.Uint32())
	case 2:
		s.put(d, at, 1<<r.IntN(4), odd[r.IntN(len(odd))])
	case 3:
		from := a.off + r.IntN(a.size)
		copy(d[at:a.off+a.size], s.data[from:min(from+1+r.IntN(16), a.off+a.size)])
	case 4:
		d[at] += byte(1 + r.IntN(3))
	}
}
