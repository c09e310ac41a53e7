// Command mkdict prints the dictionary of names of unit records: the names that many
// units of the given files use, in the order in which the units use them.
//
//	go run ./bench/mkdict -units=8 VMLINUX... > internal/unitrecord/names.txt
//	go test ./internal/unitrecord -run TestIndex -update
//
// The files are kernels with DWARF, each as it comes from the linker. A new dictionary
// needs a new number (unitrecord.Dictionary): records made with another one cannot be
// read.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/mmapelf"
)

// counter counts in how many units a name is used.
type counter struct {
	units map[string]int
	order []string // as they came
}

func main() {
	units := flag.Int("units", 8, "print names that at least `N` units use")
	flag.Parse()
	c := &counter{units: make(map[string]int)}
	for _, path := range flag.Args() {
		if err := c.file(path); err != nil {
			fmt.Fprintln(os.Stderr, "mkdict:", err)
			os.Exit(1)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, name := range c.order {
		if c.units[name] >= *units {
			fmt.Fprintln(out, name)
		}
	}
}

// file counts the names of a file.
func (c *counter) file(path string) error {
	limit := new(arena.Limit)
	table := new(names.Table)
	table.Use(names.NewPool(nil, limit))
	defer table.FreePool()
	f, err := debuginfo.Open(&mmapelf.Source{Path: path}, debuginfo.Settings{
		Names: table, ByText: true, Limit: limit, Workers: 1, Scarce: func(uint64) bool { return false },
	})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Load(true); err != nil {
		return err
	}
	in := unit.Input{File: f, ArrayIndex: new(atomic.Uint32), Limit: limit,
		Options: unit.Options{Float: true, DeclTag: true, TypeTag: true, Enum64: true}}
	r := unit.Reader{In: &in}
	r.Init(limit)
	defer r.Free()
	for r.Cursor.Seq = -1; ; {
		r.Reset()
		if ok, err := f.Next(&r.Cursor); !ok {
			return err
		}
		if r.Cursor.Hdr.IsType() {
			continue
		}
		p, skip, err := r.Start()
		if err != nil {
			return err
		}
		if skip || r.Cursor.Abbrevs.Cross() {
			continue
		}
		if err := r.ReadLinked(p); err != nil {
			return err
		}
		c.unit(&r)
	}
}

// unit counts the names of a unit, in the order in which a record has them.
func (c *counter) unit(r *unit.Reader) {
	seen := make(map[dedup.Name]bool)
	use := func(t dedup.Name) {
		if t == 0 || seen[t] {
			return
		}
		seen[t] = true
		text := string(r.Cursor.File.Names.Text(t))
		if c.units[text] == 0 {
			c.order = append(c.order, text)
		}
		c.units[text]++
	}
	for i := range r.Unit.Types.Nodes.S {
		n := &r.Unit.Types.Nodes.S[i]
		use(n.Name)
		switch btf.InfoKind(n.Info) {
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
			for _, m := range r.Unit.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)] {
				use(m.Name)
			}
		}
	}
	for i := range r.Unit.Funcs.S {
		use(r.Unit.Funcs.S[i].Name)
	}
	for i := range r.Unit.Params.S {
		use(r.Unit.Params.S[i].Name)
	}
}
