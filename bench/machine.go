package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes where the numbers come from.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Memory  int64  `json:"memory_mib"`
	System  string `json:"system"`
	Kernel  string `json:"kernel"`
	Go      string `json:"go"`
	Pahole  string `json:"pahole"`
	Options string `json:"options"` // what both programs were asked to encode
}

// thisMachine fills in what the system tells; unknown parts stay empty.
func thisMachine() Machine {
	return Machine{
		CPU:    field("/proc/cpuinfo", "model name", ":"),
		Cores:  runtime.NumCPU(),
		Memory: memoryMiB(field("/proc/meminfo", "MemTotal", ":")),
		System: strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Kernel: kernelVersion(firstLine("/proc/sys/kernel/osrelease")),
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// field is the value of the first line "key<separator>value" of a file.
func field(path, key, separator string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		k, v, _ := strings.Cut(lines.Text(), separator)
		if strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// memoryMiB reads "16384 kB".
func memoryMiB(text string) int64 {
	var kib int64
	fmt.Sscan(text, &kib)
	return kib >> 10
}

// kernelVersion is a release without the builder's suffix.
func kernelVersion(release string) string {
	version, _, _ := strings.Cut(release, "-")
	return version
}
