package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

var (
	helpLine   = regexp.MustCompile(`(?m)^ +((?:-[A-Za-z], )*)--([a-z0-9_]+)((?:, --[a-z0-9_]+)*)(?:(\[?=).*|  .*)?$`)
	otherNames = regexp.MustCompile(`--([a-z0-9_]+)`)
)

// TestEveryOptionOfPahole: btflite takes every option that pahole 1.32 lists, with
// an argument where pahole has one. testdata/pahole-options.txt is that list: an
// option a line, "=" for an argument, "[=" for an optional one.
func TestEveryOptionOfPahole(t *testing.T) {
	const list = "testdata/pahole-options.txt"
	if path := corpus.Pahole(); path != "" {
		help, err := exec.Command(path, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		help = bytes.ReplaceAll(help, []byte("  -Z, --ctf_encode "), nil) // refused by pahole itself
		for _, m := range helpLine.FindAllStringSubmatch(string(help), -1) {
			b.WriteString(m[1] + "--" + m[2] + m[4] + "\n")
			for _, other := range otherNames.FindAllStringSubmatch(m[3], -1) {
				b.WriteString("--" + other[1] + m[4] + "\n")
			}
		}
		golden(t, filepath.Base(list), b.String())
	}
	cmd := wholeTree(newCLI(io.Discard, io.Discard, os.LookupEnv))
	flags := cmd.Flags()
	n := 0
	for line := range strings.Lines(string(testfile.Read(t, list))) {
		n++
		letter, name, both := strings.Cut(strings.TrimSpace(line), ", ")
		if !both {
			letter, name = "", letter
		}
		name, optional := strings.CutSuffix(name, "[=")
		name, required := strings.CutSuffix(name, "=")
		f, err := lookupLong(cmd, strings.TrimPrefix(name, "--"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if letter != "" && lookupLetter(flags, letter[1]) != f {
			t.Errorf("%s is not %s", letter, name)
		}
		if toggle := isToggle(f); toggle == (optional || required) || !toggle && (f.NoOptDefVal != "") != optional {
			t.Errorf("%s: it has no argument, may have one, must have one: not as in pahole (%s)", name, strings.TrimSpace(line))
		}
	}
	if n < 80 {
		t.Errorf("%d options, pahole has more", n)
	}
}

// TestLikePahole: pahole and btflite take or refuse the same command lines, with
// getopt_long's words, and find the same output file and features in them.
func TestLikePahole(t *testing.T) {
	path := corpus.Pahole()
	if path == "" {
		t.Skip("no pahole 1.32 (BTFLITE_PAHOLE) to compare with")
	}
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "in"), testfile.Read(t, "../../testdata/small/small"))
	t.Chdir(dir)
	lines := []string{
		"-J --btf_encode_detached=out in", "in -J --btf_encode_detached=out", "in --btf_encode_detached out",
		"-J --btf_encode_d=out in", "-J --btf_encode_det out in", "-J --btf_encode_detached=out -- in",
		"-Jj --btf_encode_detached=out in", "-Jj2 --btf_encode_detached=out in", "-J -j2 --btf_encode_detached=out in",
		"-J --jobs --btf_encode_detached=out in", "-J --jobs=2 --btf_encode_detached=out in", "-J --jo=2 --btf_encode_detached=out in",
		"-qJ --btf_encode_detached=out in", "-J --quie --btf_encode_detached=out in",
		"-F dwarf --btf_encode_detached=out in", "-Fdwarf --btf_encode_detached=out in", "--format_path=dwarf --btf_encode_detached=out in",
		"-X none/ --btf_encode_detached=out in", "-Xnone/ --btf_encode_detached=out in", "--cu_ex none/ --btf_encode_detached=out in",
		"--btf_features=default --btf_encode_detached=out in", "--btf_features default --btf_encode_detached=out in",
		"--features=float --btf_encode_detached=out in", "--btf_features=float --btf_features=enum64 --btf_encode_detached=out in",
		"--btf_features=layout,inline,float --btf_encode_detached=out in", "--btf_features=+global_var --btf_encode_detached=out in",
		"--btf_gen_fl --btf_encode_detached=out in", "--skip_encoding_btf_v --btf_encode_detached=out in",
		"--btf_encode_detached=no --btf_encode_detached=out in", "--lang=c11 --lang=c99 --btf_encode_detached=out in",
		"--bogus", "--btf_enc", "--btf_feature=var", "--btf-encode", "--lang", "-J --btf_encode_detached", "-X", "-J --lang_exclude",
		"--version=3", "--btf_encode=1 in", "--verbose=x", "--bogus=3", "-JY in", "-Jj2V9 --lang",
		"--version", "--numeric_version", "--supported_btf_features", "--numeric", "-J --numeric_version in",
	}
	c, _, _ := testCLI(t)
	newShow(c).command().Flags().VisitAll(func(f *pflag.Flag) {
		letter := f.Shorthand
		switch {
		case letter == "" || strings.Contains("FX", letter): // above
		case isToggle(f):
			lines = append(lines, "-J"+letter+" --btf_encode_detached=out in")
		default:
			lines = append(lines, "-J -"+letter+" 1 --btf_encode_detached=out in", "-J -"+letter+"1 --btf_encode_detached=out in")
		}
	})
	for _, line := range lines {
		want := tried(t, exec.Command(path, strings.Fields(line)...))
		if line == "--supported_btf_features" { // over libbpf 1.7 it does not tell of layout
			want.stdout = strings.Replace(want.stdout, "true_signature,force", "true_signature,layout,force", 1)
		}
		var stdout, stderr bytes.Buffer
		c = newCLI(&stdout, &stderr, func(string) (string, bool) { return "", false })
		got := trialOf(t, c.run(append([]string{"--btf_compat=libbpf-1.7"}, strings.Fields(line)...)), &stdout, &stderr)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%.120v; pahole:\n%.120v", line, got, want)
		}
	}
}

// trial is the outcome of a command line. message is the first line on standard error
// without the program's name and without a hint; it is empty for success.
type trial struct {
	status          int
	stdout, message string
	out             []byte // contents of the file out, nil if there is none
}

func tried(t *testing.T, cmd *exec.Cmd) trial {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return trialOf(t, cmd.ProcessState.ExitCode(), &stdout, &stderr)
}

// trialOf is the trial of a run in the current folder, whose outputs it
// removes.
func trialOf(t *testing.T, status int, stdout, stderr *bytes.Buffer) trial {
	o := trial{status: status, stdout: stdout.String()}
	if status != 0 {
		line, _, _ := strings.Cut(stderr.String(), "\n")
		_, o.message, _ = strings.Cut(line, ": ")
		o.message, _, _ = strings.Cut(o.message, "; did you")
	}
	o.out, _ = os.ReadFile("out")
	for _, name := range []string{"out", "no"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return o
}
