package main

import (
	"fmt"
	"runtime/debug"
)

// The release of pahole whose bytes and options this program gives. Kernel
// builds parse exactly this form.
const (
	paholeVersion        = "v1.32"
	paholeNumericVersion = "132"
)

// runVersion is "btflite version": what was built, from what, with what.
func (c *cli) runVersion(args []string) error {
	if len(args) > 0 {
		return usagef("version takes no arguments")
	}
	_, err := fmt.Fprintln(c.stdout, versionText(debug.ReadBuildInfo()))
	return stdoutError(err)
}

// versionText is one line: version, commit if the build knows it, Go version.
func versionText(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "btflite (no build information), does the job of pahole " + paholeVersion
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	s := "btflite " + version
	revision, modified := "", ""
	for _, kv := range info.Settings {
		switch {
		case kv.Key == "vcs.revision":
			revision = kv.Value
		case kv.Key == "vcs.modified" && kv.Value == "true":
			modified = " with changes"
		}
	}
	if revision != "" {
		s += ", commit " + revision + modified
	}
	return s + ", " + info.GoVersion + ", does the job of pahole " + paholeVersion
}
