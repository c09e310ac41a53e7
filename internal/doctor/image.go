package doctor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// maxImage is the longest boot image that is read, in bytes.
const maxImage = 512 << 20

// Where headers of boot images have what is needed of them, by the boot protocols of x86
// (Documentation/arch/x86/boot.rst), arm64 (booting.rst) and EFI zboot.
const (
	x86Magic    = 0x202 // "HdrS"
	x86Sectors  = 0x1f1 // of the setup, 0 for 4
	x86Payload  = 0x248 // offset behind the setup, and size
	armMagic    = 0x38  // "ARM\x64"
	zbootMagic  = 4     // "zimg", behind "MZ"
	zbootOffset = 8     // and size
)

func has(data []byte, at int, magic string) bool {
	return len(data) >= at && bytes.HasPrefix(data[at:], []byte(magic))
}

func isX86(head []byte) bool { return has(head, x86Magic, "HdrS") && len(head) >= x86Payload+8 }
func isZboot(head []byte) bool {
	return has(head, 0, "MZ") && has(head, zbootMagic, "zimg") && len(head) >= zbootOffset+8
}
func isFlat(head []byte) bool { return has(head, armMagic, "ARM\x64") }

// isImage reports whether a file that begins so is a boot image.
func isImage(head []byte) bool { return isX86(head) || isZboot(head) || isFlat(head) }

// image looks at a boot image.
func (x *exam) image(path string, head []byte) error {
	if info, err := os.Stat(path); err == nil && info.Size() > maxImage {
		return fmt.Errorf("%s: %d bytes are more than a boot image has", message.OneLine(path), info.Size())
	}
	data, err := firstBytes(path, maxImage)
	if err != nil {
		return err
	}
	if isFlat(head) && !isZboot(head) {
		x.flat(path, data)
		return nil
	}
	from, size := payload(head)
	if from+size > uint64(len(data)) || size < 8 {
		return fmt.Errorf("%s: the header names %d bytes at %d of the kernel, and the file has %d: it is cut off", message.OneLine(path), size, from, len(data))
	}
	return x.packed(path, data[from:from+size])
}

// packedFile looks at a boot image that is packed as a whole, such as Image.lz4.
func (x *exam) packedFile(path string) error {
	data, err := firstBytes(path, maxImage)
	if err != nil {
		return err
	}
	return x.packed(path, data)
}

// packed looks at a packed kernel.
func (x *exam) packed(path string, packed []byte) error {
	raw, done, err := openPacked(path, packed)
	switch {
	case errors.Is(err, loadbtf.ErrNoBTF):
		x.noneInImage()
		return nil
	case err != nil:
		x.report.add(Warning, "image-unread", fmt.Sprintf("the kernel in the image cannot be unpacked here: %v", err), "scripts/extract-vmlinux "+message.ShellFile(path)+" > vmlinux.x && btflite doctor vmlinux.x")
		return nil
	}
	defer done()
	if raw.Source.Path == "" {
		x.flat(path, raw.BTF)
		return nil
	}
	if f, err := mmapelf.New(path, raw.Source.Data); err == nil {
		x.setRelease(basematch.ReleaseOf(f))
		f.Close()
	}
	x.types(path, &raw, nil, nil)
	return nil
}

// payload is where the packed kernel is in an image.
func payload(head []byte) (from, size uint64) {
	o := binary.LittleEndian
	if isZboot(head) {
		return uint64(o.Uint32(head[zbootOffset:])), uint64(o.Uint32(head[zbootOffset+4:]))
	}
	sectors := uint64(head[x86Sectors])
	if sectors == 0 {
		sectors = 4
	}
	return (sectors+1)*512 + uint64(o.Uint32(head[x86Payload:])), uint64(o.Uint32(head[x86Payload+4:]))
}

// sizeLen is the length of the unpacked size, which stands behind the packed kernel, unless
// that is packed by gzip.
const sizeLen = 4

// noneInImage says that a kernel has no BTF.
func (x *exam) noneInImage() {
	x.report.add(Error, "no-btf", "the kernel in the image has no BTF", "grep -E 'DEBUG_INFO|PAHOLE' /boot/config-$(uname -r)   # then: btflite doctor on that file")
}

// flat looks for BTF in the bytes of a kernel without sections.
func (x *exam) flat(path string, data []byte) {
	found := findBTF(data)
	if found == nil {
		x.noneInImage()
		return
	}
	x.types(path, &loadbtf.Raw{BTF: found, PointerSize: 8}, nil, nil)
}

// findBTF returns the first bytes in data that are BTF with all its types and without a base. Any number of
// headers may claim the same bytes. So it gives up, and returns nil, when the bytes that it has tried are 8 times
// as many as data has.
func findBTF(data []byte) []byte {
	left := 8 * int64(len(data))
	for _, magic := range [][]byte{{0x9f, 0xeb, 1, 0}, {0xeb, 0x9f, 1, 0}} {
		for at := 0; left > 0; at++ {
			i := bytes.Index(data[at:], magic)
			if i < 0 {
				break
			}
			at += i
			found, whole := beginsBTF(data[at:])
			if whole {
				return found
			}
			left -= int64(len(found))
		}
	}
	return nil
}

// beginsBTF returns the bytes that data begins with, by a header of BTF, and whether they are BTF.
func beginsBTF(data []byte) (claimed []byte, whole bool) {
	types, strings, err := btf.Sections(data)
	if err != nil || len(types) == 0 || len(strings) == 0 {
		return nil, false
	}
	claimed = data[:cap(data)-cap(strings)+len(strings)] // strings are a slice of data
	_, err = btf.ParseShared(claimed, nil)
	return claimed, err == nil
}
