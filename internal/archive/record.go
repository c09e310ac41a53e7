package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/pack"
)

// KernelRecord has the facts about a kernel. It has no times, so that two workers write the same bytes.
type KernelRecord struct {
	BuildID string `json:"build_id"` // in hex; "" if the kernel has none
	Release string `json:"release"`  // as uname -r
	Distro  string `json:"distro"`
	Version string `json:"distro_version"`
	Arch    string `json:"arch"`
	Package string `json:"package"` // the file, without its folder
	File    string `json:"file"`    // in the package
	Program string `json:"program"` // what wrote this
	Contents
	// PackageDamaged says that the package turned out to be damaged after the kernel was read from it, so
	// that the BTF may be wrong. An intact package of this kernel takes its place.
	PackageDamaged bool `json:"package_damaged,omitempty"`
	// Modules is nil in the kernel's own record, which is written before the records of its
	// modules.
	Modules *ModuleCounts `json:"modules,omitempty"`
	// Before says that the archive had the kernel already, from this package or another.
	Before bool `json:"-"`
	// ModulesBefore says the same of the kernel's modules. ModulesFailed are the modules that got
	// no BTF in this run.
	ModulesBefore bool           `json:"-"`
	ModulesFailed []ModuleRecord `json:"-"`
	// ModulesEarly is how many modules came before the kernel in a stream. If there are any, none
	// of the kernel's modules is stored.
	ModulesEarly int `json:"-"`
}

// Contents has the facts about the BTF of a kernel or of a module.
type Contents struct {
	BTF       string `json:"btf,omitempty"`    // path in the archive
	SHA256    string `json:"sha256,omitempty"` // of the file at that path
	Size      int64  `json:"size,omitempty"`   // of it, in bytes
	Source    string `json:"source,omitempty"` // "encoded" or "copied"
	Types     int    `json:"types,omitempty"`
	Functions int    `json:"functions,omitempty"`
	Variables int    `json:"variables,omitempty"`
	// Warnings tell users of the BTF what may be wrong with it. Reason says why there is no BTF.
	Warnings []string `json:"warnings,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Internal says that the reason is a fault of the program.
	Internal bool `json:"internal,omitempty"`
}

// ModuleCounts counts modules of a kernel.
type ModuleCounts struct {
	Stored int `json:"stored"`
	Failed int `json:"failed"` // without BTF
	// Internal is how many of those are without BTF by a fault of the program.
	Internal int `json:"internal,omitempty"`
}

// ModuleRecord has the facts about a module.
type ModuleRecord struct {
	Name    string `json:"name"`     // as in /sys/kernel/btf
	BuildID string `json:"build_id"` // in hex; "" if the module has none
	File    string `json:"file"`     // in the package
	Contents
}

// PackageRecord says how the work on a package ended.
type PackageRecord struct {
	Package string         `json:"package"`
	Size    int64          `json:"size,omitempty"` // of the file in bytes
	Ends    string         `json:"ends,omitempty"` // pack.Ends of the file; "" in old records
	Format  string         `json:"format"`
	Name    string         `json:"name,omitempty"` // the following are what the package says of itself
	Version string         `json:"version,omitempty"`
	Arch    string         `json:"arch,omitempty"`
	Vendor  string         `json:"vendor,omitempty"`
	Program string         `json:"program"`
	Kernels []KernelRecord `json:"kernels,omitempty"`
	// Modules says that the run looked for modules. OfNoKernel counts the modules that belong to no
	// kernel of the package.
	Modules    bool `json:"modules,omitempty"`
	OfNoKernel int  `json:"modules_of_no_kernel,omitempty"`
	// Reason says why there is no kernel, or what ended the reading.
	Reason string `json:"reason,omitempty"`
	// Damaged says that the package could not be read to its end. Recorded says that the record is in the
	// archive, so that the package is done.
	Damaged  bool `json:"-"`
	Recorded bool `json:"-"`
	// Retried says that modules were tried again on which an earlier run had a fault.
	Retried bool `json:"-"`
}

// describe takes over what the package says of itself.
func (r *PackageRecord) describe(p *pack.Package) {
	r.Format, r.Name, r.Version, r.Arch, r.Vendor = p.Format, p.Info.Name, p.Info.Version, p.Info.Arch, p.Info.Vendor
}

// dir returns the folder of the kernel in the archive, and fileName its name there without a suffix.
func (r *KernelRecord) dir() string {
	return path.Join(CleanName(r.Distro), CleanName(r.Version), CleanName(r.Arch))
}

func (r *KernelRecord) fileName() string { return CleanName(r.Release) }

// The words of Contents.Source.
const (
	encoded = "encoded"
	copied  = "copied"
)

// leftOut says what the DWARF has and BTF cannot say.
func leftOut(s *encode.Stats) (lines []string) {
	for _, what := range slices.Sorted(maps.Keys(s.Unencodable)) {
		lines = append(lines, fmt.Sprintf("left out, as BTF cannot say it: %s %s", message.Grouped(uint64(s.Unencodable[what])), what))
	}
	return lines
}

// reasonOf returns the text of err for a record. It removes the path at the beginning of the text.
func reasonOf(err error, path string) string {
	return message.OneLine(strings.TrimPrefix(err.Error(), message.OneLine(path)+": "))
}

// RecordSuffix ends the names of records.
const RecordSuffix = ".json"

// longestName is the longest name of a file that file systems take, in bytes.
const longestName = 255

// packageRecord returns the path in the archive of the record of a package, without its suffix: the
// package's name. A name that leaves no room for the suffix is cut, and its checksum tells it from others.
func packageRecord(name string) string {
	if len(name)+len(RecordSuffix) > longestName {
		sum := sha256.Sum256([]byte(name))
		end := "+" + hex.EncodeToString(sum[:6])
		name = strings.ToValidUTF8(name[:longestName-len(RecordSuffix)-len(end)], "") + end
	}
	return path.Join(PackagesDir, name)
}

// maxRecord bounds a record that is read, in bytes.
const maxRecord = 16 << 20

// readJSON reads a record. Errors name the file.
func readJSON(name string, to jsonRecord) error {
	data, err := readBounded(name, "a record", maxRecord)
	if err != nil {
		return err
	}
	return decodeJSON(name, data, to)
}

// decodeJSON decodes a file of the archive. Errors name the file and the place, and are not the fault of a
// package.
func decodeJSON(name string, data []byte, to jsonRecord) error {
	err := json.Unmarshal(data, to)
	if err == nil {
		err = checkPaths(to)
	}
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		err = fmt.Errorf("byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		err = fmt.Errorf("byte %d: %w", kind.Offset, err)
	}
	return &ownDamage{message.FileError(name, "cannot read", fmt.Errorf("%w; remove it, and run the command again", err))}
}

// jsonRecord is a record that is read from a file.
type jsonRecord interface {
	// files returns what the record says of each file of the archive that it names.
	files() []*Contents
}

func (r *KernelRecord) files() []*Contents { return []*Contents{&r.Contents} }

func (r *PackageRecord) files() []*Contents { return filesOf(r.Kernels) }

// filesOf returns what kernels name.
func filesOf(kernels []KernelRecord) (list []*Contents) {
	for i := range kernels {
		list = append(list, &kernels[i].Contents)
	}
	return list
}

// checkPaths refuses a record with a path that leads out of the archive, to which a run could write. Archives are
// copied from one place to another, and records may be changed by hand.
func checkPaths(rec jsonRecord) error {
	for _, c := range rec.files() {
		if c.BTF != "" && !filepath.IsLocal(filepath.FromSlash(c.BTF)) {
			return fmt.Errorf("%q leads out of the archive", message.OneLine(c.BTF))
		}
	}
	return nil
}

// readBounded reads a file of at most so many bytes. Errors name the file and say what it should be.
func readBounded(name, what string, most int64) ([]byte, error) {
	return readInto(nil, name, what, most)
}

// readInto is readBounded into the memory of buf, if that has room enough.
func readInto(buf []byte, name, what string, most int64) ([]byte, error) {
	info, err := os.Stat(name) // opening a pipe may take forever
	if err != nil {
		return nil, message.FileError(name, "cannot read", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &ownDamage{fmt.Errorf("%s: cannot read: it is not a file", message.OneLine(name))}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, message.FileError(name, "cannot read", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil { // another one may have its name now
		return nil, message.FileError(name, "cannot read", err)
	}
	if info.Size() > most {
		return nil, &ownDamage{fmt.Errorf("%s: %s of %s cannot be one of btflite", message.OneLine(name), what, message.ByteSize(uint64(info.Size())))}
	}
	buf = slices.Grow(buf[:0], int(info.Size()))[:info.Size()]
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // it is shorter now
	}
	return buf[:n], message.FileError(name, "cannot read", err)
}

// encodeJSON returns a record as it is written.
func encodeJSON(rec any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(rec)
	return b.Bytes(), err
}
