package lower

import (
	"bytes"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
)

// maxOldName is the longest name that kernels took before 6.1, in bytes.
const maxOldName = 128

// What a name is, for the rules about its text.
type nameClass uint8

const (
	identifier nameClass = iota
	variable             // may always have dots
	section
	free // any text
)

// classOf is the class of a type's own name. Names of elements are identifiers.
func classOf(k btf.Kind) nameClass {
	switch k {
	case btf.KindInt, btf.KindFloat, btf.KindDeclTag, btf.KindTypeTag:
		return free
	case btf.KindVar:
		return variable
	case btf.KindDatasec, btf.KindLocsec:
		return section
	}
	return identifier
}

// names rewrites names that the kernel would refuse. The text is changed where it stands, for
// all who share it: other strings keep their offsets. Only a name in the strings of the base
// becomes a string of its own.
func (l *lowering) names() error {
	if !l.lacks(verify.LongName) && !l.lacks(verify.DottedName) && !l.lacks(verify.SectionName) {
		return nil
	}
	for i, off := range l.out.Off {
		id, r := l.out.FirstID+uint32(i), l.out.Words[off:]
		class := classOf(btf.InfoKind(r[1]))
		btf.EachName(r, func(name *uint32) {
			l.rename(id, name, class)
			class = identifier // of the elements
		})
	}
	if !l.own {
		return nil
	}
	return l.checkSections()
}

// rename changes a name if the kernel would refuse it.
func (l *lowering) rename(id uint32, off *uint32, class nameClass) {
	if *off == 0 || class == free {
		return
	}
	old := l.out.NameBytes(*off)
	text := l.fitting(old, class)
	if bytes.Equal(text, old) {
		return
	}
	l.report.Renamed = append(l.report.Renamed, Name{id, string(old), string(text)})
	if *off < l.out.StrBase {
		*off = l.intern(text)
		return
	}
	if !l.own {
		l.out.Strings, l.own = arena.Clone(l.out.Strings), true
	}
	at := l.out.Strings[*off-l.out.StrBase:]
	copy(at, text)
	at[len(text)] = 0
}

// fitting is the text that the kernel takes in place of a name: name itself if it does.
func (l *lowering) fitting(name []byte, class nameClass) []byte {
	text := name
	if l.lacks(verify.LongName) && len(text) > maxOldName {
		text = text[:maxOldName]
	}
	switch {
	case class == identifier && l.lacks(verify.DottedName):
		if bytes.IndexByte(text, '.') >= 0 {
			text = bytes.ReplaceAll(text, []byte{'.'}, []byte{'_'})
		}
	case class == section && l.lacks(verify.SectionName) && !verify.IsIdentifier(text):
		text = bytes.Clone(text)
		for i := range text {
			if !verify.IsIdentifier(text[i:i+1]) && (i == 0 || text[i] < '0' || text[i] > '9') {
				text[i] = '_'
			}
		}
	}
	return text
}

// intern returns the offset of a string behind the own ones.
func (l *lowering) intern(text []byte) uint32 {
	if off, ok := l.added[string(text)]; ok {
		return off
	}
	if l.added == nil {
		l.added = map[string]uint32{}
	}
	if !l.own {
		l.out.Strings, l.own = arena.Clone(l.out.Strings), true
	}
	off := l.out.StrEnd()
	l.added[string(text)] = off
	l.out.Strings = append(append(l.out.Strings, text...), 0)
	return off
}

// checkSections refuses a section that lost its name, because the name of another type is the
// same string and had to change: kernels and loaders look for sections by name.
func (l *lowering) checkSections() error {
	for i, off := range l.out.Off {
		r := btf.Record(l.out.Words[off:])
		if r.Kind() != btf.KindDatasec {
			continue
		}
		id := l.out.FirstID + uint32(i)
		old := l.in.NameBytes(l.in.Record(id).Name())
		if !bytes.Equal(l.out.NameBytes(r.Name()), l.fitting(old, section)) {
			return fmt.Errorf("btf: types: DATASEC [%d] shares its name with another type, which has to be renamed", id)
		}
	}
	return nil
}
