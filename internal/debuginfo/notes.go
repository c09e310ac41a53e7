package debuginfo

import (
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Notes (System V ABI, Linux include/linux/elfnote-lto.h).
const (
	noteBuildID  = 3
	noteLinuxLTO = 0x101
)

// LinkTimeOptimized reports whether the input has the kernel's note of link-time
// optimization with a value other than 0. It is an error if a section of notes cannot be
// read.
func (f *File) LinkTimeOptimized() (on bool, err error) {
	for i := range f.ELF.Sections {
		s := &f.ELF.Sections[i]
		if s.Type != elfabi.SHTNote {
			continue
		}
		b, err := f.ELF.Data(s)
		if err != nil {
			return false, err
		}
		eachNote(b, f.BigEndian, func(name []byte, typ uint32, desc []byte) bool {
			on = typ == noteLinuxLTO && string(name) == "Linux\x00" && len(desc) >= 4 && f.Order().Uint32(desc) != 0
			return !on
		})
		if on {
			return true, nil
		}
	}
	return false, nil
}

// eachNote calls fn for the notes of a section as long as it returns true.
func eachNote(b []byte, bigEndian bool, fn func(name []byte, typ uint32, desc []byte) bool) {
	o := elfabi.Order(bigEndian)
	for len(b) >= 12 {
		namesz, descsz, typ := uint64(o.Uint32(b)), uint64(o.Uint32(b[4:])), o.Uint32(b[8:])
		desc := 12 + (namesz+3)&^3
		if desc > uint64(len(b)) || descsz > uint64(len(b))-desc {
			return
		}
		if !fn(b[12:12+namesz], typ, b[desc:][:descsz]) {
			return
		}
		b = b[min(desc+(descsz+3)&^3, uint64(len(b))):]
	}
}

// BuildID returns the build-id of a file; nil if it has none or an unreadable one.
func BuildID(e *mmapelf.File) (id []byte) {
	for i := range e.Sections {
		s := &e.Sections[i]
		if s.Type != elfabi.SHTNote {
			continue
		}
		if b, err := e.Data(s); err == nil {
			id = BuildIDIn(b, e.BigEndian)
		}
		if id != nil {
			break
		}
	}
	return id
}

// BuildIDIn returns the build-id in the contents of a section of notes, or of /sys/kernel/notes,
// which has the running kernel's notes; nil if there is none.
func BuildIDIn(notes []byte, bigEndian bool) (id []byte) {
	eachNote(notes, bigEndian, func(name []byte, typ uint32, desc []byte) bool {
		if typ == noteBuildID && string(name) == "GNU\x00" {
			id = desc
		}
		return id == nil
	})
	return id
}
