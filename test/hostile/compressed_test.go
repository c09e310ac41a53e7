//go:build linux

package hostile

import (
	"bytes"
	"compress/zlib"
	"hash/adler32"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// deflated is a zlib stream.
func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// packed is an SHF_COMPRESSED section (gABI, Elf64_Chdr) of the given fields.
func packed(name string, typ uint32, size, align uint64, stream []byte) dt.Section {
	b := le.AppendUint32(le.AppendUint32(nil, typ), 0)
	b = le.AppendUint64(le.AppendUint64(b, size), align)
	return dt.Section{Name: name, Flags: 0x800, Data: append(b, stream...)}
}

// packedInfo is the good file with .debug_info compressed; change makes the
// fields and the stream bad.
func packedInfo(change func(typ *uint32, size, align *uint64, stream *[]byte)) func() []byte {
	return damaged(func(s *sections) {
		info := s.info()
		typ, size, align, stream := uint32(1), uint64(len(info.Data)), uint64(1), deflated(info.Data)
		if change != nil {
			change(&typ, &size, &align, &stream)
		}
		*info = packed(".debug_info", typ, size, align, stream)
	})
}

// zeroBomb is a zlib stream of head and then n MiB of zeros.
func zeroBomb(head []byte, n int) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	w.Write(head)
	w.Flush()
	zeros := make([]byte, 1<<20)
	w.Write(zeros)
	w.Flush()
	before := b.Len()
	w.Write(zeros)
	w.Flush()
	again := bytes.Clone(b.Bytes()[before:]) // one more MiB, as often as one likes
	for range n - 2 {
		b.Write(again)
	}
	b.Write([]byte{1, 0, 0, 0xff, 0xff}) // an empty last block
	sum := adler32.Checksum(head)
	low, high := uint64(sum&0xffff), uint64(sum>>16)
	high = (high + uint64(n)<<20%65521*low) % 65521
	sum = uint32(high<<16 | low)
	return append(b.Bytes(), byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

func compressedFiles() []hostileFile {
	type fields = func(typ *uint32, size, align *uint64, stream *[]byte)
	size := func(fn func(uint64) uint64) fields {
		return func(_ *uint32, size, _ *uint64, _ *[]byte) { *size = fn(*size) }
	}
	stream := func(fn func([]byte) []byte) fields {
		return func(_ *uint32, _, _ *uint64, s *[]byte) { *s = fn(*s) }
	}
	return []hostileFile{
		{name: "z-good", want: mustWork, outcome: same, file: packedInfo(nil)},
		{name: "z-size-2^60", want: mustFail, outcome: "95 compressed bytes claim to expand to", file: packedInfo(size(func(uint64) uint64 { return 1 << 60 }))},
		{name: "z-size-3G", want: mustFail, outcome: "95 compressed bytes claim to expand to", file: packedInfo(size(func(uint64) uint64 { return 3 << 30 }))},
		{name: "z-size-small", want: mustFail, outcome: "unit length goes beyond the section", file: packedInfo(size(func(n uint64) uint64 { return n - 20 }))},
		{name: "z-size-large", want: mustFail, outcome: "compressed stream ends after 127 of 147 bytes", file: packedInfo(size(func(n uint64) uint64 { return n + 20 }))},
		{name: "z-size-0", want: mustFail, outcome: "section .debug_info is empty, or its contents are in another file", file: packedInfo(size(func(uint64) uint64 { return 0 }))},
		{name: "z-type-99", want: mustFail, outcome: "unknown compression type 99", file: packedInfo(func(typ *uint32, _, _ *uint64, _ *[]byte) { *typ = 99 })},
		{name: "z-type-zstd-garbage", want: mustFail, outcome: "magic number mismatch", file: packedInfo(func(typ *uint32, _, _ *uint64, _ *[]byte) { *typ = 2 })},
		{name: "z-zstd-huge-window", want: mustFail, outcome: "window size exceeded", file: packedInfo(func(typ *uint32, _, _ *uint64, s *[]byte) {
			// RFC 8878, 3.1.1: magic number, descriptor, window of 2^40 bytes,
			// then an empty last raw block.
			*typ, *s = 2, []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 30 << 3, 1, 0, 0}
		})},
		{name: "z-chdr-short", want: mustFail, outcome: "compression header needs 24 bytes, section has 4", file: damaged(func(s *sections) {
			*s.info() = dt.Section{Name: ".debug_info", Flags: 0x800, Data: []byte{1, 0, 0, 0}}
		})},
		{name: "z-stream-cut", want: mustFail, outcome: "compressed stream ends after 24 of 127 bytes", file: packedInfo(stream(func(b []byte) []byte { return b[:len(b)/2] }))},
		{name: "z-adler-bad", want: mustFail, outcome: "invalid checksum", file: packedInfo(stream(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }))},
		{name: "z-trailing-junk", want: either, outcome: same, file: packedInfo(stream(func(b []byte) []byte { return append(b, "junk"...) }))},
		{name: "z-align-bad", want: either, outcome: same, file: packedInfo(func(_ *uint32, _, align *uint64, _ *[]byte) { *align = 3 })},
		{name: "z-gnu-bad-magic", want: mustFail, outcome: "compressed section does not start with \"ZLIB\" and a size", file: damaged(func(s *sections) {
			s.drop(".debug_info")
			s.at(".zdebug_info").Data = append([]byte("BILZ\x00\x00\x00\x00\x00\x00\x01\x00"), deflated(make([]byte, 256))...)
		})},
		{name: "z-bomb-2G-str", want: mustFail, outcome: "compressed bytes claim to expand to", big: true, file: damaged(func(s *sections) {
			*s.at(".debug_str") = packed(".debug_str", 1, 2<<30, 1, zeroBomb(nil, 2048))
		})},
		{name: "z-bomb-700M-info", want: mustFail, outcome: "compressed bytes claim to expand to", big: true, file: damaged(func(s *sections) {
			info := s.info()
			*info = packed(".debug_info", 1, uint64(len(info.Data))+700<<20, 1, zeroBomb(info.Data, 700))
		})},
	}
}
