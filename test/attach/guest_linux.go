package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/kernelbtf"
)

const tracing = "/sys/kernel/tracing/"

func mount(dir, fs string) {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = unix.Mount(fs, dir, fs, 0, "")
	}
	if err != nil {
		fmt.Println("RESULT error", dir, err)
	}
}

// guest does the work of the first process.
func guest() {
	mount("/dev", "devtmpfs")
	mount("/sys", "sysfs")
	mount(tracing, "tracefs")
	var u unix.Utsname
	_ = unix.Uname(&u) // the line below would be empty
	fmt.Println("RESULT release", unix.ByteSliceToString(u.Release[:]))
	insertModules()
	if err := tryAll(); err != nil {
		fmt.Println("RESULT error", err)
	}
	fmt.Println("RESULT end")
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // qemu ends: -no-reboot
	select {}
}

// insertModules loads the modules.
func insertModules() {
	files, _ := filepath.Glob("/modules/*.ko") // the pattern is well-formed
	for _, file := range files {
		f, err := os.Open(file)
		if err == nil {
			err = unix.FinitModule(int(f.Fd()), "", 0)
			f.Close()
		}
		if err != nil {
			fmt.Println("RESULT error", filepath.Base(file), err)
		}
	}
}

// tryAll tries all lines of /lines.
func tryAll() error {
	f, err := os.Open("/lines")
	if err != nil {
		return err
	}
	defer f.Close()
	kernel, err := newFunctions("vmlinux", nil)
	if err != nil {
		return err
	}
	known := map[string]*functions{"-": kernel}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 {
			return fmt.Errorf("a line of %d words: %s", len(words), lines.Text())
		}
		module, name := words[2], words[3]
		set := known[module]
		if set == nil {
			if set, err = newFunctions(module, kernel.blob); err != nil {
				return err
			}
			known[module] = set
		}
		switch words[1] {
		case "fentry":
			err = set.tryTrace(name, false)
		case "fexit":
			err = set.tryTrace(name, true)
		default:
			err = set.tryProbe(name)
		}
		verdict := "wrong"
		if _, there := set.ids[name]; words[0] == "absent" && there {
			verdict = "other"
		} else if (err == nil) == (words[0] == "yes") {
			verdict = "right"
		}
		fmt.Printf("RESULT %s %s: %v\n", verdict, lines.Text(), err)
	}
	return lines.Err()
}

// functions are the functions in the BTF of the kernel or of a module.
type functions struct {
	blob   *btf.Blob
	module string // "" for the kernel
	ids    map[string]uint32
}

func newFunctions(name string, base *btf.Blob) (*functions, error) {
	data, err := os.ReadFile("/sys/kernel/btf/" + name)
	if err != nil {
		return nil, err
	}
	b, err := btf.Parse(data, base)
	if err != nil {
		return nil, err
	}
	f := &functions{blob: b, ids: map[string]uint32{}}
	if base != nil {
		f.module = name
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindFunc {
			f.ids[b.Name(b.Record(id)[0])] = id
		}
	}
	return f, nil
}

var errNoFunction = errors.New("not in the kernel's BTF")

func (f *functions) tryTrace(name string, exit bool) error {
	id, ok := f.ids[name]
	if !ok {
		return errNoFunction
	}
	return kernelbtf.TryTrace(id, f.module, exit)
}

// tryProbe sets a kprobe and takes it away.
func (f *functions) tryProbe(symbol string) error {
	if f.module != "" {
		symbol = f.module + ":" + symbol
	}
	if err := write("kprobe_events", "p:advice/probe "+symbol+"\n"); err != nil {
		return err
	}
	err := write("events/advice/probe/enable", "1")
	return errors.Join(err, write("events/advice/probe/enable", "0"), write("kprobe_events", "-:advice/probe\n"))
}

// write writes to a file of tracefs.
func write(name, text string) error {
	f, err := os.OpenFile(tracing+name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
