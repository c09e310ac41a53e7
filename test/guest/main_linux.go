// Guest is the first process of a guest of scripts/kernel-matrix.sh. It shows what the
// kernel makes of its BTF and of that of its modules, in lines that begin with RESULT, and ends
// the guest:
//
//	release 7.2.13
//	btf vmlinux SHA256             the contents of /sys/kernel/btf/vmlinux
//	insmod overlay                 or what the kernel says against it
//	btf overlay SHA256
//	count - path_put 14 63         calls that a BPF program has counted, and its sum
//	log TEXT                       a line of the kernel's log about BTF or BPF
//	end
//
// The file /trace names functions that BPF programs are attached to, one in a line: a module or
// "-", a function, and members that lead from its first argument to a number, which the program
// adds up. Places of members come from the running kernel's BTF, as with CO-RE. The functions
// are called by statfs of a file on an overlay.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest: runs only as the first process of a guest, see scripts/kernel-matrix.sh")
		os.Exit(2)
	}
	guest()
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // qemu ends: -no-reboot
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	select {}
}

func result(words ...any) { fmt.Println(append([]any{"RESULT"}, words...)...) }

// guest does everything but ending the guest.
func guest() {
	for dir, fs := range map[string]string{"/proc": "proc", "/sys": "sysfs"} {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = unix.Mount(fs, dir, fs, 0, "")
		}
		if err != nil {
			result("error", dir, err)
		}
	}
	var u unix.Utsname
	_ = unix.Uname(&u) // the line below would be empty
	result("release", unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:]))
	showBTF("vmlinux")
	files, _ := filepath.Glob("/modules/*.ko") // the pattern is well-formed
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ko")
		if err := insert(file); err != nil {
			result("insmod", name, err)
			continue
		}
		result("insmod", name)
		showBTF(strings.ReplaceAll(name, "-", "_"))
	}
	if err := countCalls(); err != nil {
		result("error", err)
	}
	showLog()
	result("end")
}

// showBTF shows the checksum of a file in /sys/kernel/btf.
func showBTF(name string) {
	data, err := os.ReadFile("/sys/kernel/btf/" + name)
	if err != nil {
		result("error", err)
		return
	}
	result("btf", name, fmt.Sprintf("%x", sha256.Sum256(data)))
}

// insert loads a module.
func insert(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return unix.InitModule(data, "")
}

// showLog shows what the kernel's log says of BTF and BPF.
func showLog() {
	const readAll = 3 // SYSLOG_ACTION_READ_ALL
	text := make([]byte, 1<<20)
	n, err := unix.Klogctl(readAll, text)
	if err != nil {
		result("error", "log:", err)
		return
	}
	for line := range strings.Lines(string(text[:n])) {
		if lower := strings.ToLower(line); strings.Contains(lower, "btf") || strings.Contains(lower, "bpf") {
			result("log", strings.TrimSpace(line))
		}
	}
}
