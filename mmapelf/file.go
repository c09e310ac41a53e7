// Package mmapelf maps an ELF file into memory, read-only, and gives its
// sections and symbols as slices of that mapping.
//
// It serves readers that walk a large input once and must not hold it in
// memory: Release hands the pages of a consumed stretch back to the kernel.
// It reads both classes and both byte orders, follows extended section
// numbering, and decompresses compressed sections. It does not read program
// headers, apply relocations (package elfreloc does) or look at what sections mean
// (packages dwarf and encode do, with the bytes handed out here).
//
// Every offset and size of the file is compared with the file before it is
// used. A file that another process cuts short while it is mapped raises
// SIGBUS on access; callers that must survive that set
// runtime/debug.SetPanicOnFault in the goroutines that read.
//
// The stable API is package btflite. What it does not use of this package may change.
package mmapelf

import (
	"fmt"
	"io"
	"os"
	"sync"

	mmap "github.com/edsrzf/mmap-go"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
)

// File is an ELF file mapped into memory. The exported fields, all but Scarce and Limit,
// are set by Open and must not be changed. Its methods may be called from several goroutines
// at once, except Close.
type File struct {
	Path      string    // as given to Open; used in errors
	Class64   bool      // ELFCLASS64
	BigEndian bool      // ELFDATA2MSB
	AddrSize  int       // bytes of an address: 4 or 8
	Type      uint16    // e_type
	Machine   uint16    // e_machine
	Sections  []Section // by section index; entry 0 is the null section

	// Scarce says that the memory for the file's pages is limited, as in a control group: pages
	// that are released are reclaimed first. A caller sets it before it releases any.
	Scarce bool

	// Limit, if set, is asked while a section is expanded. A caller sets it before it asks
	// for contents.
	Limit *arena.Limit

	data    []byte    // the whole file
	mapping mmap.MMap // nil when data is not a mapping
	small   bool      // MapSmall has mapped all pages
	cached  *os.File  // the open file, to ask which pages are cached; nil if nobody asks

	freeData func() // frees the memory into which a Source was read; or nil

	mu       sync.Mutex
	reserved []func() // give back the memory of expanded sections
}

// FormatError reports bytes that break the ELF format.
type FormatError struct {
	Path    string // file
	Section string // section name, or the header that was read
	Offset  uint64 // byte offset in the file where the bad field or data lies
	What    string // what is wrong
}

// Error implements error.
func (e *FormatError) Error() string {
	msg := fmt.Sprintf("%s+%#x: %s", message.OneLine(e.Section), e.Offset, e.What)
	if e.Path == "" {
		return msg
	}
	return message.OneLine(e.Path) + ": " + msg
}

// errorf builds a FormatError for this file.
func (f *File) errorf(section string, off uint64, format string, args ...any) error {
	return &FormatError{Path: f.Path, Section: section, Offset: off, What: fmt.Sprintf(format, args...)}
}

// Open maps the ELF file at path and reads its section table. Anything but a
// regular file is refused, as are files without an ELF header and files whose
// section table or section name table is cut short. A file without a section
// table opens with no sections.
func Open(path string) (*File, error) {
	// Stat first: opening a FIFO would wait for a writer.
	if err := checkRegular(os.Stat(path)); err != nil {
		return nil, pathError(path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	f, err := openFile(path, file)
	if err != nil || len(f.data) < largeFile {
		file.Close()
		return f, err
	}
	f.cached = file
	return f, nil
}

// largeFile is the size in bytes of a file whose windows are looked up in the page cache before
// they are read ahead. Small ones are not worth an open file each.
const largeFile = 16 << 20

// openFile is Open for a file that is open; it may be closed afterwards.
func openFile(path string, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err := checkRegular(info, err); err != nil {
		return nil, pathError(path, err)
	}
	// An empty file cannot be mapped, and says nothing useful if it could.
	if info.Size() < int64(identSize) {
		return nil, &FormatError{Path: path, Section: elfHeader, What: "not an ELF file"}
	}
	if int64(int(info.Size())) != info.Size() {
		return nil, pathError(path, fmt.Errorf("file of %d bytes is too large to map", info.Size()))
	}
	var ident [identSize]byte
	if _, err := file.ReadAt(ident[:], 0); err != nil && err != io.EOF {
		return nil, pathError(path, err)
	}
	if string(ident[:4]) != elfabi.Magic {
		return nil, &FormatError{Path: path, Section: elfHeader, What: "not an ELF file"}
	}
	m, err := mmap.MapRegion(file, int(info.Size()), mmap.RDONLY, 0, 0)
	if err != nil {
		return nil, pathError(path, fmt.Errorf("cannot map: %w", err))
	}
	f, err := parse(path, m)
	if err != nil {
		m.Unmap()
		return nil, err
	}
	f.mapping = m
	mapped.Lock()
	mapped.files[f] = struct{}{}
	mapped.Unlock()
	return f, nil
}

// mapped are the open files that are mapped.
var mapped = struct {
	sync.Mutex
	files map[*File]struct{}
}{files: map[*File]struct{}{}}

// ReleaseAll is Release for all contents of all files that are open: no page of
// them counts towards the memory of the process until it is read again.
func ReleaseAll() {
	mapped.Lock()
	defer mapped.Unlock()
	for f := range mapped.files {
		f.advise(0, uint64(len(f.data)), true, dropPages)
	}
}

// New makes a File of the bytes of an ELF file, data, and reads its section table.
// path is used in errors. data must not change while the File or slices of it are
// in use. Calls that give the system hints on pages do nothing.
func New(path string, data []byte) (*File, error) { return parse(path, data) }

// checkRegular returns an error unless info describes a regular file.
func checkRegular(info os.FileInfo, err error) error {
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file")
	}
	return nil
}

// pathError begins err with path, as all errors of this package do. path may be another name
// than the one that the system says in err.
func pathError(path string, err error) error {
	if _, ok := err.(*os.PathError); ok {
		return message.FileError(path, "cannot open", err)
	}
	return fmt.Errorf("%s: %w", message.OneLine(path), err)
}

// Close removes the mapping and the expanded sections. Every slice that was
// taken from them becomes invalid; reading one afterwards faults. A second
// Close does nothing.
func (f *File) Close() error {
	mapped.Lock()
	delete(mapped.files, f)
	mapped.Unlock()
	f.data = nil
	f.freeExpanded()
	if f.freeData != nil {
		f.freeData()
		f.freeData = nil
	}
	if f.cached != nil {
		f.cached.Close()
		f.cached = nil
	}
	if f.mapping == nil {
		return nil
	}
	m := f.mapping
	f.mapping = nil
	return m.Unmap()
}

// freeExpanded gives back the memory of expanded sections.
func (f *File) freeExpanded() {
	for _, done := range f.reserved {
		done()
	}
	f.reserved = nil
}

// reserve returns size zero bytes for the contents of s, valid until Close.
// Memory is taken when they are written, so a false size costs address space
// only.
func (f *File) reserve(s *Section, size int) ([]byte, error) {
	m, done, err := reserve(size)
	if err != nil {
		return nil, f.errorf(s.label(), s.Offset, "%v", err)
	}
	f.mu.Lock()
	f.reserved = append(f.reserved, done)
	f.mu.Unlock()
	return m, nil
}

// reserve returns size zero bytes that are valid until done is called.
func reserve(size int) (b []byte, done func(), err error) {
	if size < minReserve {
		return make([]byte, size), func() {}, nil
	}
	m, err := anonymous(size)
	if err != nil {
		return nil, nil, fmt.Errorf("no memory for its %d bytes: %w", size, err)
	}
	return m, func() { giveBack(m) }, nil
}

// minReserve is the size in bytes below which memory is left to the Go heap.
const minReserve = 64 << 10

// Bytes returns the whole file. It is read-only: a write faults. It is valid
// until Close.
func (f *File) Bytes() []byte {
	return f.data[:len(f.data):len(f.data)]
}

// Section returns the first section called exactly name, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// HasDWARF reports whether the file has debug information of its own.
func (f *File) HasDWARF() bool {
	return f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil
}

// Release tells the kernel that the bytes of b are not needed for now, so
// that the pages lying entirely inside b stop counting towards the memory of
// this process. b is a slice of the mapping, as returned by Bytes or Data or
// cut from one of those with b[i:j]. Reading b later is allowed: the pages
// come back from the file. For any other memory, and where the system has no
// such call, Release does nothing.
func (f *File) Release(b []byte) {
	if f.mapping == nil || len(b) == 0 {
		return
	}
	// The capacity of a slice tells where the slice that it was cut from
	// ends: the mapping for Bytes, a section for Data.
	if f.releaseEndingAt(uint64(len(f.data)), b) {
		return
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elfabi.SHTNobits && s.Offset+s.Size >= s.Offset && f.releaseEndingAt(s.Offset+s.Size, b) {
			return
		}
	}
}

// releaseEndingAt releases b if b's capacity ends at file offset end.
func (f *File) releaseEndingAt(end uint64, b []byte) bool {
	if end > uint64(len(f.data)) || end < uint64(cap(b)) {
		return false
	}
	off := end - uint64(cap(b))
	if &f.data[off] != &b[0] {
		return false
	}
	f.ReleaseRange(off, uint64(len(b)))
	return true
}

// ReleaseRange is Release for the size bytes at file offset off. A range that
// leaves the file is ignored.
func (f *File) ReleaseRange(off, size uint64) {
	if f.Scarce {
		f.advise(off, size, true, coldPages)
	} else if f.small {
		return
	}
	f.advise(off, size, true, dropPages)
}

// smallFile is the size in bytes of the largest file that MapSmall maps. Most modules are smaller.
const smallFile = 2 << 20

// MapSmall maps all pages of a file of up to 2 MiB, and reads them from the disk if need be. It is
// for a caller who will read most of the file: it takes less time than a page fault and some hints
// for each section. It reports whether the file is small; then calls of PrefetchRange, RandomRange
// and Release do nothing, except that pages are released if memory is scarce.
func (f *File) MapSmall() bool {
	f.small = f.mapping != nil && len(f.data) <= smallFile
	if f.small {
		readNow(f.mapping)
	}
	return f.small
}

// RandomRange says that the size bytes at file offset off will be read here
// and there: the system reads no more than what is touched.
func (f *File) RandomRange(off, size uint64) {
	if !f.small {
		f.advise(off, size, false, readRandom)
	}
}

// PrefetchRange says that the size bytes at file offset off will be read soon:
// the system starts reading them from the disk.
func (f *File) PrefetchRange(off, size uint64) {
	if !f.small && !f.isCached(off, size) {
		f.advise(off, size, false, readSoon)
	}
}

// isCached reports whether a range seems to be in the page cache, by one byte in probeStep. If it
// is, a hint to read it soon would only make the system look up each page: 2 % of the time for a
// kernel that was just linked.
func (f *File) isCached(off, size uint64) bool {
	if f.cached == nil || size == 0 {
		return false
	}
	end := off + size - 1
	for ; off < end; off += probeStep {
		if !isCached(f.cached, off) {
			return false
		}
	}
	return isCached(f.cached, end)
}

// probeStep is how far apart the bytes are that isCached looks at.
const probeStep = 128 << 10

// advise gives a hint on the pages that lie entirely inside a range or, with
// inside unset, on all that it touches.
func (f *File) advise(off, size uint64, inside bool, hint func([]byte)) {
	if f.mapping == nil || off > uint64(len(f.data)) || size > uint64(len(f.data))-off {
		return
	}
	page := uint64(os.Getpagesize())
	start, end := off/page*page, off+size
	if inside {
		start = (off + page - 1) / page * page
		if end != uint64(len(f.data)) { // the last page of the file may be partial
			end = end / page * page
		}
	}
	if start < end {
		hint(f.mapping[start:end])
	}
}
