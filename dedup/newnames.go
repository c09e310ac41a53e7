package dedup

import (
	"slices"

	"github.com/btflite/btflite/arena"
)

// newName is a name that a new node of a unit has, and the TextHash of its text.
type newName struct {
	token Name
	hash  uint32
	node  uint32
}

// newNames has the names of the nodes of a unit that are new.
type newNames struct {
	list    arena.Vec[newName]
	hashed  bool // list has the names of all nodes that were new to Resolve
	touched arena.Touched
}

// hashNames notes the names of the new nodes, in raw order. Resolve does that for the committer,
// for which all workers wait: the texts of new names are all over .debug_str, and are in
// a shared cache afterwards.
func (u *Unit) hashNames(texts Names) {
	names := u.names.list
	names.Reset()
	add := func(tok Name, node uint32) {
		if tok != 0 {
			names.Append(newName{token: tok, node: node})
		}
	}
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		add(n.Name, i)
		for _, m := range u.membersOf(n) {
			add(m.Name, i)
		}
	}
	u.names.list, u.names.hashed = names, true
	var toks [aheadBlock]Name
	for list := names.S; len(list) > 0; {
		block := list[:min(len(list), aheadBlock)]
		list = list[len(block):]
		for k := range block {
			toks[k] = block[k].token
		}
		u.names.touched.Read(uint32(texts.Touch(toks[:len(block)])))
		for k := range block {
			b, _ := texts.Bytes(block[k].token) // an error is for internNew
			block[k].hash = TextHash(b)
		}
	}
}

// internNew adds the strings of the new nodes in raw order. If a name turns out to
// be an alias, it goes on to the last one and then returns ErrAlias.
func (s *Set) internNew(u *Unit) error {
	names := u.names.list.S
	if !u.names.hashed {
		u.hashNames(s.names)
		names = u.names.list.S
	} else {
		// Some nodes may have been found since then.
		names = slices.DeleteFunc(names, func(n newName) bool { return u.ID.S[n.node] != idNew })
	}
	u.names.hashed = false
	alias := false
	for len(names) > 0 {
		block := names[:min(len(names), aheadBlock)]
		names = names[len(block):]
		for _, n := range s.strings.unknown(block, s.names) {
			b, ok := s.names.Bytes(n.token)
			if !ok {
				return errBadName
			}
			c, err := s.strings.internText(n.token, b, n.hash)
			if err != nil {
				return err
			}
			if c != n.token {
				s.names.Alias(n.token, c)
				alias = true
			}
		}
	}
	if alias {
		return ErrAlias
	}
	return nil
}

// unknown moves the names to the front of a block whose tokens are not interned yet, and returns
// them. It reads what internText will need: each new name costs three or four cache misses. Here
// the misses of many names overlap, while internText waits for each of them.
func (t *stringTable) unknown(block []newName, names Names) []newName {
	var toks [aheadBlock]Name
	n, mask := 0, uint32(len(t.tags.S)-1)
	for _, x := range block {
		if _, ok := t.offset(x.token); !ok {
			t.touched.Read(uint32(t.tags.S[x.hash&mask]) + t.byText.S[x.hash&mask].off)
			block[n], toks[n] = x, x.token
			n++
		}
	}
	t.touched.Read(uint32(names.Touch(toks[:n])))
	return block[:n]
}
