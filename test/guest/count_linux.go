package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/kernelbtf"
)

// file is a file of the overlay. The length of its name is what some programs add up.
const file = "/all/somename"

const calls = 7

// countCalls attaches programs to the functions of /trace, calls statfs, and shows what they have counted.
func countCalls() error {
	f, err := os.Open("/trace")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if err := mountOverlay(); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	counters := map[string]*kernelbtf.Counter{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 3 {
			return fmt.Errorf("/trace: a line of %d words", len(words))
		}
		c, err := attach(words[0], words[1], words[2:])
		if err != nil {
			result("count", words[0], words[1], err)
			continue
		}
		defer c.Close()
		counters[words[0]+" "+words[1]] = c
	}
	for range calls {
		var st unix.Statfs_t
		if err := unix.Statfs(file, &st); err != nil {
			return err
		}
	}
	for name, c := range counters {
		n, sum, err := c.Read()
		if err != nil {
			return err
		}
		result("count", name, n, sum)
	}
	return nil
}

func mountOverlay() error {
	for _, dir := range []string{"/a", "/b", "/all"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/a"+strings.TrimPrefix(file, "/all"), nil, 0o666); err != nil {
		return err
	}
	return unix.Mount("overlay", "/all", "overlay", 0, "lowerdir=/a:/b")
}

// attach attaches a counter to a function of a module, "-" for the kernel.
func attach(module, function string, members []string) (*kernelbtf.Counter, error) {
	b, err := read("vmlinux", nil)
	if err != nil {
		return nil, err
	}
	if module == "-" {
		module = ""
	} else if b, err = read(module, b); err != nil {
		return nil, err
	}
	v := view.New(b)
	ids := v.Named(function, btf.KindFunc)
	if len(ids) == 0 {
		return nil, fmt.Errorf("no function %s", function)
	}
	offsets, err := path(v.Type(ids[0]), members)
	if err != nil {
		return nil, err
	}
	return kernelbtf.NewCounter(ids[0], module, offsets)
}

func read(name string, base *btf.Blob) (*btf.Blob, error) {
	data, err := os.ReadFile("/sys/kernel/btf/" + name)
	if err != nil {
		return nil, err
	}
	return btf.Parse(data, base)
}

// path finds the places of members, which lead from the first argument of a function to a number. The
// members of structs within structs have one place together.
func path(function view.Type, members []string) (offsets []uint32, err error) {
	at := function.Target().Param(0).Type().Resolved()
	for _, name := range members {
		if at.Kind() == btf.KindPtr {
			at = at.Target().Resolved()
			offsets = append(offsets, 0)
		}
		m, off, ok := member(at, name)
		if !ok || len(offsets) == 0 {
			return nil, fmt.Errorf("%s: no member %s", function.Name(), name)
		}
		offsets[len(offsets)-1] += off
		at = m.Type().Resolved()
	}
	return offsets, nil
}

// member finds a member of a struct, or of those without a name in it. off is in bytes.
func member(t view.Type, name string) (m view.Member, off uint32, ok bool) {
	if !t.IsComposite() {
		return m, 0, false
	}
	for _, m := range t.Members() {
		if string(m.Name()) == name {
			return m, m.Offset / 8, true
		}
		if len(m.Name()) == 0 {
			if inner, off, ok := member(m.Type().Resolved(), name); ok {
				return inner, m.Offset/8 + off, true
			}
		}
	}
	return m, 0, false
}
