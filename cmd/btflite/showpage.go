package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf/page"
	"github.com/btflite/btflite/btf/show"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/glob"
	"github.com/btflite/btflite/internal/message"
)

// onlyText are the options that change text, and have no effect on a drawing.
var onlyText = strings.Fields(`expand_types expand_pointers compile hex rel_offset flat_arrays suppress_aligned_attribute suppress_packed
	sort separator recursive verbose show_decl_info defined_in show_first_biggest_size_base_type_member reorganize show_reorg_steps packable`)

// draw draws the selected structs and unions: on a page for a browser, or one of them as
// an SVG file.
func (s *showCommand) draw(c *cli, path string, v *view.View) error {
	if s.enumerator != "" || s.form != show.Text || s.raw.path != "" {
		return usagef("--format=%s draws structs and unions: leave out the options for lists, enums and data", s.format)
	}
	if option := firstGiven(c.running, func(name string) bool { return slices.Contains(onlyText, name) }); option != "" {
		return usagef("%s changes text, and --format=%s draws: leave one of them out", option, s.format)
	}
	ids, err := s.drawn(c, v)
	switch of := missingOf(path, err); {
	case of != nil:
		return of
	case errors.Is(err, page.ErrNotComposite):
		return fmt.Errorf("%s: %w", message.OneLine(path), err)
	case err != nil:
		return err
	}
	opt := page.Options{Line: s.opt.CacheLine, Title: path}
	if len(s.names) > 0 && len(ids) > 0 {
		opt.Open = ids[0]
	}
	out := bufio.NewWriter(c.stdout)
	if s.format == "svg" {
		if len(ids) != 1 {
			return usagef("--format=svg draws one struct or union, and these are %d: name one", len(ids))
		}
		err = page.SVG(out, v, ids[0], opt)
	} else {
		err = page.Write(out, v, ids, opt)
	}
	return stdoutError(errors.Join(err, out.Flush()))
}

// drawn returns the ids of the selected structs and unions.
func (s *showCommand) drawn(c *cli, v *view.View) (ids []uint32, err error) {
	if len(s.names) == 0 {
		for t := range show.New(io.Discard, v, s.opt).Listed(&s.filter) {
			ids = append(ids, t.ID)
		}
		return ids, nil
	}
	for _, name := range s.names {
		one, pattern := showCommand{names: []string{name}, skipMissing: s.skipMissing, filter: s.filter}, glob.Is(name)
		fault := one.eachNamed(c, v, func(t view.Type) {
			switch of := t.Resolved(); {
			case of.IsComposite():
				ids = append(ids, of.ID)
			case !pattern: // a pattern may fit enums too
				err = fmt.Errorf("%s: %w, and it is a %s", message.OneLine(name), page.ErrNotComposite, t.Kind())
			}
		})
		if err = errors.Join(fault, err); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
