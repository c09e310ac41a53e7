package debuginfo

import (
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// TestWindow: one to two steps behind the offset are asked for, each byte once, and none
// behind the section.
func TestWindow(t *testing.T) {
	const size = 3*fetchStep + 100
	f := withSection(t, dt.Section{Name: ".data", Data: make([]byte, size)}, false)
	s := section{file: f.ELF, sec: f.ELF.Section(".data")}
	var w window
	for _, x := range []struct{ at, want uint64 }{
		{0, fetchStep}, {0, fetchStep}, {1, 2 * fetchStep}, {fetchStep, 2 * fetchStep}, {fetchStep + 1, 3 * fetchStep},
		{3*fetchStep - 1, size}, {size - 1, size}, {size, size},
	} {
		if w.advance(&s, x.at); w.fetched != x.want {
			t.Errorf("at %d: asked for %d bytes, want %d", x.at, w.fetched, x.want)
		}
	}
	w = window{}
	if w.advance(&s, size); w.fetched != 0 {
		t.Errorf("at the end: asked for %d bytes", w.fetched)
	}
	if w.advance(&s, fetchStep+7); w.fetched != 2*fetchStep+7 {
		t.Errorf("after a leap: asked for up to %d", w.fetched)
	}
	w = window{}
	if w.advance(&section{}, 0); w.fetched != 0 {
		t.Error("asked for a section that is kept")
	}
	for _, x := range []struct{ to, given uint64 }{{10, 10}, {5, 10}, {2 * mappedAround, 2 * mappedAround}, {size, size}} {
		if s.release(x.to); s.given != x.given {
			t.Errorf("release to %d: %d given back", x.to, s.given)
		}
	}
}

// TestPassage: sections are given back behind the units, when a step of them is done with,
// and a second passage begins anew.
func TestPassage(t *testing.T) {
	const size = 2 << 20
	image := (&dt.File{Sections: []dt.Section{{Name: ".i", Data: make([]byte, size)}, {Name: ".a", Data: make([]byte, size)}, {Name: ".l", Data: make([]byte, size)}}}).Image(nil)
	for _, workers := range []int{1, 2} {
		e, err := mmapelf.New("in", image)
		if err != nil {
			t.Fatal(err)
		}
		f := newFile("in", e, Settings{Names: new(names.Table), Workers: workers})
		o := &f.inOrder
		o.info, o.abbrev, o.loclists = section{file: e, sec: e.Section(".i")}, section{file: e, sec: e.Section(".a")}, section{file: e, sec: e.Section(".l")}
		step := uint64(256 << 10 * workers)
		if f.releaseStep() != step {
			t.Errorf("%d workers: step %d", workers, f.releaseStep())
		}
		c := Cursor{Position: Position{File: f}}
		c.Hdr.Version = 5
		var p Passage
		for _, x := range []struct{ end, abbrev, list, info, abbrevs, lists uint64 }{
			{step - 1, step - 1, step - 1, 0, 0, 0}, {step, step, step, step, step, step}, {2*step - 1, 2*step - 1, 2*step - 1, step, step, step},
			{2*step + 9, 2*step + 8, 2*step + 7, 2*step + 9, 2*step + 8, 2*step + 7},
		} {
			c.Hdr.Off, c.Hdr.Data, c.Hdr.AbbrevOff = x.end-100, make([]byte, 100), x.abbrev
			p.Ahead(&c, c.Hdr.End())
			p.Behind(&c, x.list, false)
			if o.loclists.given > x.lists {
				t.Error("lists are given back behind a unit without lists")
			}
			p.Behind(&c, x.list, true)
			if o.info.given != x.info || o.abbrev.given != x.abbrevs || o.loclists.given != x.lists {
				t.Errorf("%d workers, %+v: given back %d, %d, %d", workers, x, o.info.given, o.abbrev.given, o.loclists.given)
			}
		}
		if p.info.fetched == 0 || p.abbrev.fetched == 0 || p.lists.fetched == 0 {
			t.Errorf("nothing is asked for ahead: %+v", p)
		}
		if f.Rewind(); o.info.given != 0 || o.abbrev.given != 0 {
			t.Error("a second passage begins where the first one ended")
		}
		c.Hdr = dwarf.Unit{Off: step - 100, Data: make([]byte, 99), AbbrevOff: step - 1}
		if f.Passed(&c); o.info.given != 0 || o.abbrev.given != 0 {
			t.Error("less than a step is given back")
		}
		c.Hdr.Data, c.Hdr.AbbrevOff = make([]byte, 100), step
		if f.Passed(&c); o.info.given != step || o.abbrev.given != step {
			t.Errorf("%d and %d bytes are given back", o.info.given, o.abbrev.given)
		}
		f.Close()
	}
}

// TestTouchNames: a part of .debug_str is read within its bounds.
func TestTouchNames(t *testing.T) {
	data := make([]byte, 3*maxNames)
	for i := range data {
		data[i] = 1
	}
	c := Cursor{Position: Position{File: &File{Names: names.Text{Data: data}}}}
	for _, x := range []struct {
		low, high uint64
		lines     byte // of cache lines that are read, less the last one; 0 is nothing
	}{
		{0, 65, 1}, {0, 64, 0}, {1, 66, 1}, {10, 10, 0}, {0, 640, 9}, {66, 1, 0}, {^uint64(0), 0, 0}, {0, maxNames, 0xff}, {0, maxNames + 1, 0},
		{3*maxNames - 66, 3*maxNames - 1, 1}, {3*maxNames - 66, 3 * maxNames, 0},
	} {
		c.touched = 0
		if c.touchNames(x.low, x.high); c.touched != x.lines {
			t.Errorf("%d to %d: sum %d, want %d", x.low, x.high, c.touched, x.lines)
		}
	}
}
