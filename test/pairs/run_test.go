package pairs

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// timeout is how long a run may take; all inputs are small.
const timeout = 30 * time.Second

// done is what came of a run.
type done struct {
	status int // exit status, -1 if a signal or the timeout ended it
	hung   bool
	stdout string
	stderr string
}

// run runs a program in the folder, with more environment.
func (f *folder) run(env []string, name string, args ...string) done {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = f.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, environment) {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(append(cmd.Env, "LC_ALL=C"), env...)
	err := cmd.Run()
	d := done{hung: ctx.Err() != nil, stdout: stdout.String(), stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		d.status = exit.ExitCode()
	case err != nil:
		d.status, d.stderr = -1, err.Error()
	}
	return d
}

// folder is a folder with copies of the input files of a case.
type folder struct {
	dir   string
	files []string          // their names in dir
	was   map[string]string // the contents of everything in it
}

// lay makes a folder for the case.
func (c *trial) lay() (*folder, error) {
	dir, err := os.MkdirTemp(scratch, "case")
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir}
	for i, name := range c.files {
		k, err := kindOf(name)
		if err != nil {
			return nil, err
		}
		sub := fmt.Sprint(i)
		if err := os.CopyFS(filepath.Join(dir, sub), os.DirFS(k.dir)); err != nil {
			return nil, err
		}
		f.files = append(f.files, sub+"/"+k.main)
	}
	f.was = f.contents()
	return f, nil
}

func (f *folder) remove() { os.RemoveAll(f.dir) }

// contents are all files of the folder by name.
func (f *folder) contents() map[string]string {
	m := map[string]string{}
	filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(f.dir, path)
			m[filepath.ToSlash(rel)] = string(data)
		}
		return err
	})
	return m
}

// changed are the files of the folder that are new, gone or not as they were,
// and makes that what they were.
func (f *folder) changed() (names []string) {
	now := f.contents()
	for name, data := range now {
		if was, ok := f.was[name]; !ok || was != data {
			names = append(names, name)
		}
	}
	for name := range f.was {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	f.was = now
	slices.Sort(names)
	return names
}

// read is the content of a file of the folder, nil if there is none.
func (f *folder) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return nil
	}
	return data
}

// section is a section of an ELF file in the folder, nil if it has none.
func (f *folder) section(file, name string) []byte {
	e, err := elf.Open(filepath.Join(f.dir, file))
	if err != nil {
		return nil
	}
	defer e.Close()
	if s := e.Section(name); s != nil {
		if data, err := s.Data(); err == nil {
			return data
		}
	}
	return nil
}
