package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// outputs are the places of the BTF (nil for the first input itself), of the extra
// variables and of the sites of inlined functions (nil for none).
type outputs struct{ main, extra, inline *target }

// side is a side file: its kind, its place (nil for none), and its data.
type side struct {
	what string
	to   *target
	data *finish.Extra
}

// sides returns the side files of a finished output.
func (o outputs) sides(enc *finish.Encoded) []side {
	return []side{{"extra variables", o.extra, &enc.Extra}, {"inlined functions", o.inline, &enc.Inline}}
}

// writeAll writes the BTF, its side files, and what is late, all together. If a side file has no
// content, no file of an earlier run may be in its place. read describes the file at path before
// it was encoded.
func (c *cli) writeAll(to outputs, path string, read os.FileInfo, enc *finish.Encoded, o *job.Options, late ...output) error {
	var outs []output
	for _, s := range to.sides(enc) {
		if s.to == nil {
			continue
		}
		if s.data.Data == nil {
			if err := s.to.refuseOld("no " + s.what + " to write"); err != nil {
				return err
			}
			continue
		}
		write, err := sideWriter(s.data, s.to.path, path)
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		outs = append(outs, output{to: s.to, content: write})
	}
	if to.main != nil {
		if err := c.room(to.main.file, enc.Size); err != nil {
			return err
		}
		return writeTogether(c.guard, slices.Concat(outs, []output{{to: to.main, content: enc.Write}}, late), nil)
	}
	if info, err := os.Stat(path); err == nil { // otherwise opening it will say why
		if err := c.room(path, info.Size()+enc.Size); err != nil {
			return err
		}
	}
	return writeTogether(c.guard, append(outs, late...), func(first func() error) error {
		return c.writeInPlace(path, read, enc, o, first)
	})
}

// writeInPlace puts the BTF into the section .BTF of the file after first. If its base is to
// be distilled, the file gets .BTF.base too. It must be the file that was encoded.
func (c *cli) writeInPlace(path string, read os.FileInfo, enc *finish.Encoded, o *job.Options, first func() error) error {
	var other error
	err := c.guard.protect(func() error {
		sections, err := sectionsFor(path, enc, o)
		if err != nil {
			return err
		}
		for i := range sections {
			s := &sections[i]
			size, write := s.Size, s.Write
			// A linked kernel takes all bytes between two symbols as its BTF, and refuses
			// bytes after the string section.
			strings := enc.Stats.StrBytes
			s.Fill = func(w io.Writer, n int64) error {
				if s.Name == loadbtf.SectionBTF {
					enc.Size, enc.Stats.StrBytes = n, strings+int(n-size)
				}
				return btf.PadStrings(write, n-size)(w)
			}
		}
		return c.putSections(path, read, sections, func(temp string) error {
			other = c.guard.unprotect(temp, first) // it may wait for whoever reads a pipe
			return other
		})
	})
	if other != nil {
		return other
	}
	return inPlaceError(path, err, func() string {
		return fmt.Sprintf("write it to a file of its own (%s), or link the program again with the BTF", detachedLine(c.words, path))
	})
}

// putSections gives sections of the file new contents after first. It must be the file that read
// describes.
func (c *cli) putSections(path string, read os.FileInfo, sections []elfwrite.Section, first func(temp string) error) error {
	for i := range sections {
		s := &sections[i]
		write, fill := s.Write, s.Fill
		s.Write = func(w io.Writer) error { return write(interruptible{w, c.guard}) }
		s.Fill = func(w io.Writer, n int64) error { return fill(interruptible{w, c.guard}, n) }
		s.Stop = c.guard.interrupted
	}
	if read == nil { // the file has appeared since the run looked for it
		return fileid.ErrChanged
	}
	return setSections(path, read, first, sections...)
}

// inPlaceError adds to an error of writing into a file what to do about it. elsewhere says how
// to write it to another file.
func inPlaceError(path string, err error, elsewhere func() string) error {
	if errors.Is(err, fileid.ErrChanged) {
		err = fmt.Errorf("%w: nothing written; run again when no other program writes the file", err)
	}
	if full := new(elfwrite.NoRoomError); errors.As(err, &full) {
		err = fmt.Errorf("%w; %s", err, elsewhere())
	}
	if err != nil {
		return message.NamingFile([]string{path}, err)
	}
	return nil
}

// detachedLine returns the command line of this run, changed to write the BTF of path to
// a separate file.
func detachedLine(words []string, path string) string {
	return commandLine(slices.Insert(slices.Clone(words), 0, "--"+detachedName+"="+filepath.Base(path)+".btf"))
}

// checkInPlace returns an error that writing BTF into the file would have, as far as it
// can be known before the encoding. It does not check a file without debug information,
// which gets no BTF.
func (c *cli) checkInPlace(path string, distil bool) error {
	if !hasSection(path, ".debug_info", ".zdebug_info") {
		return nil
	}
	names := []string{loadbtf.SectionBTF}
	if distil {
		names = append(names, loadbtf.SectionBTFBase)
	}
	err := refuseOrphans(path, distil)
	if err == nil {
		err = c.guard.protect(func() error { return checkSet(path, names...) })
	}
	if err != nil {
		return message.NamingFile([]string{path}, err)
	}
	return nil
}

// refuseOrphans returns an error if the file has a section that belongs to the .BTF which is to be
// replaced, and would stay: readers would look up ids or strings of another .BTF there.
func refuseOrphans(path string, distil bool) error {
	if hasSection(path, sectionBTFExt) {
		return errors.New("section " + sectionBTFExt + " belongs to the " + loadbtf.SectionBTF +
			" of the compiler, and libbpf loads no program of this file with another one; write to another file (--" + detachedName + "=OUT)")
	}
	if distil || !hasSection(path, loadbtf.SectionBTFBase) {
		return nil
	}
	return errors.New("section " + loadbtf.SectionBTFBase + " belongs to the " + loadbtf.SectionBTF +
		" that is to be replaced; remove it first (objcopy --remove-section=" + loadbtf.SectionBTFBase + " " + message.ShellFile(path) +
		"), or encode with the feature distilled_base")
}

// sectionsFor returns the sections that writeInPlace puts into the file. If the base is
// distilled, it updates the figures of enc.
func sectionsFor(path string, enc *finish.Encoded, o *job.Options) ([]elfwrite.Section, error) {
	if err := refuseOrphans(path, o.Distil); err != nil {
		return nil, err
	}
	if !o.Distil {
		return []elfwrite.Section{{Name: loadbtf.SectionBTF, Size: enc.Size, Write: enc.Write}}, nil
	}
	own, below, err := o.DistilBase(context.Background(), enc)
	if err != nil {
		return nil, err
	}
	return []elfwrite.Section{bytesSection(loadbtf.SectionBTF, own), bytesSection(loadbtf.SectionBTFBase, below)}, nil
}

// hasSection reports whether the file is an ELF file with one of the sections.
func hasSection(path string, names ...string) bool {
	f, err := mmapelf.Open(path)
	if err != nil {
		return false // the write that follows reports the error
	}
	defer f.Close()
	return slices.ContainsFunc(names, func(name string) bool { return f.Section(name) != nil })
}

// interruptible is a writer that fails after a signal has arrived.
type interruptible struct {
	w io.Writer
	g *guard
}

func (i interruptible) Write(p []byte) (int, error) {
	if err := i.g.interrupted(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}

// refuseOld returns an error if there is nothing to write for path, because of why, and
// an output of an earlier run exists.
func (o outputs) refuseOld(path, why string) error {
	if err := refuseOldMain(o.main, path, why); err != nil {
		return err
	}
	if err := o.extra.refuseOld(why); err != nil {
		return err
	}
	return o.inline.refuseOld(why)
}

// refuseOldMain is refuseOld for the BTF alone. Its place is t or, if t is nil, the file
// at path.
func refuseOldMain(t *target, path, why string) error {
	if t == nil && hasSection(path, loadbtf.SectionBTF) {
		return fmt.Errorf("%s: nothing written, and section %s of %s is not of this run; remove it, as by objcopy --remove-section=%s",
			why, loadbtf.SectionBTF, message.OneLine(path), loadbtf.SectionBTF)
	}
	return t.refuseOld(why)
}

// newRunReport adds the command's figures to the encoder's: the time to write the result,
// the whole time, and the peak memory so far.
func newRunReport(paths []string, to outputs, enc *finish.Encoded, writing, wall time.Duration) *runReport {
	r := &runReport{Inputs: paths, Bytes: enc.Size, BaseBytes: enc.Below, WallNS: int64(wall), Stats: enc.Stats}
	r.Phases = append(slices.Clip(r.Phases), encode.Phase{Name: "write", Time: writing})
	r.Output, r.place = paths[enc.Lead], "section .BTF of "
	if to.main != nil {
		r.Output, r.place = to.main.path, "file "
	}
	if to.extra != nil && enc.Extra.Data != nil {
		r.Extra, r.ExtraBytes = to.extra.path, int64(len(enc.Extra.Data))
	}
	if to.inline != nil && enc.Inline.Data != nil {
		r.InlineTo, r.InlineBytes = to.inline.path, int64(len(enc.Inline.Data))
	}
	r.PeakRSS = memlimit.Peak()
	for _, counts := range []*map[string]int{&r.Skipped, &r.Unencodable} {
		if *counts == nil {
			*counts = map[string]int{} // in JSON, {} and not null
		}
	}
	return r
}
