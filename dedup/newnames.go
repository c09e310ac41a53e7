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
	hashed  bool // list has the names of all nodes that were new to Resolve, with their hashes
	touched arena.Touched
}

// listNames notes the names of the new nodes, in raw order.
func (u *Unit) listNames() {
	names := u.names.list
	names.Reset()
	add := func(tok Name, node uint32) {
		if tok != 0 {
			names.Append(newName{token: tok, node: node})
		}
	}
	for _, i := range u.newNodes.S {
		n := &u.Nodes.S[i]
		add(n.Name, i)
		for _, m := range u.membersOf(n) {
			add(m.Name, i)
		}
	}
	u.names.list = names
}

// hash hashes the texts of at most aheadBlock names. The texts are all over .debug_str, so it
// touches them first.
func (x *newNames) hash(block []newName, texts Names) {
	touch(x, block, texts)
	for k := range block {
		b, _ := texts.Bytes(block[k].token) // an error is for internNew
		block[k].hash = TextHash(b)
	}
}

// touch reads the first bytes of the texts of at most aheadBlock names, so that these cache misses
// overlap.
func touch(x *newNames, block []newName, texts Names) {
	var toks [aheadBlock]Name
	for k := range block {
		toks[k] = block[k].token
	}
	x.touched.Read(uint32(texts.Touch(toks[:len(block)])))
}

// hashNames hashes the names of new nodes. The committer, for which all workers wait, then need not.
// Afterwards the texts are in a cache that the committer shares.
func (u *Unit) hashNames(texts Names) {
	u.listNames()
	for list := u.names.list.S; len(list) > 0; {
		n := min(len(list), aheadBlock)
		u.names.hash(list[:n], texts)
		list = list[n:]
	}
	u.names.hashed = true
}

// internNew adds the strings of the new nodes in raw order. If a name turns out to
// be an alias, it still adds the others, and then returns ErrAlias.
func (s *Set) internNew(u *Unit) error {
	hashed := u.names.hashed
	u.names.hashed = false
	if !hashed {
		u.listNames()
	}
	names := u.names.list.S
	if hashed {
		// Some nodes may have been found since then.
		names = slices.DeleteFunc(names, func(n newName) bool { return u.ID.S[n.node] != idNew })
	}
	alias := false
	for len(names) > 0 {
		n := min(len(names), aheadBlock)
		block := s.strings.unknown(names[:n])
		names = names[n:]
		if hashed {
			touch(&u.names, block, s.names)
		} else {
			u.names.hash(block, s.names)
		}
		s.strings.ahead(block)
		for _, n := range block {
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

// unknown moves the names whose tokens are not interned yet to the front of a block, and returns
// them.
func (t *stringTable) unknown(block []newName) []newName {
	n := 0
	for _, x := range block {
		if _, ok := t.offset(x.token); !ok {
			block[n] = x
			n++
		}
	}
	return block[:n]
}

// ahead loads into the cache what internText will read: each new name costs three or four cache
// misses. Here the misses of many names overlap, while internText would wait for each of them.
func (t *stringTable) ahead(block []newName) {
	mask := uint32(len(t.tags.S) - 1)
	for _, x := range block {
		t.touched.Read(uint32(t.tags.S[x.hash&mask]) + t.byText.S[x.hash&mask].off)
	}
}
