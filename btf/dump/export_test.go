package dump

import "github.com/btflite/btflite/btf"

// LoseFirst makes a sorted header as incomplete as bpftool's.
func (o *COptions) LoseFirst() { o.loseFirst = true }

// Asserts writes assertions of sizes and offsets behind each struct.
func (o *COptions) Asserts() { o.asserts = true }

// Lost is how many members a strict header lacks.
func Lost(b *btf.Blob) (int, error) {
	_, lost, err := strictTypes(b, b.PointerSize())
	return lost, err
}
