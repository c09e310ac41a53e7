// Btfload asks a kernel for its verdict on files of BTF.
//
//	btfload -write=DIR     write the examples of package releasetest to DIR
//	btfload FILE...        load each and print what the kernel says
//
// As the first process of a guest (scripts/verify-kernels.sh) it loads all files
// of /btf, runs the tests of package verify that ask the kernel, if they are
// there, and ends the guest. Lines of results begin with RESULT.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf/verify/releasetest"
	"github.com/btflite/btflite/internal/kernelbtf"
)

func main() {
	if os.Getpid() == 1 {
		guest()
		return
	}
	dir := flag.String("write", "", "write the examples to this folder")
	flag.Parse()
	if *dir != "" {
		if err := write(*dir); err != nil {
			fmt.Fprintln(os.Stderr, "btfload:", err)
			os.Exit(1)
		}
		return
	}
	load(flag.Args())
}

// write writes the examples that stand alone: BPF_BTF_LOAD takes no split BTF.
func write(dir string) error {
	for _, e := range releasetest.Examples() {
		if e.Base != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name+".btf"), e.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// load prints the kernel's verdict on each file.
func load(files []string) {
	for _, file := range files {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			fmt.Println("RESULT error", err)
			continue
		}
		switch err := kernelbtf.Load(data); {
		case err == nil:
			fmt.Println("RESULT ok", name)
		case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSYS):
			fmt.Println("RESULT error", name, err)
		default:
			fmt.Printf("RESULT refused %s: %v: %s\n", name, err, kernelbtf.Log(data))
		}
	}
}

// tests is package verify's test program, in a folder of a tree that has its
// test data.
const tests = "/src/btf/verify/verify.test"

func mount(dir, fs string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return unix.Mount(fs, dir, fs, 0, "")
}

// guest does the work of the first process.
func guest() {
	var u unix.Utsname
	_ = unix.Uname(&u) // the lines below would be empty
	for dir, fs := range map[string]string{"/dev": "devtmpfs", "/tmp": "tmpfs"} {
		if err := mount(dir, fs); err != nil {
			fmt.Println("RESULT error", dir, err)
		}
	}
	fmt.Println("RESULT release", unix.ByteSliceToString(u.Release[:]))
	fmt.Println("RESULT version", unix.ByteSliceToString(u.Version[:]))
	files, _ := filepath.Glob("/btf/*") // the pattern is well-formed
	load(files)
	if _, err := os.Stat(tests); err == nil {
		cmd := exec.Command(tests, "-test.run=Kernel", "-test.v")
		cmd.Dir = filepath.Dir(tests)
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			fmt.Print("RESULT test ", line)
		}
		if err != nil {
			fmt.Println("RESULT tests failed:", err)
		} else {
			fmt.Println("RESULT tests passed")
		}
	}
	fmt.Println("RESULT end")
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // qemu ends: -no-reboot
	select {}
}
