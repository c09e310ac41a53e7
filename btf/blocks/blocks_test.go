package blocks

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// pieces notes how much is written at a time, up to an error.
type pieces struct {
	got  []int
	most int
}

var errFull = errors.New("full")

func (p *pieces) Write(b []byte) (int, error) {
	if len(p.got) == p.most {
		return 0, errFull
	}
	p.got = append(p.got, len(b))
	return len(b), nil
}

// TestWriter: before the end only whole blocks are written, and nothing after an error.
func TestWriter(t *testing.T) {
	all := []int{Size, 2 * Size, Size, 7}
	for most := range len(all) + 1 {
		p := pieces{most: most}
		w, buf := Writer{W: &p}, Buffer()
		for _, n := range []int{Size - 1, 2, 1, 3*Size - 3, 8} {
			buf = w.Whole(append(buf, strings.Repeat("x", n)...))
		}
		if len(buf) != 7 || w.Written != 4*Size {
			t.Errorf("%d bytes written, %d left", w.Written, len(buf))
		}
		buf = w.All(w.All(buf))
		if len(buf) > 0 || w.Written != 4*Size+7 || !slices.Equal(p.got, all[:most]) || (w.Err == errFull) != (most < len(all)) {
			t.Errorf("pieces of %v, error %v, %d bytes", p.got, w.Err, w.Written)
		}
	}
}
