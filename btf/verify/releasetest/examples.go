// Package releasetest has small BTF, each with one thing that some release of
// Linux did not take yet. The tests of package verify judge it, and test/btfload
// has kernels judge it.
package releasetest

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Example is BTF that all releases from Since on take, and none before it but
// those from Known to before Lost.
type Example struct {
	Name        string // also good as the name of a file
	Since       string // 5.2: all releases known
	Known, Lost string // "" for most
	Data        []byte
	// Base is the BTF that Data was split from, or nil. Distilled says that it is a
	// distilled base, not vmlinux.
	Base      []byte
	Distilled bool
}

// types are the first types of each example.
const (
	tInt = iota + 1
	tProto
	tFunc
)

const noComponent = ^uint32(0)

// Examples returns all examples.
func Examples() []Example {
	list := []Example{
		made("plain", "5.2", func(b *btf.Builder) {}),
		made("bit-fields", "5.2", func(b *btf.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 1, true), 4, b.Str("m"), tInt, 3<<24)
		}),
		made("union-forward", "5.2", func(b *btf.Builder) { b.Add("f", btf.Info(btf.KindFwd, 0, true), 0) }),
		made("datasec", "5.2", func(b *btf.Builder) { section(b, ".data.percpu") }),
		made("dot-in-var", "5.2", func(b *btf.Builder) { b.Add("v.1", btf.Info(btf.KindVar, 0, false), tInt, 0) }),
		made("name-of-128", "5.2", func(b *btf.Builder) { forward(b, strings.Repeat("x", 128)) }),
		made("vlen-of-65535", "5.2", func(b *btf.Builder) { enum(b, 65535) }),
		made("types-65535", "5.2", func(b *btf.Builder) { pointers(b, 65535) }),
		made("header-of-32", "5.2", func(b *btf.Builder) {}).header(0),

		made("enum-of-one-byte", "5.3", func(b *btf.Builder) { b.Add("e", btf.Info(btf.KindEnum, 1, false), 1, b.Str("A"), 1) }),
		made("enum-of-eight-bytes", "5.3", func(b *btf.Builder) { b.Add("e", btf.Info(btf.KindEnum, 1, false), 8, b.Str("A"), 1) }),
		made("types-65536", "5.5", func(b *btf.Builder) { pointers(b, 65536) }),
		made("strings-64k", "5.5", func(b *btf.Builder) {
			for i := range 700 {
				forward(b, strings.Repeat("n", 100)+strconv.Itoa(i))
			}
		}),
		made("global-function", "5.6", func(b *btf.Builder) { b.Add("g", btf.Info(btf.KindFunc, 1, false), tProto) }),
		made("empty-datasec", "5.12", func(b *btf.Builder) { b.Add(".rodata", btf.Info(btf.KindDatasec, 0, false), 4) }),
		made("float", "5.13", func(b *btf.Builder) { b.Add("float", btf.Info(btf.KindFloat, 0, false), 4) }),
		made("decl-tag", "5.16", func(b *btf.Builder) {
			b.Add("bpf_kfunc", btf.Info(btf.KindDeclTag, 0, false), tFunc, noComponent)
		}),
		made("type-tag", "5.17", func(b *btf.Builder) { b.Add("user", btf.Info(btf.KindTypeTag, 0, false), tInt) }),
		made("enum64", "6.0", func(b *btf.Builder) {
			b.Add("x", btf.Info(btf.KindEnum64, 1, false), 8, b.Str("A"), 0, 1)
		}),
		made("signed-enum", "6.0", func(b *btf.Builder) { b.Add("e", btf.Info(btf.KindEnum, 1, true), 4, b.Str("A"), ^uint32(0)) }),
		made("name-of-129", "6.1", func(b *btf.Builder) { forward(b, strings.Repeat("x", 129)) }),
		made("member-name-of-512", "6.1", func(b *btf.Builder) { member(b, strings.Repeat("m", 512)) }),
		made("section-name-of-129", "6.1", func(b *btf.Builder) { section(b, "."+strings.Repeat("s", 128)) }),
		made("dot-in-function", "6.4", func(b *btf.Builder) { b.Add("f.part", btf.Info(btf.KindFunc, 0, false), tProto) }),
		made("dot-in-member", "6.4", func(b *btf.Builder) { member(b, "a.b") }),
		made("section-with-question-mark", "6.9", func(b *btf.Builder) { section(b, "?.struct_ops") }),
		made("section-with-slash", "6.9", func(b *btf.Builder) { section(b, "a/b c") }),
		made("attribute-of-declaration", "6.15", func(b *btf.Builder) {
			b.Add("noinline", btf.Info(btf.KindDeclTag, 0, true), tFunc, noComponent)
		}),
		made("attribute-of-type", "6.15", func(b *btf.Builder) { b.Add("address_space(1)", btf.Info(btf.KindTypeTag, 0, true), tInt) }),
		made("layout", "7.1", func(b *btf.Builder) {}).header(len(layout)),
		made("vlen-of-65536", "7.2", func(b *btf.Builder) { enum(b, 65536) }),
		made("type-tag-behind-const", "7.2", func(b *btf.Builder) {
			t := b.Add("user", btf.Info(btf.KindTypeTag, 0, false), tInt)
			b.Add("", btf.Info(btf.KindConst, 0, false), t)
		}).but("5.17", "5.19"),
		made("type-tag-behind-typedef", "7.2", func(b *btf.Builder) {
			t := b.Add("user", btf.Info(btf.KindTypeTag, 0, false), tInt)
			b.Add("t", btf.Info(btf.KindTypedef, 0, false), t)
		}).but("5.17", "5.19"),
	}
	split := over(list[0].Data, func(b *btf.Builder) { b.Add("", btf.Info(btf.KindPtr, 0, false), tInt) })
	return append(list,
		Example{Name: "split", Since: "5.11", Data: split, Base: list[0].Data},
		Example{Name: "split-from-distilled", Since: "6.11", Data: split, Base: list[0].Data, Distilled: true})
}

// made is the example of what add adds to an int, a prototype and a function.
func made(name, since string, add func(b *btf.Builder)) Example {
	return Example{Name: name, Since: since, Data: over(nil, func(b *btf.Builder) {
		b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
		b.Add("", btf.Info(btf.KindFuncProto, 1, false), 0, b.Str("arg"), tInt)
		b.Add("f", btf.Info(btf.KindFunc, 0, false), tProto)
		add(b)
	})}
}

// over is BTF split from base, which may be nil. All of it is little-endian.
func over(base []byte, add func(b *btf.Builder)) []byte {
	var bottom *btf.Blob
	if base != nil {
		bottom = must(btf.Parse(base, nil))
	}
	b := btf.NewBuilder(false, bottom)
	add(b)
	return must(b.Blob()).Encode()
}

func must(b *btf.Blob, err error) *btf.Blob {
	if err != nil {
		panic(err) // the examples are wrong
	}
	return b
}

// but says that the releases from known to before lost took the example too.
func (e Example) but(known, lost string) Example {
	e.Known, e.Lost = known, lost
	return e
}

// layout has a record for each kind: the number of bytes after the three words, and of
// each element.
var layout = []byte{
	0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 12, 0, 0,
	0, 12, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 4, 0, 0, 0,
	0, 12, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0,
}

// header gives the example a header of 32 bytes and, between types and strings,
// the first n bytes of the layout.
func (e Example) header(n int) Example {
	const old, long = 24, 32
	le := binary.LittleEndian
	typeLen := le.Uint32(e.Data[12:])
	h := bytes.Clone(e.Data[:old])
	le.PutUint32(h[4:], long)
	le.PutUint32(h[16:], typeLen+uint32(n))
	off := typeLen
	if n == 0 {
		off = 0
	}
	h = le.AppendUint32(h, off)
	h = le.AppendUint32(h, uint32(n))
	h = append(h, e.Data[old:old+typeLen]...)
	h = append(h, layout[:n]...)
	e.Data = append(h, e.Data[old+typeLen:]...)
	return e
}

func forward(b *btf.Builder, name string) { b.Add(name, btf.Info(btf.KindFwd, 0, false), 0) }

func member(b *btf.Builder, name string) {
	b.Add("s", btf.Info(btf.KindStruct, 1, false), 4, b.Str(name), tInt, 0)
}

func section(b *btf.Builder, name string) {
	v := b.Add("v", btf.Info(btf.KindVar, 0, false), tInt, 1)
	b.Add(name, btf.Info(btf.KindDatasec, 1, false), 4, v, 0, 4)
}

// enum adds an enumeration with n values of one name, which kernels do not mind.
func enum(b *btf.Builder, n uint32) {
	values := make([]uint32, 0, 2*n)
	for i := range n {
		values = append(values, b.Str("A"), i)
	}
	b.Add("e", btf.Info(btf.KindEnum, n, false), 4, values...)
}

// pointers adds pointers up to the id last.
func pointers(b *btf.Builder, last int) {
	for b.Add("", btf.Info(btf.KindPtr, 0, false), tInt) < uint32(last) {
	}
}
