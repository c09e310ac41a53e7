package main

import (
	_ "embed"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// programName is the name in messages and help, whatever the file is called.
const programName = "btflite"

// The release of pahole whose bytes and options this program has. Kernel builds parse
// exactly this form.
const (
	paholeVersion        = "v1.32"
	paholeNumericVersion = "132"
)

// The version, the commit and its day, set by the Makefile with -ldflags=-X. They are
// empty in other builds.
var linkedVersion, linkedCommit, linkedDate string

// archived has the tag, the commit and its time in source archives. git archive
// fills the file in; in a checkout it holds placeholders.
//
//go:embed version.txt
var archived string

// newVersionCommand is "btflite version", which prints the source and the tools of this
// build.
func newVersionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Long:    "Print the version of btflite, its commit and day, Go's version and pahole's.",
		Example: "  btflite version",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("version takes no arguments")
			}
			_, err := fmt.Fprintln(c.stdout, versionText(buildInfo()))
			return stdoutError(err)
		},
	}
}

// versionText is one line: version, commit and its day if the build knows them, Go version, and the
// release of pahole that btflite replaces.
func versionText(info *debug.BuildInfo) string {
	parts := []string{"btflite " + sourceOf(info).String()}
	if info.GoVersion != "" {
		parts = append(parts, info.GoVersion)
	}
	return strings.Join(append(parts, "stands in for pahole "+paholeVersion), ", ")
}

// develVersion is the output of --devel_version: pahole's version, as if it were built
// from the archive of a commit. The commit is btflite's. pahole's own tests expect this
// form.
func develVersion() string {
	commit, _, _ := strings.Cut(thisBuild().commit, " ")
	if commit == "" {
		return paholeVersion
	}
	return paholeVersion + "-tarball-g" + commit[:min(12, len(commit))]
}

// buildInfo returns what the go command has recorded in this program, which may be nothing.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return new(debug.BuildInfo)
}

// thisBuild returns the source from which this program was built.
func thisBuild() buildID { return sourceOf(buildInfo()) }

// sourceOf is thisBuild for a program with this info.
func sourceOf(info *debug.BuildInfo) buildID {
	id, inArchive := buildID{linkedVersion, linkedCommit, linkedDate}, archivedID(archived)
	if id.commit == "" {
		id.commit = inArchive.commit // make VERSION=... in an archive
	}
	if id.date == "" {
		id.date = inArchive.date
	}
	return id.or(inArchive).or(vcsID(info))
}

// buildID says from which source a program was built.
type buildID struct {
	version string // as v0.3.0; empty if unknown
	commit  string // empty if unknown
	date    string // the day of the commit, as 2026-11-25; empty if unknown
}

// or returns id, or other if id has no version. It does not mix the two: a
// source archive may lie in a repository that has nothing to do with it.
func (id buildID) or(other buildID) buildID {
	if id.version == "" {
		return other
	}
	return id
}

func (id buildID) String() string {
	switch {
	case id.version == "":
		return "(version unknown: go build recorded none, make build would)"
	case id.commit == "":
		return id.version
	case id.date == "":
		return id.version + ", commit " + id.commit
	}
	return id.version + ", commit " + id.commit + ", " + id.date
}

// archivedID reads version.txt as git archive fills it in: the description by tags (empty
// without a tag), the commit, and its time in seconds. It ignores placeholders that were
// not filled in.
func archivedID(text string) buildID {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 || strings.Contains(lines[1], "$") {
		return buildID{}
	}
	id := buildID{version: lines[0], commit: lines[1]}
	seconds, err := strconv.ParseInt(lines[2], 10, 64)
	if err == nil {
		id.date = dayOf(time.Unix(seconds, 0))
	}
	// An old git leaves this placeholder as it is.
	if id.version == "" || strings.Contains(id.version, "$") {
		if err != nil {
			return buildID{}
		}
		id.version = pseudoVersion(id.commit, time.Unix(seconds, 0))
	}
	return id
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// pseudoVersion returns Go's name for a commit without a tag before it.
func pseudoVersion(commit string, at time.Time) string {
	return "v0.0.0-" + at.UTC().Format("20060102150405") + "-" + commit[:min(12, len(commit))]
}

// vcsID returns what the go command knows about a checkout or a module.
func vcsID(info *debug.BuildInfo) buildID {
	id := buildID{version: info.Main.Version}
	settings := map[string]string{}
	for _, kv := range info.Settings {
		settings[kv.Key] = kv.Value
	}
	id.commit = settings["vcs.revision"]
	at, err := time.Parse(time.RFC3339, settings["vcs.time"])
	if err == nil {
		id.date = dayOf(at)
	}
	if id.version == "(devel)" {
		id.version = ""
		if err == nil && id.commit != "" {
			id.version = pseudoVersion(id.commit, at)
		}
	}
	if settings["vcs.modified"] == "true" && id.commit != "" {
		id.commit += " with changes"
	}
	return id
}
