package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wantsFile matches the error of a command that cannot read an input from a pipe.
var wantsFile = regexp.MustCompile(`(not a regular file|is not a file|neither a file nor a folder)`)

// TestInputsFromPipes: each input of each command that reads BTF may be a pipe, and the command says the
// same as of a file, or says that it wants a file. A pipe that is opened a second time is empty.
func TestInputsFromPipes(t *testing.T) {
	dir := t.TempDir()
	read, refused := 0, 0
	for _, d := range kindsFiles(t) {
		if strings.HasSuffix(d.name, "true") { // big endian: other bytes, the same files
			continue
		}
		d.put(t, dir)
		for i := range readerLines {
			line := &readerLines[i]
			words := d.words(dir, line)
			want := runOfFiles(dir, words)
			for at := range words {
				pipe := d.pipe(t, dir, words[at])
				if pipe == nil {
					continue
				}
				if strings.Contains(line.words, "--per_program") && strings.HasSuffix(words[at], "prog.bpf.o") { // files get its name
					pipe.Close()
					continue
				}
				other := slices.Clone(d.words(dir, line)) // which removes the outputs
				name := fmt.Sprint("/dev/fd/", pipe.Fd())
				path := words[at][strings.Index(words[at], "/"):]
				other[at] = strings.Replace(words[at], path, name, 1)
				got := runOfFiles(dir, other)
				pipe.Close()
				switch {
				case wantsFile.MatchString(got.errs) && got.status != exitOK:
					refused++
				case got.status != want.status, got.same(name, path) != want.same(name, path):
					t.Errorf("%s: %q: status %d, want %d\n%.300s\nwant\n%.300s", d.name, other, got.status, want.status, got.same(name, path), want.same(name, path))
				default:
					read++
				}
			}
		}
	}
	t.Logf("%d inputs are read from pipes, %d are refused", read, refused)
	if read < 100 || refused == 0 {
		t.Error("this tests too little")
	}
}

// pipe returns the end of a pipe with the file that the word names, or nil if it is not the name of an
// input, or the value of an option with such a name.
func (d *damaged) pipe(t *testing.T, dir, word string) *os.File {
	if at := strings.Index(word, "=/"); strings.HasPrefix(word, "--") && at > 0 {
		word = word[at+1:]
	}
	data, ok := map[string][]byte{d.file: d.data, "good.btf": d.good, "object.o": d.elf, "prog.bpf.o": d.prog, "base.btf": d.base}[strings.TrimPrefix(word, dir+"/")]
	if !ok || len(data) > 1<<16 { // what fits a pipe
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return r
}

// ranOfFiles has the result of a run: its status, what it printed, and the files that it wrote.
type ranOfFiles struct {
	status         int
	out, errs      string
	written, added []byte
}

func runOfFiles(dir string, words []string) (r ranOfFiles) {
	var out, errs bytes.Buffer
	r.status = newCLI(&out, &errs, func(string) (string, bool) { return "", false }).run(words)
	r.out, r.errs = out.String(), errs.String()
	r.written, _ = os.ReadFile(filepath.Join(dir, "out"))
	r.added, _ = os.ReadFile(filepath.Join(dir, "more"))
	return r
}

// measured are lines with what differs from run to run.
var measured = regexp.MustCompile(`(?m)^(time|memory) .*`)

// same is all of it that is always the same, with the name of the pipe replaced.
func (r ranOfFiles) same(pipe, file string) string {
	r.out = measured.ReplaceAllString(r.out, "")
	return strings.ReplaceAll(fmt.Sprintf("%s\n%s\n%x\n%s", r.errs, r.out, r.written, r.added), pipe, file)
}
