package pairs

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
)

// batch encodes the files with the modules command, into files of their own and in
// place, and each by itself: all is the same.
func (j *judge) batch() {
	if len(j.bases) == 0 {
		return
	}
	j.batchDetached()
	j.batchInPlace()
}

// extraSuffix ends the names of files with other variables of a batch.
const extraSuffix = ".vars.btf"

func (j *judge) batchDetached() {
	f, err := j.lay()
	if err != nil {
		return
	}
	defer f.remove()
	args := append(j.batchArgs(), "--btf_encode_detached_dir=batch")
	var may []string
	for _, name := range f.files {
		out := filepath.ToSlash(filepath.Join("batch", name))
		may = append(may, out+".btf", name+extraSuffix, out+extraSuffix)
	}
	extra := j.hasOwn("--extra_vars")
	if extra {
		args = append(args, "--extra_vars")
	}
	d := j.ours(f, "batch", args, may...)
	failed := 0
	for i, name := range f.files {
		out := fmt.Sprintf("single%d.btf", i)
		alone := append(slices.Clone(j.args), "--btf_encode_detached="+out)
		if extra {
			alone = append(alone, "--extra_vars="+out+extraSuffix)
		}
		s := f.run(j.env, program, append(alone, name)...)
		if s.status != 0 {
			failed++
		}
		j.same(f, d, s, filepath.Join("batch", name)+".btf", out)
		if extra {
			got := name + extraSuffix
			if f.read(got) == nil {
				got = filepath.Join("batch", name) + extraSuffix
			}
			j.same(f, d, s, got, out+extraSuffix)
		}
	}
	j.batchStatus(d, failed)
}

// same compares a file of a batch with that of a single run.
func (j *judge) same(f *folder, batch, single done, got, want string) {
	if a, b := f.read(got), f.read(want); !bytes.Equal(a, b) {
		j.find("batch", batch, "%s: %d bytes, alone %d: %.300s", got, len(a), len(b), single.stderr)
	}
}

func (j *judge) batchStatus(d done, failed int) {
	if (failed > 0) != (d.status != 0) {
		j.find("batch", d, "status %d, though %d of %d single runs fail", d.status, failed, len(j.files))
	}
}

func (j *judge) batchInPlace() {
	f, err := j.lay()
	if err != nil {
		return
	}
	defer f.remove()
	g, err := j.lay()
	if err != nil {
		return
	}
	defer g.remove()
	d := j.ours(f, "batch in place", j.batchArgs(), f.files...)
	failed := 0
	for i, name := range f.files {
		s := g.run(j.env, program, append(slices.Clone(j.args), g.files[i])...)
		if s.status != 0 {
			failed++
		}
		if a, b := f.read(name), g.read(g.files[i]); !bytes.Equal(a, b) {
			j.find("batch", d, "%s in place: %d bytes, alone %d: %.300s", name, len(a), len(b), s.stderr)
		}
	}
	j.batchStatus(d, failed)
}

// batchArgs are the arguments of the modules command, without its files.
func (j *judge) batchArgs() []string {
	return append([]string{"modules", "-j2"}, j.args[1:]...)
}
