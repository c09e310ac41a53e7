package encode

import "io"

// Output is the finished BTF of a run. It holds memory and mapped files until
// Close.
type Output struct {
	Stats Stats
	// BigEndian is the byte order of the BTF, that of the first input.
	BigEndian bool
	size      int64
	write     func(w io.Writer) error
	close     func()
}

// Size is the length of the BTF in bytes; 0 means that there was nothing to
// encode (no types at all), and then nothing is to be written.
func (o *Output) Size() int64 { return o.size }

// Write writes the BTF, header first, in chunks of bounded size. It may be
// called more than once and writes the same bytes each time.
func (o *Output) Write(w io.Writer) error { return o.write(w) }

// Close gives the memory and the mapped files back. The Output must not be
// used afterwards.
func (o *Output) Close() {
	if o.close != nil {
		o.close()
		o.close = nil
	}
}
