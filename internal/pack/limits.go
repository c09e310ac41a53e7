package pack

import (
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/message"
)

// Limits bound what is read of a package, whatever it says of itself.
type Limits struct {
	Entries int64 // of any kind
	Name    int   // bytes of a name
	File    int64 // bytes of a file
	Total   int64 // bytes that all expand to
	Ratio   int64 // bytes that each byte may expand to, on average
	// RatioFrom is how many bytes a package may expand to before Ratio counts.
	RatioFrom int64
}

// UsualLimits are far above what kernels need. Debian's largest package of a kernel had 5,000
// entries, a file of 590 MB, and 6.7 GB in all, at a ratio of 8, in 2026.
var UsualLimits = Limits{Entries: 1_000_000, Name: 4096, File: 16 << 30, Total: 256 << 30, Ratio: 200, RatioFrom: 64 << 20}

// bufferSize is for reads of a package.
const bufferSize = 64 << 10

// meter counts what is read of a package.
type meter struct {
	limits  Limits
	in, out int64 // bytes of the package, and what they expand to
	entries int64
}

// entry counts an entry of any kind.
func (m *meter) entry(name string) error {
	m.entries++
	switch {
	case m.entries > m.limits.Entries:
		return fmt.Errorf("it has more than %s entries", message.Grouped(uint64(m.limits.Entries)))
	case len(name) > m.limits.Name:
		return fmt.Errorf("the name of entry %d has %d bytes, more than %d", m.entries, len(name), m.limits.Name)
	}
	return nil
}

// checkFile refuses a file whose size cannot be meant.
func (m *meter) checkFile(name string, size int64) error {
	if size < 0 || size > m.limits.File {
		return fmt.Errorf("entry %d, %s, has %d bytes, more than %s", m.entries, message.OneLine(shorten(name)), size, message.ByteSize(uint64(m.limits.File)))
	}
	return nil
}

// expand counts n bytes more that the package expands to.
func (m *meter) expand(n int64) error {
	m.out += n
	switch {
	case m.out > m.limits.Total:
		return fmt.Errorf("it expands to more than %s", message.ByteSize(uint64(m.limits.Total)))
	case m.out > m.limits.RatioFrom && m.out/m.limits.Ratio > m.in:
		return fmt.Errorf("%s bytes of it expand to %s, more than %d times as much", message.Grouped(uint64(m.in)), message.Grouped(uint64(m.out)), m.limits.Ratio)
	}
	return nil
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n *int64
}

// Read implements io.Reader.
func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}

// limitedReader ends with an error where a package expands too far.
type limitedReader struct {
	r io.Reader
	m *meter
}

// Read implements io.Reader.
func (l *limitedReader) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if limit := l.m.expand(int64(n)); limit != nil {
		return n, limit
	}
	return n, err
}
