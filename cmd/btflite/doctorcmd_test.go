package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
)

// TestDoctor: what is printed, and the statuses.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir) // no pahole
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("config", "# Linux/x86 6.12.1 Kernel Configuration\nCONFIG_PAHOLE_VERSION=131\nCONFIG_DEBUG_INFO=y\nCONFIG_DEBUG_INFO_BTF=y\nCONFIG_MODULES=y\n")
	stdout, stderr := btfliteRun(t, exitOK, "doctor", config)
	if stdout != config+": warning: CONFIG_DEBUG_INFO_BTF_MODULES is off: modules get no BTF\n    scripts/config -e DEBUG_INFO_BTF_MODULES && make olddefconfig\n" || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	if stdout, _ := btfliteRun(t, exitOK, "doctor", "-q", config); stdout != "" {
		t.Errorf("-q: %s", stdout)
	}
	bad := write("bad", "CONFIG_DEBUG_INFO=y\nCONFIG_DEBUG_INFO_REDUCED=y\n")
	stdout, _ = btfliteRun(t, exitFailure, "doctor", "-q", bad)
	for _, want := range []string{"error: CONFIG_DEBUG_INFO_REDUCED excludes CONFIG_DEBUG_INFO_BTF", "error: no pahole was found"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s, want %s", stdout, want)
		}
	}
	write("pahole", "#!/bin/sh\necho v1.31\n")
	if stdout, _ = btfliteRun(t, exitFailure, "doctor", bad); strings.Contains(stdout, "pahole") {
		t.Errorf("with a pahole: %s", stdout)
	}
	stdout, _ = btfliteRun(t, exitFailure, "doctor", "--json", bad)
	var report struct {
		Kind, Worst string
		Findings    []struct{ ID, Level, What, Cure string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || report.Kind != "config" || report.Worst != "error" || len(report.Findings) != 1 || report.Findings[0].ID != "debug-info-reduced" {
		t.Errorf("%v: %s", err, stdout)
	}
	b := btftest.New()
	b.Int("int", 4)
	good := write("good.btf", string(b.Encode(false)))
	if stdout, _ := btfliteRun(t, exitOK, "doctor", good); stdout != good+": fine: BTF\n" {
		t.Error(stdout)
	}
	for _, args := range [][]string{{filepath.Join(dir, "none")}, {write("text", "hello")}} {
		if _, stderr := btfliteRun(t, exitTrouble, append([]string{"doctor"}, args...)...); !strings.HasPrefix(stderr, "btflite: "+args[0]+": ") || strings.Count(stderr, "\n") != 1 {
			t.Error(stderr)
		}
	}
	btfliteRun(t, exitUsage, "doctor", good, good)
}
