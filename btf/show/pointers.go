package show

import (
	"bytes"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// pointers follows pointers for declare.
type pointers struct{ *Printer }

// follow returns the type that the pointers of t lead to, or t if it is not a pointer.
// Each pointer becomes a star before the name of d. The type is written out, unless it
// is already being written out.
func (p pointers) follow(t view.Type, d *declaration) view.Type {
	n := 0
	for range view.MaxDepth {
		if t.Kind() != btf.KindPtr || t.TargetID() == 0 {
			break
		}
		t = t.Target()
		n++
	}
	d.expand = n > 0 && p.open[t.ID] == 0
	if n > 0 {
		d.name, d.stars = starred(n, d.name), d.stars+n
		d.inside, d.elem = true, false
	}
	return t
}

// starred returns the name after n stars.
func starred(n int, name []byte) []byte {
	return append(bytes.Repeat([]byte("*"), n), name...)
}
