package core

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// maxSteps is how long the way to a field may be, in libbpf and here.
const maxSteps = 64

// Program is the relocations of a BPF object.
type Program struct {
	// Relocs are the relocations that differ, in the order of .BTF.ext.
	Relocs []*Reloc
	types  *view.View
}

// Reloc is a relocation. It may be needed in several places.
type Reloc struct {
	Kind   Kind
	Access string  // as in .BTF.ext: "0:1:2"
	Places []Place // in the order of .BTF.ext
	root   view.Type
	steps  []step // of a field, or the one value
}

// Place is where a relocation is: a section of the object, and the offset of the
// instruction in bytes.
type Place struct {
	Section string
	Offset  uint32
}

// step is a part of the way to a field: an index of an array, or a member with a name. The
// first one is the index of the root type, as if this were an element of an array.
type step struct {
	in    view.Type // the array's element, the struct, or the enum
	index uint32
	named bool
}

// name returns the name of the member or value; nil for an element of an array.
func (s *step) name() []byte {
	switch {
	case !s.named:
		return nil
	case s.in.IsEnum():
		return s.in.Value(int(s.index)).Name()
	}
	return s.in.Member(int(s.index)).Name()
}

// ReadProgram reads the relocations of an object. b is its BTF, which must not change as
// long as the Program is in use; ext is its section .BTF.ext. Errors are about ext.
func ReadProgram(b *btf.Blob, ext []byte) (*Program, error) {
	p := &Program{types: view.New(b)}
	type key struct {
		typ    uint32
		access string
		kind   Kind
	}
	known := map[key]*Reloc{}
	err := eachRecord(ext, b, func(r record) error {
		k := key{r.typ, r.access, r.kind}
		x := known[k]
		if x == nil {
			var err error
			if x, err = p.reloc(r); err != nil {
				return err
			}
			known[k] = x
			p.Relocs = append(p.Relocs, x)
		}
		x.Places = append(x.Places, Place{r.section, r.insn})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Count returns how many relocations there are, each in one place.
func (p *Program) Count() (n int) {
	for _, r := range p.Relocs {
		n += len(r.Places)
	}
	return n
}

// errAccess is the error for an access string that fits no such relocation.
var errAccess = errors.New("does not fit the type")

// reloc makes a Reloc of the record. It is an error if the access string does not fit.
func (p *Program) reloc(r record) (*Reloc, error) {
	x := &Reloc{Kind: r.kind, Access: r.access, root: p.types.Type(r.typ)}
	if r.kind == TypeIDLocal {
		return x, nil
	}
	if !x.root.HasName() {
		return nil, fmt.Errorf("%s of a type without a name", r.kind)
	}
	path, err := parseAccess(r.access)
	if err == nil {
		err = x.follow(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: the access string %q %w", r.kind, x.rootText(), r.access, err)
	}
	return x, nil
}

// parseAccess reads numbers with colons between them.
func parseAccess(s string) (path []uint32, err error) {
	for part := range strings.SplitSeq(s, ":") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil, errors.New("is not a list of numbers")
		}
		if path = append(path, uint32(n)); len(path) > maxSteps {
			return nil, fmt.Errorf("has more than %d numbers", maxSteps)
		}
	}
	return path, nil
}

// follow finds the steps of an access string.
func (x *Reloc) follow(path []uint32) error {
	t := x.root.Resolved()
	switch {
	case x.Kind.isEnumval():
		if len(path) != 1 || !t.IsEnum() || int64(path[0]) >= int64(t.Vlen()) {
			return errAccess
		}
		x.steps = []step{{t, path[0], true}}
		return nil
	case !x.Kind.isField():
		if len(path) != 1 || path[0] != 0 {
			return errAccess
		}
		return nil
	}
	x.steps = []step{{t, path[0], false}}
	for _, index := range path[1:] {
		switch {
		case t.IsComposite():
			if int64(index) >= int64(t.Vlen()) {
				return errAccess
			}
			m := t.Member(int(index))
			if len(m.Name()) > 0 {
				x.steps = append(x.steps, step{t, index, true})
			}
			t = m.Type().Resolved()
		case t.Kind() == btf.KindArray:
			elem, n := t.Elem()
			if index >= n && !x.steps[len(x.steps)-1].endsWith(n) {
				return errAccess
			}
			t = elem.Resolved()
			x.steps = append(x.steps, step{t, index, false})
		default:
			return errAccess
		}
	}
	return nil
}

// endsWith tells whether an array of n elements that s leads to is a flexible one: without
// elements, and the last member of a struct. It may be accessed beyond its end.
func (s *step) endsWith(n uint32) bool {
	return s.named && n == 0 && int(s.index) == s.in.Vlen()-1
}

// rootText returns the local type as in C: "struct foo".
func (x *Reloc) rootText() string {
	name := string(x.root.Name())
	switch k := x.root.Kind(); k {
	case btf.KindStruct:
		return "struct " + name
	case btf.KindUnion:
		return "union " + name
	case btf.KindEnum, btf.KindEnum64:
		return "enum " + name
	}
	return name
}

// String says what x is about, as in C: "struct foo.bar[2].baz", "enum foo::VALUE".
func (x *Reloc) String() string {
	if x.Kind == TypeIDLocal {
		return x.rootText()
	}
	text := []byte(x.rootText())
	for i := range x.steps {
		s := &x.steps[i]
		switch {
		case s.named && s.in.IsEnum():
			text = append(append(text, "::"...), s.name()...)
		case s.named:
			text = append(append(text, '.'), s.name()...)
		case i > 0 || s.index > 0:
			text = append(strconv.AppendUint(append(text, '['), uint64(s.index), 10), ']')
		}
	}
	return string(text)
}
