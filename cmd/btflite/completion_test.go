package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
)

// TestCompletion: the scripts are as their shells take them, and btflite knows
// commands, options and values.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, _ := btfliteRun(t, exitOK, "completion", shell)
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("no %s to try its script", shell)
			continue
		}
		cmd := exec.Command(shell, "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"manual", "x", "y"}} {
		btfliteRun(t, exitUsage, args...)
	}
	for line, want := range map[string]string{
		"ver":                              "verify version",
		"--btf_encode_d":                   "--btf_encode_detached",
		"-J -j4 x --lang_e":                "--lang_exclude",
		"dedup --bt":                       "--btf_base",
		"dedup --jobs":                     "",
		"-J --dedup=":                      "auto stream exact",
		"--btf_features=float,decl_tag_kf": "float,decl_tag_kfuncs",
		"--btf_features=+glob":             "+global_var",
		"--btf_features=float,v":           "float,var",
		"--btf_features=float,var,flo":     "",
		"completion f":                     "fish",
		"help so":                          "sort",
		"manual mo":                        "modules",
		"help sort d":                      "",
		"verify --kernel=5.1":              "5.10 5.11 5.12 5.13 5.14 5.15 5.16 5.17 5.18 5.19",
		"-J --lang_exclude=asm,ru":         "asm,rust",
		"modules --btf_sort=":              "canonical name",
		"sort --btf_sort=":                 "canonical name",
	} {
		out, _ := btfliteRun(t, exitOK, append([]string{"__completeNoDesc"}, strings.Fields(line)...)...)
		var got []string
		for l := range strings.Lines(out) {
			if l = strings.TrimSpace(l); !strings.HasPrefix(l, ":") && strings.HasPrefix(l, lastOf(line)) {
				got = append(got, l)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// lastOf returns the start of the value to complete.
func lastOf(line string) string {
	word := line[strings.LastIndex(line, " ")+1:]
	return word[strings.Index(word, "=")+1:]
}

// linkToSelf makes a folder with a link btflite to the test binary, which is the program if
// fakeEncoder is set.
func linkToSelf(t *testing.T) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "btflite")); err != nil {
		t.Skip(err)
	}
	return dir
}

// TestBashCompletes runs the script in bash, which runs btflite.
func TestBashCompletes(t *testing.T) {
	corpus.Installed(t, "bash")
	dir := linkToSelf(t)
	script, _ := btfliteRun(t, exitOK, "completion", "bash")
	// The function is one of the package bash-completion, which may be missing.
	script += `
		_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
		unset -f _init_completion 2>/dev/null; compopt() { :; }
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
		set -- $(complete -p btflite); while [ "$1" != -F ]; do shift; done
		$2; printf '%s ' "${COMPREPLY[@]%% *}"`
	for line, want := range map[string]string{
		"btflite -J x --lang_e": "--lang_exclude",
		"btflite ded":           "dedup",
		"btflite dedup --bt":    "--btf_base",
		"btflite help mod":      "modules",
		"btflite -J --dedup=":   "auto stream exact",

		"btflite -J --btf_features=default,glob":  "default,global_var",
		"btflite -J --btf_features=+float,decl_t": "+float,decl_tag +float,decl_tag_kfuncs",
		"btflite -J --lang_exclude=asm,c11,ru":    "asm,c11,rust",
	} {
		cmd := exec.Command("bash", append([]string{"-c", script, "bash"}, strings.Fields(line)...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fakeEncoder+"=", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v; want %q", line, out, err, want)
		}
	}
}

// TestFishCompletes runs the script in fish, which runs btflite.
func TestFishCompletes(t *testing.T) {
	corpus.Installed(t, "fish")
	dir := linkToSelf(t)
	script, _ := btfliteRun(t, exitOK, "completion", "fish")
	for line, want := range map[string]string{
		"btflite ded":                             "dedup\tmerge BTF and deduplicate it",
		"btflite show --forma":                    "--format\tdraw layouts in FORMAT: html, or svg for one --format_path\tformats to read, LIST of btf and dwarf: the first that FILE has counts; with btf first, -I, -u and -D ask no DWARF",
		"btflite -J --btf_features=default,glob":  "--btf_features=default,global_var --btf_features=default,global_var,",
		"btflite -J --btf_features default,glob":  "default,global_var default,global_var,",
		"btflite -J --btf_features=+float,decl_t": "--btf_features=+float,decl_tag --btf_features=+float,decl_tag_kfuncs",
		"btflite diff --format=m":                 "--format=markdown",
	} {
		cmd := exec.Command("fish", "--no-config", "-c", script+"\ncomplete --do-complete '"+line+"'")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fakeEncoder+"=", "HOME="+dir, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if got := strings.Join(strings.Split(strings.TrimSpace(string(out)), "\n"), " "); err != nil || got != want || said.Len() > 0 {
			t.Errorf("%s: %q, %v %s; want %q", line, got, err, &said, want)
		}
	}
}
