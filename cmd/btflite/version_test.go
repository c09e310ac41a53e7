package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionText(t *testing.T) {
	const rest = ", go1.26, stands in for pahole v1.32"
	stamped := func(version string, kv ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: version}}
		for i := 0; i < len(kv); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return info
	}
	for _, tt := range []struct {
		name                    string
		linked, commit, archive string
		info                    *debug.BuildInfo
		want                    string
	}{
		{name: "go install module@version", info: stamped("v0.1.0"), want: "v0.1.0"},
		{name: "go build in a changed checkout", info: stamped("v0.1.0", "vcs.revision", "abc123", "vcs.modified", "true"),
			want: "v0.1.0, commit abc123 with changes"},
		{name: "a commit, but no version", info: stamped("(devel)", "vcs.revision", "0123456789abcdef", "vcs.time", "2026-11-22T10:20:30Z"),
			want: "v0.0.0-20261122102030-0123456789ab, commit 0123456789abcdef, 2026-11-22"},
		{name: "nothing known", info: stamped("(devel)"),
			want: "(version unknown: go build recorded none, make build would)"},
		{name: "make", linked: "v0.1.0-3-gabc", commit: "abc", info: stamped("(devel)"), want: "v0.1.0-3-gabc, commit abc"},
		{name: "make with the version of a package", linked: "1.2-3", info: stamped("v9", "vcs.revision", "def"), want: "1.2-3"},
		{name: "make with the version of a package, in an archive", linked: "1.2-3", archive: "v0.1.0\nabc\n1\n", info: stamped("v9"),
			want: "1.2-3, commit abc, 1970-01-01"},
		{name: "archive of a tag, in another repository", archive: "v0.1.0\nabc\n1\n", info: stamped("v9", "vcs.revision", "def"),
			want: "v0.1.0, commit abc, 1970-01-01"},
		{name: "archive without tags", archive: "\n0123456789abcdef\n1795342830\n", info: stamped("(devel)"),
			want: "v0.0.0-20261122102030-0123456789ab, commit 0123456789abcdef, 2026-11-22"},
		{name: "archive by an old git", archive: "$Format:%(describe)$\n0123456789abcdef\n1795342830\n", info: stamped("(devel)"),
			want: "v0.0.0-20261122102030-0123456789ab, commit 0123456789abcdef, 2026-11-22"},
		{name: "checkout", archive: "$Format:%(describe)$\n$Format:%H$\n$Format:%ct$\n", info: stamped("v0.1.0"), want: "v0.1.0"},
		{name: "damaged archive", archive: "\nabc\nx\n", info: stamped("v0.1.0"), want: "v0.1.0"},
	} {
		got := withSource(tt.linked, tt.commit, tt.archive, func() string { return versionText(tt.info) })
		if want := "btflite " + tt.want + rest; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, want)
		}
	}
	got := withSource("", "", "", func() string { return versionText(new(debug.BuildInfo)) })
	if want := "btflite (version unknown: go build recorded none, make build would), stands in for pahole v1.32"; got != want {
		t.Errorf("without build information: %s", got)
	}
}

// withSource calls fn as in a program that was built from such a source.
func withSource(version, commit, archive string, fn func() string) string {
	v, c, a := linkedVersion, linkedCommit, archived
	defer func() { linkedVersion, linkedCommit, archived = v, c, a }()
	linkedVersion, linkedCommit, archived = version, commit, archive
	return fn()
}
