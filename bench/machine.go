package main

import (
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
	var memory int64 // KiB
	fmt.Sscan(field("/proc/meminfo", "MemTotal", ":"), &memory)
	kernel, _, _ := strings.Cut(firstLine("/proc/sys/kernel/osrelease"), "-") // without the builder's suffix
	return Machine{
		CPU:    field("/proc/cpuinfo", "model name", ":"),
		Cores:  runtime.NumCPU(),
		Memory: memory >> 10,
		System: strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Kernel: kernel,
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// field is the value of the first line "key<separator>value" of a file.
func field(path, key, separator string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		k, v, _ := strings.Cut(line, separator)
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
