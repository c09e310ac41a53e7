package compactstate

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/workers"
)

// A carrier carries out decisions in blocks: first it adds the strings of a block of
// functions, then it emits them.

// decision says what happens to a group: one of its states is emitted, under the name
// of its symbol or of its entry, or the entry is left out.
type decision struct {
	ref    uint32 // of the state; 0: leave out
	entry  uint32
	name   uint32 // Choice.Hash; once d.Strings was called, Choice.Token
	symbol bool   // the name is the symbol's, not the entry's
	tagged bool   // the state has annotations
	reason Reason // why the entry is left out
}

// carrier carries out decisions.
type carrier struct {
	s    *States
	t    *FuncTable
	d    Decide
	emit func(*Choice) error
	skip func(name []byte, reason Reason)

	choice          Choice            // for Strings
	choices         []Choice          // for emit: a block
	entries, hashes [blockSize]uint32 // for Ahead

	touched arena.Touched
}

// inTurns carries decisions out on this goroutine.
func (c *carrier) inTurns(made []decision) error {
	for block := range slices.Chunk(made, blockSize) {
		block, failed := c.addStrings(block)
		if err := c.emitBlock(block); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// sideBySide carries decisions out on two goroutines: the strings of a block need
// only the strings of earlier blocks. The channel has room for all blocks, so that
// the first goroutine never waits for the second, which may have failed.
func sideBySide(made [][]decision, both carrier) error {
	n := 0
	for _, m := range made {
		n += (len(m) + blockSize - 1) / blockSize
	}
	blocks := make(chan []decision, n)
	var failed, err error
	workers.Do(2, func(k int) {
		c := both
		if k == 1 {
			for block := range blocks {
				if err == nil {
					err = c.emitBlock(block)
				}
			}
			return
		}
		defer close(blocks)
		for _, m := range made {
			for block := range slices.Chunk(m, blockSize) {
				if block, failed = c.addStrings(block); failed != nil {
					blocks <- block
					return
				}
				blocks <- block
			}
		}
	})
	if err != nil {
		return err // its function comes before the one of failed
	}
	return failed
}

// addStrings calls d.Strings for a block of decisions. With an error, it returns the
// decisions before the one that failed.
func (c *carrier) addStrings(made []decision) ([]decision, error) {
	if c.d.Strings == nil {
		return made, nil
	}
	if c.d.Ahead != nil {
		c.ahead(made)
	}
	for i := range made {
		d := &made[i]
		if d.ref == 0 {
			continue
		}
		c.chooseName(&c.choice, d)
		if c.choice.Kfunc || d.tagged || c.d.AllParams {
			c.chooseTypes(&c.choice, d)
		} else {
			c.choice.Params, c.choice.Annotations = c.choice.Params[:0], c.choice.Annotations[:0]
		}
		var err error
		if d.name, err = c.d.Strings(&c.choice); err != nil {
			return made[:i], err
		}
	}
	return made, nil
}

// ahead loads the names of a block of decisions into the cache, and calls d.Ahead for
// them.
func (c *carrier) ahead(made []decision) {
	n := 0
	for i := range made {
		if d := &made[i]; d.ref != 0 {
			c.entries[n], c.hashes[n] = d.entry, d.name
			n++
		}
	}
	for _, e := range c.entries[:n] {
		c.touched.ReadFirst(c.t.Name(e))
	}
	c.d.Ahead(c.entries[:n], c.hashes[:n])
}

// emitBlock calls emit or skip for a block of decisions.
func (c *carrier) emitBlock(made []decision) error {
	for i := range made {
		if d := &made[i]; d.ref != 0 {
			c.touched.Read(c.s.blocks[d.ref>>blockBits][d.ref%blockWords] + c.t.symbols[d.entry-1].name)
		}
	}
	if c.choices == nil {
		c.choices = make([]Choice, blockSize)
	}
	n := 0
	for i := range made {
		if d := &made[i]; d.ref != 0 {
			c.chooseName(&c.choices[n], d)
			c.chooseTypes(&c.choices[n], d)
			n++
		}
	}
	choices := c.choices[:n]
	if c.d.AheadTypes != nil {
		c.d.AheadTypes(choices)
	}
	for i := range made {
		if d := &made[i]; d.ref == 0 {
			if c.skip != nil {
				c.skip(c.t.Name(d.entry), d.reason)
			}
			continue
		}
		if err := c.emit(&choices[0]); err != nil {
			return err
		}
		choices = choices[1:]
	}
	return nil
}

// chooseName fills the fields of x that depend on the name.
func (c *carrier) chooseName(x *Choice, d *decision) {
	x.Entry, x.Symbol, x.Hash, x.Token = d.entry, d.symbol, d.name, d.name
	if d.symbol {
		x.Name, x.KfuncFlags, x.Kfunc = c.t.SymbolName(c.s.record(d.ref).sym), 0, false
	} else {
		x.Name = c.t.Name(d.entry)
		x.KfuncFlags, x.Kfunc = c.t.Kfunc(d.entry)
	}
}

// chooseTypes fills the fields of x that come from the state.
func (c *carrier) chooseTypes(x *Choice, d *decision) {
	st := c.s.record(d.ref)
	x.Place = d.ref
	x.Ret, x.Params, x.Annotations = st.ret, x.Params[:0], x.Annotations[:0]
	for i := 0; i < len(st.params); i += 2 {
		x.Params = append(x.Params, Param{st.params[i], st.params[i+1]})
	}
	for i := 0; i < len(st.ann); i += 2 {
		x.Annotations = append(x.Annotations, Annotation{st.ann[i], int32(st.ann[i+1])})
	}
}
