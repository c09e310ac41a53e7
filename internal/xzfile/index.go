package xzfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Block is a block of a file, as the index describes it. The index may be wrong: only a BlockReader
// that reads the block checks it.
type Block struct {
	At   int64 // offset in the file
	Size int64 // bytes there, without padding
	From int64 // offset in what the file expands to
	Len  int64 // bytes there

	flags [2]byte // of its stream
}

// File is a file of one stream or several, read through their indexes.
type File struct {
	r      io.ReaderAt
	Blocks []Block
	Len    int64 // of what the file expands to
}

const (
	headerLen = 12 // of a stream, and of its footer
	magic     = "\xfd7zXZ\x00"
	footMagic = "YZ"
	// maxBlocks bounds the memory that an index takes.
	maxBlocks = 1 << 18
	// maxLen bounds all sizes, so that sums of two do not overflow.
	maxLen = 1 << 60
)

// Open reads the indexes of a file of size bytes. What they say is checked against each other and
// against size, not against the blocks.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r}
	var streams [][]Block // the last one first
	count := 0
	for end := size; end > 0; {
		var word [4]byte
		if _, err := r.ReadAt(word[:], max(end-4, 0)); err != nil {
			return nil, fmt.Errorf("the end of a stream: %w", err)
		}
		if binary.LittleEndian.Uint32(word[:]) == 0 && end >= 4 { // padding
			end -= 4
			continue
		}
		blocks, begin, err := readStream(r, end, maxBlocks-count)
		if err != nil {
			return nil, err
		}
		streams, end = append(streams, blocks), begin
		count += len(blocks)
	}
	for i := len(streams) - 1; i >= 0; i-- {
		for _, b := range streams[i] {
			b.From = f.Len
			if f.Len += b.Len; f.Len > maxLen {
				return nil, errors.New("the sizes in the index are too large")
			}
			f.Blocks = append(f.Blocks, b)
		}
	}
	return f, nil
}

// readStream reads the index of the stream that ends at end, and returns where it begins.
func readStream(r io.ReaderAt, end int64, most int) (blocks []Block, begin int64, err error) {
	var foot, head [headerLen]byte
	if end < 2*headerLen {
		return nil, 0, fmt.Errorf("no stream ends at byte %d", end)
	}
	if _, err := r.ReadAt(foot[:], end-headerLen); err != nil {
		return nil, 0, err
	}
	if string(foot[10:]) != footMagic || crc32.ChecksumIEEE(foot[4:10]) != binary.LittleEndian.Uint32(foot[:]) {
		return nil, 0, fmt.Errorf("no stream ends at byte %d", end)
	}
	size := (int64(binary.LittleEndian.Uint32(foot[4:])) + 1) * 4
	from := end - headerLen - size
	if from < headerLen {
		return nil, 0, fmt.Errorf("the index before byte %d is larger than the file", end)
	}
	blocks, total, err := readIndex(io.NewSectionReader(r, from, size), size, most)
	if err != nil {
		return nil, 0, fmt.Errorf("the index at byte %d: %w", from, err)
	}
	if begin = from - total - headerLen; begin < 0 {
		return nil, 0, fmt.Errorf("the blocks in the index at byte %d are larger than the file", from)
	}
	if _, err := r.ReadAt(head[:], begin); err != nil {
		return nil, 0, err
	}
	if string(head[:6]) != magic || crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]) || !bytes.Equal(head[6:8], foot[8:10]) {
		return nil, 0, fmt.Errorf("no stream begins at byte %d, where the index says that one does", begin)
	}
	for i := range blocks {
		blocks[i].At += begin + headerLen
		blocks[i].flags = [2]byte(head[6:8])
	}
	return blocks, begin, nil
}

// readIndex reads an index of size bytes. Blocks begin at 0; total is how many bytes they have with
// padding.
func readIndex(r io.Reader, size int64, most int) (blocks []Block, total int64, err error) {
	sum := crc32.NewIEEE()
	in := &byteCounter{r: bufio.NewReader(r), sum: sum}
	if b, err := in.ReadByte(); err != nil || b != 0 {
		return nil, 0, errors.New("it does not begin with a zero byte")
	}
	count, err := binary.ReadUvarint(in)
	if err != nil || count > uint64(most) || count > uint64(size)/2 {
		return nil, 0, fmt.Errorf("%d blocks cannot be", count)
	}
	for range count {
		stored, err := binary.ReadUvarint(in)
		expanded, err2 := binary.ReadUvarint(in)
		if err != nil || err2 != nil || stored == 0 || stored > maxLen || expanded > maxLen {
			return nil, 0, fmt.Errorf("the sizes of block %d cannot be", len(blocks)+1)
		}
		blocks = append(blocks, Block{At: total, Size: int64(stored), Len: int64(expanded)})
		if total += (int64(stored) + 3) &^ 3; total > maxLen {
			return nil, 0, fmt.Errorf("the sizes up to block %d cannot be", len(blocks))
		}
	}
	for in.n&3 != 0 {
		if b, err := in.ReadByte(); err != nil || b != 0 {
			return nil, 0, errors.New("its padding is not zero")
		}
	}
	want := sum.Sum32()
	var stored [4]byte
	for i := range stored {
		if stored[i], err = in.ReadByte(); err != nil {
			return nil, 0, errors.New("it has no checksum")
		}
	}
	if binary.LittleEndian.Uint32(stored[:]) != want || in.n != size {
		return nil, 0, errors.New("its checksum or its size is wrong")
	}
	return blocks, total, nil
}

// byteCounter counts and sums the bytes that are read.
type byteCounter struct {
	r   io.ByteReader
	sum io.Writer
	n   int64
}

// ReadByte implements io.ByteReader.
func (c *byteCounter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
		_, _ = c.sum.Write([]byte{b})
	}
	return b, err
}

// BlockReader expands blocks, one after the other, in any order.
type BlockReader struct {
	file    *File
	x       *Reader
	maxDict uint32
	number  int
	left    int64
}

// Checked reports whether each block has a checksum, with which Read compares it.
func (f *File) Checked() bool {
	for i := range f.Blocks {
		if f.Blocks[i].flags[1] == 0 {
			return false
		}
	}
	return true
}

// NewBlockReader returns a reader of blocks whose dictionaries have at most maxDict bytes.
func (f *File) NewBlockReader(maxDict uint32) *BlockReader {
	return &BlockReader{file: f, maxDict: maxDict, number: -1}
}

// Block makes b read block i.
func (b *BlockReader) Block(i int) (err error) {
	k := &b.file.Blocks[i]
	b.number, b.left = i, k.Len
	// The block becomes a stream of its own, with the index's sizes for it, which the reader of
	// streams checks.
	in := io.MultiReader(bytes.NewReader(streamHead(k)), io.NewSectionReader(b.file.r, k.At, (k.Size+3)&^3), bytes.NewReader(streamTail(k)))
	if b.x != nil {
		return b.in(b.x.Reset(in))
	}
	b.x, err = NewReader(in, b.maxDict)
	return b.in(err)
}

// Read implements io.Reader. It ends after as many bytes as the index says, once the whole block is
// known to be what it says.
func (b *BlockReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		var more [1]byte
		n, err := b.x.Read(more[:])
		if n > 0 {
			err = errors.New("it is longer than the index says")
		}
		return 0, b.in(err)
	}
	n, err := b.x.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == io.EOF && b.left > 0 {
		err = errors.New("it is shorter than the index says")
	}
	return n, b.in(err)
}

// in names the block in an error.
func (b *BlockReader) in(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("block %d of %d: %w", b.number+1, len(b.file.Blocks), err)
}

// streamHead returns the header of a stream of one block.
func streamHead(b *Block) []byte {
	head := append([]byte(magic), b.flags[:]...)
	return binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(b.flags[:]))
}

// streamTail returns the index and the footer of a stream of one block.
func streamTail(b *Block) []byte { return indexOf([]Block{*b}) }

// indexOf returns the index and the footer of a stream.
func indexOf(blocks []Block) []byte {
	index := binary.AppendUvarint([]byte{0}, uint64(len(blocks)))
	for _, b := range blocks {
		index = binary.AppendUvarint(index, uint64(b.Size))
		index = binary.AppendUvarint(index, uint64(b.Len))
	}
	for len(index)&3 != 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	foot := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	foot = append(foot, blocks[0].flags[:]...)
	tail := binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(foot))
	return append(append(tail, foot...), footMagic...)
}
