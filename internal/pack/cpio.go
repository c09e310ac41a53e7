package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A cpio archive of the format "newc" has for each file a header of a magic number and 13 numbers of
// eight hexadecimal digits, the name with a zero byte, and the contents. Name and contents are filled
// up to a multiple of four bytes. The last file is called cpioEnd and has none.

const (
	cpioHeader = 110
	cpioEnd    = "TRAILER!!!"
	cpioMagic  = "070701"
	cpioSums   = "070702" // with sums of the contents
	// cpioStripped is rpm's own format for files of 4 GiB: names and sizes are in the rpm's header.
	cpioStripped = "07070X"
	fileKind     = 0o170000 // the part of a mode that says what a file is
	regularFile  = 0o100000
)

// cpio walks over a cpio archive.
func (w *walk) cpio(r io.Reader) error {
	in := bufio.NewReaderSize(r, bufferSize)
	for first := true; ; first = false {
		var head [cpioHeader]byte
		if n, err := io.ReadFull(in, head[:]); err != nil && (n < 6 || string(head[:6]) != cpioStripped) {
			return fmt.Errorf("cpio: after entry %d: %w", w.meter.entries, cutShort("the archive", err))
		}
		switch magic := string(head[:6]); {
		case magic == cpioStripped:
			return errors.New("cpio: a format for files of 4 GiB, which only rpm reads; unpack it (rpm2archive) and give that")
		case magic != cpioMagic && magic != cpioSums && first:
			return errors.New("its payload is not a cpio archive")
		case magic != cpioMagic && magic != cpioSums:
			return fmt.Errorf("cpio: the header after entry %d is damaged", w.meter.entries)
		}
		numbers, bad := cpioNumbers(head[:])
		if bad != 0 {
			return fmt.Errorf("cpio: number %d in the header after entry %d is damaged", bad, w.meter.entries)
		}
		mode, size, nameLen := numbers[1], numbers[6], numbers[11]
		name, err := w.cpioName(in, nameLen)
		if err != nil || name == cpioEnd {
			return err
		}
		contents := &wholeReader{r: in, left: size}
		if mode&fileKind == regularFile {
			if err := w.give(name, size, w.inEntry(contents, "cpio"), nil); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, contents); err != nil {
			return fmt.Errorf("cpio: in entry %d: %w", w.meter.entries, cutShort("it", err))
		}
		if _, err := in.Discard(int(-size & 3)); err != nil {
			return fmt.Errorf("cpio: after entry %d: %w", w.meter.entries, cutShort("the archive", err))
		}
	}
}

// cpioNumbers reads the numbers of a header. bad is the first one that is damaged, from 1; 0 for none.
func cpioNumbers(head []byte) (numbers [13]int64, bad int) {
	for i := range numbers {
		n, err := strconv.ParseUint(string(head[6+8*i:][:8]), 16, 32)
		if err != nil {
			return numbers, i + 1
		}
		numbers[i] = int64(n)
	}
	return numbers, 0
}

// cpioName reads a name of n bytes, with the zero byte at its end, and what fills it up.
func (w *walk) cpioName(in *bufio.Reader, n int64) (string, error) {
	if n < 1 || n > int64(w.meter.limits.Name)+1 {
		return "", fmt.Errorf("the name of entry %d has %d bytes, more than %d", w.meter.entries+1, n, w.meter.limits.Name)
	}
	name := make([]byte, n+(-(cpioHeader+n)&3))
	if _, err := io.ReadFull(in, name); err != nil {
		return "", fmt.Errorf("cpio: the name of entry %d: %w", w.meter.entries+1, cutShort("it", err))
	}
	if name[n-1] != 0 {
		return "", fmt.Errorf("cpio: the name of entry %d has no end", w.meter.entries+1)
	}
	text := string(name[:n-1])
	return text, w.meter.entry(text)
}
