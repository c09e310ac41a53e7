package doctor

import (
	"fmt"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/declared"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

const langRust = 0x1c // DW_LANG_Rust

// rustUnits is how many compile units of a file are in Rust, by its DWARF. A file that cannot
// be read has none.
func rustUnits(in mmapelf.Source) (n int) {
	_ = declared.Languages(&in, func(language uint16) bool {
		if language == langRust {
			n++
		}
		return true
	})
	return n
}

// sayRust reports whether a file whose BTF a kernel refuses has units in Rust, and says so.
func (x *exam) sayRust(path string, in mmapelf.Source, fault *verify.Fault) bool {
	n := rustUnits(in)
	if n == 0 {
		return false
	}
	x.report.add(Error, "rust-units", fmt.Sprintf("a kernel refuses the %v; the file has %s in Rust, and the encoder has not left out any", fault, message.Count(n, "unit")),
		x.encode("rust", path))
	return true
}
