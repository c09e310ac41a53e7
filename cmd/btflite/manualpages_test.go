package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/btflite/btflite/docs/man"
	"github.com/btflite/btflite/test/testfile"
)

// manFolder has the pages, and the texts on them that are not about commands and options.
// Text before the first heading belongs to the description.
const manFolder = "../../docs/man"

// manualPage is the page of a command in Markdown.
func manualPage(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var b strings.Builder
	file := man.File(pageName(cmd))
	name := strings.TrimSuffix(file, ".1")
	fmt.Fprintf(&b, "%% \"%s\" \"1\" \"\" \"btflite\" \"User Commands\"\n# NAME\n\n%s - %s\n\n", strings.ToUpper(name), name, plainText(cmd.Short))
	fmt.Fprintf(&b, "# SYNOPSIS\n\n%s\n\n", synopsis(cmd.UseLine()))
	if !cmd.HasParent() {
		fmt.Fprintf(&b, "%s\n\n", synopsis("btflite COMMAND [OPTION...] [FILE...]"))
	}
	text, err := os.ReadFile(filepath.Join(manFolder, name+".md"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	more, sections := string(text), ""
	if i := strings.Index("\n"+more, "\n# "); i >= 0 {
		more, sections = more[:i], more[i:]
	}
	if !strings.Contains("\n"+sections, "\n# EXIT STATUS\n") && name != "btflite-cc" { // which has the compiler's
		sections += "\n# EXIT STATUS\n\n0\n:   Done.\n\n1\n:   It could not be done.\n\n64\n:   The command line is wrong.\n"
	}
	command := ""
	if cmd.HasParent() {
		command = cmd.Name()
	}
	if variables := environmentOf(command); variables != nil {
		sections += "\n# ENVIRONMENT\n\n"
		for _, v := range variables {
			text := plainText(v.text)
			if command == "" && v.commands != "" {
				text = "(" + strings.ReplaceAll(v.commands, " ", ", ") + ") " + text
			}
			sections += "**" + plainText(v.name) + "**\n:   " + text + "\n\n"
		}
	}
	b.WriteString("# DESCRIPTION\n\n")
	if cmd.HasParent() {
		b.WriteString(plainText(cmd.Long) + "\n\n")
	}
	b.WriteString(more + "\n")
	if !cmd.HasParent() {
		b.WriteString("# COMMANDS\n\n")
		for _, sub := range cmd.Commands() {
			fmt.Fprintf(&b, "**%s**\n:   %s\n\n", sub.Name(), plainText(sub.Short))
		}
	}
	b.WriteString("# OPTIONS\n\n" + manualOptions(cmd))
	b.WriteString("# EXAMPLES\n\n")
	for line := range strings.Lines(cmd.Example) {
		b.WriteString("    " + strings.TrimPrefix(line, "  "))
	}
	b.WriteString("\n\n" + sections + "\n# SEE ALSO\n\n")
	b.WriteString(strings.Join(seeAlso(cmd), ", ") + "\n")
	return plainRoff(string(md2man.Render([]byte(b.String()))))
}

// plainRoff makes hyphens what people type, and leaves words in one piece, so that
// options can be searched for and copied.
func plainRoff(page string) string {
	page = strings.ReplaceAll(strings.ReplaceAll(page, `\-`, "-"), "-", `\-`)
	before, after, _ := strings.Cut(strings.TrimPrefix(page, ".nh\n"), "\n")
	return before + "\n.nh\n" + after
}

// manualOptions are the options of cmd under their headings.
func manualOptions(cmd *cobra.Command) string {
	var b strings.Builder
	for _, g := range groupsOf(cmd) {
		fmt.Fprintf(&b, "### %s\n\n", plainText(g.heading))
		for _, f := range g.options {
			_, help := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, "%s\n:   %s\n\n", synopsis(strings.TrimSpace(optionColumn(f))), plainText(help))
		}
	}
	var printing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden && hasCompat(cmd) && f.Name != "cu_limit" {
			printing = append(printing, "**--"+f.Name+"**")
		}
	})
	if printing != nil {
		fmt.Fprintf(&b, "These options of pahole shape how types are printed. Encoding ignores them with a warning:\n%s.\n\n", strings.Join(printing, ", "))
	}
	return b.String()
}

// seeAlso returns the pages that are related to the page of cmd.
func seeAlso(cmd *cobra.Command) []string {
	if cmd.HasParent() {
		return []string{"**btflite**(1)"}
	}
	var pages []string
	for _, sub := range cmd.Commands() {
		pages = append(pages, "**btflite-"+sub.Name()+"**(1)")
	}
	return append(pages, "**pahole**(1)", "**bpftool-btf**(8)")
}

var synopsisWord = regexp.MustCompile(`[\w-]*\w(\.1\.7|-1\.7)?`)

// synopsis shows placeholders, which are in capitals, in italics and all else in
// bold.
func synopsis(s string) string {
	s = synopsisWord.ReplaceAllStringFunc(s, func(w string) string {
		if w == strings.ToUpper(w) && !strings.HasPrefix(w, "-") {
			return "*" + w + "*"
		}
		return "**" + w + "**"
	})
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(s)
}

var markdown = strings.NewReplacer("*", `\*`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`", "_", `\_`)

// plainText is text in which Markdown means nothing.
func plainText(s string) string { return markdown.Replace(s) }

// TestManualPages: the pages agree with the commands; -update rewrites them.
func TestManualPages(t *testing.T) {
	root := wholeTree(newCLI(io.Discard, io.Discard, os.LookupEnv))
	want := map[string]bool{}
	for _, cmd := range append(root.Commands(), root) {
		file := man.File(pageName(cmd))
		want[file] = true
		page := manualPage(t, cmd)
		golden(t, filepath.Join("..", manFolder, file), page)
		for _, heading := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"} {
			if !strings.Contains(page, ".SH "+heading+"\n") {
				t.Errorf("%s: no section %s", file, heading)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^\.SH .*\n`).FindAllString(page, -1) {
			if n := strings.Count(page, m); n > 1 {
				t.Errorf("%s: %d times %s", file, n, m)
			}
		}
		checkShown(t, cmd, filepath.Join(manFolder, file))
	}
	files, err := filepath.Glob(filepath.Join(manFolder, "*.1"))
	if err != nil || len(files) != len(want) {
		t.Errorf("%v: %d pages, want %d", err, len(files), len(want))
	}
	text := testfile.Read(t, filepath.Join(manFolder, "btflite.md"))
	for _, f := range features {
		if !bytes.Contains(text, []byte("\n"+f.name+"\n:   ")) {
			t.Errorf("feature %s is not explained", f.name)
		}
	}
}

// checkShown reads the page with man: without warnings, and with all options.
func checkShown(t *testing.T, about *cobra.Command, page string) {
	if _, err := exec.LookPath("man"); err != nil {
		return
	}
	cmd := exec.Command("man", "--warnings", "-l", page)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=200", "MANPAGER=cat")
	var text, warnings bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &warnings
	if err := cmd.Run(); err != nil || warnings.Len() > 0 {
		t.Errorf("%s: man: %v %s", page, err, &warnings)
	}
	about.Flags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if !f.Hidden {
			name = strings.TrimSpace(optionColumn(f))
		}
		if (!f.Hidden || hasCompat(about) && f.Name != "cu_limit") && !strings.Contains(text.String(), name) {
			t.Errorf("%s does not show %s", page, name)
		}
	})
}

// pageName is the name of a command's page, for package man.
func pageName(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return cmd.Name()
}

// TestManual: btflite manual prints the pages. A source archive knows its version, which would be in
// the footers.
func TestManual(t *testing.T) {
	for _, args := range [][]string{nil, {"verify"}, {"manual"}} {
		name := ""
		if args != nil {
			name = args[0]
		}
		out := withSource("", "", "", func() string {
			out, _ := btfliteRun(t, exitOK, append([]string{"manual"}, args...)...)
			return out
		})
		if out != string(testfile.Read(t, filepath.Join(manFolder, man.File(name)))) {
			t.Errorf("manual %v: not the page", args)
		}
	}
	btfliteRun(t, exitUsage, "manual", "none")
}
