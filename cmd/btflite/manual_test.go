package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManualPage: btflite.1 is what the tables say; -update rewrites it.
func TestManualPage(t *testing.T) {
	c, stdout, _ := testCLI(t)
	if status := c.run([]string{"manual"}); status != exitOK {
		t.Fatalf("status %d", status)
	}
	golden(t, "../../../btflite.1", stdout.String())
	for _, cmd := range commands {
		for _, o := range cmd.options {
			if o.long[0] != "cu_limit" && !strings.Contains(stdout.String(), roff(o.name())) {
				t.Errorf("%s is not in the manual page", o.name())
			}
		}
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("no man to read the page with")
	}
	cmd := exec.Command("man", "--warnings", "-l", "../../btflite.1")
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
	var text, warnings bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &warnings
	if err := cmd.Run(); err != nil || warnings.Len() > 0 {
		t.Errorf("man: %v %s", err, &warnings)
	}
	for _, want := range []string{"--memory_limit=SIZE", "-X, --cu_exclude=PREFIX", "--skip_encoding_btf_enum64"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

func TestCompletionsAreGoldenAndParse(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		c, stdout, _ := testCLI(t)
		if status := c.run([]string{"completion", shell}); status != exitOK {
			t.Fatalf("%s: status %d", shell, status)
		}
		golden(t, "completion."+shell, stdout.String())
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("no %s to try its script", shell)
			continue
		}
		if out, err := exec.Command(shell, "-n", filepath.Join("testdata", "completion."+shell)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"manual", "x"}} {
		c, _, _ := testCLI(t)
		if status := c.run(args); status != exitUsage {
			t.Errorf("%v: status %d", args, status)
		}
	}
}

// TestBashCompletes runs the script in bash.
func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	file, err := filepath.Abs("testdata/completion.bash")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"btflite --btf_encode_d": "--btf_encode_detached=",
		"btflite -J x --lang_e":  "--lang_exclude=",
		"btflite ded":            "dedup",
		"btflite dedup --bt":     "--btf_base=",
		"btflite dedup --jobs":   "",
	} {
		script := `compopt() { :; }; source "$0"
			COMP_WORDS=(` + line + `); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _btflite; echo "${COMPREPLY[*]}"`
		cmd := exec.Command("bash", "-c", script, file)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v; want %q", line, out, err, want)
		}
	}
}
