package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/rawdata"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// rawData has the options of btflite show that print raw data as structs.
type rawData struct {
	path        string // --prettify; "": types are printed
	header      string // a type
	in          string // --range: a member of the header
	seek, size  string // numbers, or members of the header
	skip, count int
}

func (d *rawData) options(cmd *cobra.Command) {
	o := under(cmd, groupPrinted)
	o.value(nonEmpty(&d.path), "prettify", "", "with -C: the records of `FILE` with raw data", rare)
	o.value(nonEmpty(&d.header), "header_type", "", "with --prettify: the `TYPE` at the beginning of the file", rare, noFiles)
	o.value(nonEmpty(&d.in), "range", "", "records where the `MEMBER` of the header says, by its offset and size", rare, noFiles)
	o.value(nonEmpty(&d.seek), "seek_bytes", "", "records begin at byte `N`, or at $header.MEMBER", rare, noFiles)
	o.value(nonEmpty(&d.size), "size_bytes", "", "records begin in `N` bytes, or in $header.MEMBER", rare, noFiles)
	o.value(least0(&d.skip), "skip", "", "leave out the first `N` records", rare, numbers)
	o.value(least0(&d.count), "count", "", "print `N` records", rare, numbers)
}

// print prints the records of the classes, or the header alone.
func (d *rawData) print(w io.Writer, v *view.View, classes []string, hex bool) error {
	f, err := openFile(d.path)
	if err != nil {
		return message.FileError(d.path, "cannot read", err)
	}
	defer f.Close()
	if err = d.printFrom(rawdata.NewReader(f), rawdata.NewPrinter(w, v, hex), v, classes); err == nil {
		return nil
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is shorter than its header")
	}
	return message.NamingFile([]string{d.path}, err)
}

func (d *rawData) printFrom(r *rawdata.Reader, p *rawdata.Printer, v *view.View, classes []string) error {
	var list []*rawdata.Class
	for _, text := range classes {
		c, err := rawdata.ParseClass(v, text)
		if err != nil {
			return usagef("--class_name: %s", err)
		}
		list = append(list, c)
	}
	var h *rawdata.Header
	if d.header != "" {
		var err error
		if h, err = r.Header(v, d.header); err != nil {
			return err
		}
		if len(list) == 0 {
			return p.Header(h)
		}
	}
	where, err := d.where(h)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := p.Print(r, c, where); err != nil {
			return err
		}
		where.Seek = 0 // the next class starts where this one ended
	}
	return nil
}

// where returns which records are printed.
func (d *rawData) where(h *rawdata.Header) (in rawdata.Range, err error) {
	in = rawdata.Range{Skip: d.skip, Count: d.count}
	if d.in != "" {
		if in.Seek, err = fromHeader(h, "range", d.in+".offset"); err == nil {
			in.Size, err = fromHeader(h, "range", d.in+".size")
		}
		return in, err
	}
	if in.Seek, err = numberOrMember(h, "seek_bytes", d.seek); err == nil {
		in.Size, err = numberOrMember(h, "size_bytes", d.size)
	}
	return in, err
}

// numberOrMember reads the value of an option: a number, or $header.MEMBER.
func numberOrMember(h *rawdata.Header, option, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	if member, ok := strings.CutPrefix(text, "$header."); ok {
		return fromHeader(h, option, member)
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, usagef("--%s: '%s' is neither a number nor $header.MEMBER", option, message.OneLine(text))
	}
	return n, nil
}

func fromHeader(h *rawdata.Header, option, member string) (uint64, error) {
	if h == nil {
		return 0, usagef("--%s needs --header_type", option)
	}
	n, err := h.Number(member)
	if err != nil {
		err = fmt.Errorf("--%s: %w", option, err)
	}
	return n, err
}
