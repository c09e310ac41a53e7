package encode

import "github.com/btflite/btflite/internal/debuginfo"

// Error says which input could not be encoded, where, and why.
type Error = debuginfo.Error

// ErrNoDwarf is the error for an input that was built without debug information, or whose
// debug information was stripped.
var ErrNoDwarf = debuginfo.ErrNoDwarf
