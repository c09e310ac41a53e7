package doctor

import "testing"

// TestPaholeVersions: from which version on a pahole is right for a kernel. Each row has the last version that
// is wrong and what is said about it; the next one has no such finding.
func TestPaholeVersions(t *testing.T) {
	for _, x := range []struct {
		release string
		config  config
		last    int
		want    string
	}{
		{"5.8", config{}, 112, "pahole-old"},
		{"5.9", config{}, 115, "pahole-old"},
		{"6.18", config{}, 115, "pahole-old"},
		{"6.19", config{}, 121, "pahole-old"},
		{"", config{}, 121, "pahole-old"}, // as for the newest kernel
		{"5.11", config{"MODULES": "y"}, 118, "pahole-old-modules"},
		{"6.12", config{"DEBUG_INFO_DWARF5": "y"}, 120, "pahole-dwarf5"},
		{"6.12", config{"DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT": "y", "GCC_VERSION": "110000"}, 120, "pahole-dwarf5"},
		{"6.12", config{"DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT": "y", "CLANG_VERSION": "140000"}, 120, "pahole-dwarf5"},
		{"7.0", config{}, 125, "pahole-old-kfuncs"},
	} {
		for v, want := range map[int]string{x.last: x.want, x.last + 1: ""} {
			e := &exam{report: new(Report), release: x.release}
			e.judgePahole(x.config, v)
			got := ""
			for _, f := range e.report.Findings {
				got = f.ID
			}
			if got != want && (want != "" || got == x.want) {
				t.Errorf("Linux %q, %v, pahole %d: %q, want %q", x.release, x.config, v, got, want)
			}
		}
	}
	for _, x := range []struct {
		release string
		skips   bool
		v       int
		want    int
	}{
		{"5.19", false, 124, 1}, {"5.19", false, 123, 0}, {"6.0", false, 124, 0}, {"5.19", true, 124, 0}, {"", false, 126, 0},
		// Modules have BTF since 5.11, and gcc 10 and clang 13 write DWARF 4.
		{"5.10", false, 118, 0},
	} {
		e := &exam{report: new(Report), release: x.release, skipsEnum64: x.skips}
		e.judgePahole(config{"MODULES": "y", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT": "y", "GCC_VERSION": "109999", "CLANG_VERSION": "139999"}, x.v)
		if len(e.report.Findings) != x.want {
			t.Errorf("Linux %q, pahole %d: %+v", x.release, x.v, e.report.Findings)
		}
	}
}
