package pairs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finding is a difference from pahole or from what must hold.
type finding struct {
	rule   string // what does not hold, one of the words of this file
	text   string
	our    done // the run that shows it
	pahole done
}

// judge runs one case.
type judge struct {
	*trial
	f        *folder
	opts     []string // those of the case that are no environment
	env      []string
	findings []finding
	args     []string // of the plain run, without where the output goes
	base     []string // --btf_base=FILE
	plainRun done
	plain    []byte // the detached output with pahole's options only; nil: none
	pahole   done
}

func (j *judge) find(rule string, d done, format string, args ...any) {
	j.findings = append(j.findings, finding{rule, fmt.Sprintf(format, args...), d, j.pahole})
}

// judgeTrial runs a case and says what is wrong. An error means that it could not
// be run.
func judgeTrial(c *trial) ([]finding, error) {
	j := &judge{trial: c}
	for i := range c.bases {
		path, err := baseOf(c.bases[:i+1])
		if err != nil {
			return nil, err
		}
		j.base = append(j.base, baseOption+path)
	}
	var err error
	if j.f, err = c.lay(); err != nil {
		return nil, err
	}
	defer j.f.remove()
	for _, o := range c.opts {
		if strings.HasPrefix(o, environment) {
			j.env = append(j.env, o)
		} else {
			j.opts = append(j.opts, o)
		}
	}
	j.args = append(append([]string{"-J"}, j.opts...), j.base...)
	if c.hasOwn("--btf_compat=") {
		j.args = append(j.args, "--btf_compat=libbpf-1.7")
	} else if c.has("layout") && len(c.bases) == 0 {
		j.args = append(j.args, "--btf_compat=libbpf-1.7") // pahole's libbpf, which knows no layout section
	}
	plain := func() {
		j.plainRun = j.ours(j.f, "plain", append(j.args, "--btf_encode_detached=plain.btf"), "plain.btf")
	}
	if plain(); strings.Contains(j.plainRun.stderr, "a kernel would refuse") { // pahole's bytes all the same
		j.args = append(j.args, "--verify=warn")
		plain()
	}
	j.plain = j.f.read("plain.btf")
	j.againstPahole()
	j.verify("plain.btf", j.plain, j.base)
	j.decorated()
	j.inPlace()
	j.batch()
	return j.findings, nil
}

// ours runs btflite on the files of the case, with what holds for all runs. Only
// the files of may change, and only if all goes well or it is a batch.
func (j *judge) ours(f *folder, what string, args []string, may ...string) done {
	d := f.run(j.env, program, append(args, f.files...)...)
	switch {
	case d.hung:
		j.find("hang", d, "%s: no end", what)
	case d.status != 0 && d.status != 1 && d.status != 64 || strings.Contains(d.stderr, "panic") || strings.Contains(d.stderr, "goroutine "):
		j.find("crash", d, "%s: status %d: %.500s", what, d.status, d.stderr)
	case d.status != 0 && d.stderr == "":
		j.find("message", d, "%s: status %d without a word", what, d.status)
	}
	for _, name := range f.changed() {
		if !slices.Contains(may, name) || d.status != 0 && args[0] != "modules" && name != "report.json" {
			j.find("leftover", d, "%s: status %d and %s has changed", what, d.status, name)
		}
	}
	return d
}

// againstPahole compares the plain output with pahole's.
func (j *judge) againstPahole() {
	if pahole == "" || len(j.bases) > 1 || len(j.bases) == 1 && !j.hasOwn("--btf_compat=") {
		return
	}
	args := append(append([]string{"-J", "-j1"}, j.opts...), j.base...)
	j.pahole = j.f.run(j.env, pahole, append(append(args, "--btf_encode_detached=pahole.btf"), j.f.files...)...)
	want := j.f.read("pahole.btf")
	os.Remove(filepath.Join(j.f.dir, "pahole.btf"))
	j.f.changed()
	d := j.plainRun
	switch {
	case j.pahole.hung || j.pahole.status < 0 || j.pahole.status > 1 && j.pahole.status != 64:
		if d.status == 0 && j.plain != nil {
			j.find("pahole crashes", d, "pahole: status %d: %.200s", j.pahole.status, j.pahole.stderr)
		}
	case want != nil && d.status != 0:
		j.find("refused", d, "pahole writes %d bytes", len(want))
	case want != nil && j.plain == nil:
		j.find("missing", d, "pahole writes %d bytes", len(want))
	case want == nil && j.plain != nil:
		j.find("surplus", d, "%d bytes, pahole: status %d and nothing: %.300s", len(j.plain), j.pahole.status, j.pahole.stderr)
	case want == nil && j.pahole.status == 0 && d.status != 0 && !paholeFails(j.pahole):
		j.find("status", d, "pahole: status 0 and nothing: %.300s", j.pahole.stderr)
	case want == nil && j.pahole.status != 0 && d.status == 0:
		j.find("status", d, "pahole: status %d: %.300s", j.pahole.status, j.pahole.stderr)
	case !bytes.Equal(want, j.plain):
		j.find("bytes", d, "%d bytes, pahole %d", len(j.plain), len(want))
	case want != nil && j.hasOwn("-V"):
		j.lines(args)
	}
}

// lines compares what -V prints.
func (j *judge) lines(args []string) {
	d := j.ours(j.f, "-V", append(j.args, "-V", "--btf_encode_detached=lines.btf"), "lines.btf")
	logged := j.f.run(j.env, pahole, append(append(args, "-V", "--btf_encode_detached=pahole.btf"), j.f.files...)...)
	os.Remove(filepath.Join(j.f.dir, "pahole.btf"))
	if !bytes.Equal(j.f.read("lines.btf"), j.plain) {
		j.find("own", d, "-V changes the output")
	}
	os.Remove(filepath.Join(j.f.dir, "lines.btf"))
	j.f.changed()
	if d.stdout == logged.stdout {
		return
	}
	got, want := strings.Split(d.stdout, "\n"), strings.Split(logged.stdout, "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			j.find("lines", d, "-V: line %d of %d is %q, pahole %q of %d", i+1, len(got), append(got, "")[i:][:1], want[i], len(want))
			return
		}
	}
	j.find("lines", d, "-V: %d lines, pahole %d", len(got), len(want))
}

// paholeFails reports whether a run of status 0 has failed all the same.
func paholeFails(d done) bool {
	for _, word := range []string{"rror", "ailed", "nsupported", "not supported", "couldn't find"} {
		if strings.Contains(d.stderr, word) {
			return true
		}
	}
	return false
}

// refusable reports whether a run warned that a kernel refuses its output.
func (d done) refusable() bool { return strings.Contains(d.stderr, "warning: a kernel ") }

// verify has the output judged by btflite verify.
func (j *judge) verify(name string, data []byte, base []string) {
	if data == nil || j.plainRun.refusable() {
		return
	}
	d := j.f.run(nil, program, append(append([]string{"verify"}, base...), name)...)
	if d.status != 0 {
		j.find("verify", d, "verify %s: status %d", name, d.status)
	}
}

// inPlace encodes into the files themselves, twice.
func (j *judge) inPlace() {
	f, err := j.lay()
	if err != nil {
		return
	}
	defer f.remove()
	distilled := j.has("distilled_base")
	var first map[string]string
	var last done
	for n := range 2 {
		d := j.ours(f, "in place", j.args, f.files...)
		last = d
		if !distilled && d.status != j.plainRun.status && !anyEncoded(j.trial) {
			j.find("in place", d, "status %d, detached %d: %.300s", d.status, j.plainRun.status, j.plainRun.stderr)
			return
		}
		if d.status != 0 {
			return
		}
		var got [][]byte
		for _, name := range f.files {
			if s := f.section(name, ".BTF"); s != nil {
				got = append(got, s)
			}
		}
		if !distilled && !anyEncoded(j.trial) {
			if len(got) > 1 || (len(got) == 1) != (j.plain != nil) || len(got) == 1 && !bytes.Equal(got[0], j.plain) {
				j.find("in place", d, "%d sections .BTF, not as detached", len(got))
				return
			}
		}
		if n == 0 {
			first = f.was
		} else if !sameFiles(first, f.was) {
			j.find("twice", d, "the second time gives other bytes")
		}
	}
	if distilled && len(j.bases) == 1 {
		j.distilled(f, last)
	}
}

// anyEncoded reports whether a file of the case has .BTF from before.
func anyEncoded(c *trial) bool {
	return slices.ContainsFunc(c.files, func(name string) bool {
		k, err := kindOf(name)
		return err == nil && k.encoded
	})
}

func sameFiles(a, b map[string]string) bool {
	for name, data := range a {
		if b[name] != data {
			return false
		}
	}
	return len(a) == len(b)
}

// emptyBTF is the size of BTF with no types, in bytes: a header and the empty string.
const emptyBTF = 25

// distilled compares the sections of a distilled base with pahole's.
func (j *judge) distilled(our *folder, d done) {
	if pahole == "" || !j.hasOwn("--btf_compat=") {
		return
	}
	f, err := j.lay()
	if err != nil {
		return
	}
	defer f.remove()
	f.run(j.env, pahole, append(append(append([]string{"-J", "-j1"}, j.opts...), j.base...), f.files...)...)
	for _, name := range f.files {
		for _, section := range []string{".BTF", ".BTF.base"} {
			got, want := our.section(name, section), f.section(name, section)
			rule := "distilled"
			if base := f.section(name, ".BTF.base"); section == ".BTF" && len(base) == emptyBTF && bytes.Equal(base, our.section(name, ".BTF.base")) {
				rule = "over nothing"
			}
			if !bytes.Equal(got, want) {
				j.find(rule, d, "%s of %s: %d bytes, pahole %d", section, name, len(got), len(want))
			}
		}
	}
}
