package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/sites"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// inlineCommand is "btflite inline": where functions are inlined.
type inlineCommand struct {
	in    *typeReader
	at    string // --at
	asked bool   // there is --at
	elf   string // --elf: the file with the code
	json  bool

	names  []string
	point  sitePoint
	code   *codeMap
	why    map[siteKey][]string // of DWARF: why parameters are missing
	listed []listedSite
}

// siteKey identifies a site. Several functions may begin at one place.
type siteKey struct {
	function, section string
	offset            uint32
}

// listedSite is a site as --json prints it.
type listedSite struct {
	Function string        `json:"function"`
	Section  string        `json:"section"`
	Offset   uint32        `json:"offset"`
	Address  string        `json:"address,omitempty"`
	Symbol   string        `json:"symbol,omitempty"` // the function that contains the site, and the offset in it
	Params   []listedPlace `json:"parameters"`
}

// listedPlace is the place of a parameter, or why it is unknown.
type listedPlace struct {
	Name    string `json:"name"`
	Place   string `json:"place,omitempty"`
	Size    uint32 `json:"size,omitempty"` // in bytes, of a parameter with a place
	Missing string `json:"missing,omitempty"`
}

const groupSites = "Which sites"

func newInlineCommand(c *cli) *cobra.Command {
	m := &inlineCommand{in: newTypeReader(c)}
	cmd := &cobra.Command{
		Use: "inline [OPTION...] [NAME...] FILE",
		Long: `List where functions are inlined: the section and the offset there, the address
and the function around if FILE is an ELF file, and where each parameter is.
FILE is BTF with such sites, or has DWARF, which also tells why a parameter is
nowhere.`,
		Example: `  btflite inline tcp_ack vmlinux
  btflite inline --at=0xffffffff81001234 vmlinux
  btflite inline --at=.text+0x1234 --elf=vmlinux vmlinux.inline.btf`,
		RunE: func(_ *cobra.Command, args []string) error { return m.run(c, args) },
	}
	s := under(cmd, groupSites)
	s.value(func(v string) error { m.at, m.asked = v, true; return nil }, "at", "", "what is inlined at `ADDR`, SECTION+N, FUNCTION+N")
	s.file(&m.elf, "elf", "", "addresses and symbols of `FILE`")
	s.toggle(&m.json, "json", "", "print one JSON array")
	m.in.options(cmd, groupSites)
	return cmd
}

func (m *inlineCommand) run(c *cli, words []string) error {
	if len(words) == 0 || len(words) == 1 && !m.asked {
		return lackingWord("inline takes names of functions, or --at=ADDR, and a file")
	}
	names, file, err := namesThenFile("inline", words)
	if err == nil {
		err = checkInputs([]string{file})
	}
	if err != nil {
		return err
	}
	m.names = names
	if file == dash && m.elf == dash {
		return errReadOnce
	}
	elf := ""
	if m.elf != "" {
		if elf, err = elfInput(m.elf); err != nil {
			return err
		}
	}
	defer m.in.close()
	in, b, err := m.input(file)
	if err != nil {
		return err
	}
	code := in
	if m.elf != "" {
		code = mmapelf.Source{Path: elf}
	}
	if m.code, err = openCode(codeFile{code, encode.DebugFiles{Find: m.in.findDebug}}); err != nil {
		return err
	}
	if m.asked {
		if m.point, err = m.parseAt(); err != nil {
			return err
		}
	}
	if b == nil {
		var done func()
		if b, done, err = m.encode(in); err != nil {
			return err
		}
		defer done()
	}
	sites.Each(b, m.wanted, func(s *sites.Site) bool {
		m.listed = append(m.listed, m.listedSite(s))
		return true
	})
	missing := slices.DeleteFunc(slices.Clone(m.names), func(name string) bool {
		return slices.ContainsFunc(m.listed, func(s listedSite) bool { return s.Function == name })
	})
	if len(m.listed) == 0 || len(missing) > 0 && !m.asked {
		return m.nothing(file, b, missing)
	}
	if m.json {
		_, err := c.stdout.Write(message.IndentedJSON(m.listed, true))
		return stdoutError(err)
	}
	return c.page(m.text())
}

// nothing returns the error if there are no sites of the missing names, or at the address.
func (m *inlineCommand) nothing(file string, b *btf.Blob, missing []string) error {
	any := false
	sites.Each(b, func([]byte, string, uint32) bool { return true }, func(*sites.Site) bool { any = true; return false })
	switch {
	case !any && m.why != nil:
		return fmt.Errorf("%s: its DWARF has no sites of inlined functions", message.OneLine(file))
	case !any:
		return fmt.Errorf("%s: there are no sites of inlined functions; --btf_features=inline or --inline=FILE encodes them", message.OneLine(file))
	case m.asked:
		return fmt.Errorf("%s: nothing that was asked for is inlined at %s", message.OneLine(file), message.OneLine(m.at))
	}
	return fmt.Errorf("%s: not inlined: %s", message.OneLine(file), message.OneLine(strings.Join(missing, ", ")))
}

// input returns the ELF file with the DWARF to encode or, if b is not nil, the BTF of the file
// and the ELF file around it, which has no path for raw BTF. Both are valid until m.in is closed.
func (m *inlineCommand) input(file string) (in mmapelf.Source, b *btf.Blob, err error) {
	if e, openErr := mmapelf.Open(file); openErr == nil {
		dwarf := e.HasDWARF()
		e.Close()
		if dwarf {
			return mmapelf.Source{Path: file}, nil, nil
		}
	}
	m.in.dwarf = loadbtf.DWARFFirst // for compressed files, and input from a pipe
	all, err := m.in.open([]string{file})
	switch {
	case err != nil:
		return in, nil, err
	case all[0].encoded:
		return all[0].source, nil, nil
	}
	return all[0].source, all[0].Blob, nil
}

// encode encodes the DWARF of a file with its sites.
func (m *inlineCommand) encode(in mmapelf.Source) (b *btf.Blob, done func(), err error) {
	m.why = map[siteKey][]string{}
	opt := encode.Options{
		Features: encode.BasicFeatures | encode.Inline, Jobs: runtime.GOMAXPROCS(0), DebugFiles: encode.DebugFiles{Find: m.in.findDebug},
		InlineMissing: func(name []byte, section string, offset uint32, why []string) {
			if m.wanted(name, section, offset) {
				m.why[siteKey{string(name), section, offset}] = slices.Clone(why)
			}
		},
	}
	out, err := encode.RunSources(context.Background(), []mmapelf.Source{in}, opt)
	if err != nil {
		return nil, nil, message.NamingFile([]string{in.Path}, err)
	}
	if b, err = btf.ParseShared(out.Bytes(), nil); err != nil {
		out.Close()
		return nil, nil, message.NamingFile([]string{in.Path}, err)
	}
	return b, out.Close, nil
}

// wanted reports whether a site has to be listed.
func (m *inlineCommand) wanted(name []byte, section string, offset uint32) bool {
	if m.asked && (offset != m.point.offset || section != m.point.section && m.point.section != "") {
		return false
	}
	return len(m.names) == 0 || slices.ContainsFunc(m.names, func(n string) bool { return n == string(name) })
}

func (m *inlineCommand) parseAt() (p sitePoint, err error) {
	section, offset, ok := strings.Cut(m.at, "+")
	if ok && section != "" {
		n, err := strconv.ParseUint(offset, 0, 32)
		if err != nil {
			return p, usagef("--at: '%s' is not an offset", message.OneLine(offset))
		}
		if m.code == nil || m.code.hasSection(section) {
			return sitePoint{section, uint32(n)}, nil
		}
		switch places := m.code.inFunction(section, n); len(places) {
		case 1:
			return places[0], nil
		case 0:
			return p, fmt.Errorf("%s: no section with code and no function has %s", message.OneLine(m.code.path), message.OneLine(m.at))
		default:
			return p, fmt.Errorf("%s: %d functions have %s; give --at=SECTION+OFFSET", message.OneLine(m.code.path), len(places), message.OneLine(m.at))
		}
	}
	addr, err := strconv.ParseUint(m.at, 0, 64)
	if err != nil {
		if addr, err = strconv.ParseUint(m.at, 16, 64); err != nil {
			return p, usagef("--at: '%s' is neither an address nor SECTION+OFFSET nor FUNCTION+OFFSET", message.OneLine(m.at))
		}
	}
	if m.code == nil {
		return p, errors.New("--at: BTF has no addresses; give --elf=VMLINUX, or --at=SECTION+OFFSET")
	}
	if p, ok = m.code.pointAt(addr); !ok {
		return p, fmt.Errorf("%s: no section with code at %#x", message.OneLine(m.code.path), addr)
	}
	return p, nil
}

// listedSite prepares a site for the output.
func (m *inlineCommand) listedSite(s *sites.Site) listedSite {
	l := listedSite{Function: s.Func, Section: s.Section, Offset: s.Offset, Params: []listedPlace{}}
	if m.code != nil {
		l.Address, l.Symbol = m.code.describe(s.Section, s.Offset)
	}
	why := m.why[siteKey{s.Func, s.Section, s.Offset}]
	for i, p := range s.Params {
		one := listedPlace{Name: p.Name}
		switch {
		case p.Place != nil:
			one.Place, one.Size = btf.LocText(p.Place), p.Place.Third()
		case i < len(why):
			one.Missing = why[i]
		default:
			one.Missing = "not available"
		}
		l.Params = append(l.Params, one)
	}
	return l
}

// text returns the list for people.
func (m *inlineCommand) text() []byte {
	var out []byte
	for i := range m.listed {
		s := &m.listed[i]
		out = fmt.Appendf(out, "%s at %s+%#x", message.OneLine(s.Function), message.OneLine(s.Section), s.Offset)
		if s.Address != "" {
			out = fmt.Appendf(out, ", %s", s.Address)
		}
		if s.Symbol != "" {
			out = fmt.Appendf(out, ", in %s", message.OneLine(s.Symbol))
		}
		out = append(out, '\n')
		for _, p := range s.Params {
			if p.Place != "" {
				out = fmt.Appendf(out, "\t%s: %s\n", message.OneLine(p.Name), p.Place)
			} else {
				out = fmt.Appendf(out, "\t%s: missing: %s\n", message.OneLine(p.Name), p.Missing)
			}
		}
	}
	return out
}
