package pairs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
)

// targetOption begins the option that lowers the output.
const targetOption = "--target_kernel="

// decorated runs the case with btflite's own options as well: they do not change
// the main output, but for its order and what the target does not know.
func (j *judge) decorated() {
	if len(j.trial.ours) == 0 {
		return
	}
	args := append(slices.Clone(j.args), "--btf_encode_detached=own.btf")
	order, target := "", ""
	for _, o := range j.trial.ours {
		switch {
		case o == "--extra_vars":
			o += "=extra.btf"
		case o == "--report":
			o += "=report.json"
		case strings.HasPrefix(o, "--btf_sort"):
			order = o
		case strings.HasPrefix(o, targetOption):
			target = strings.TrimPrefix(o, targetOption)
		case strings.HasPrefix(o, "--btf_compat="):
			continue // is in args
		case o == "-V":
			continue // see againstPahole
		}
		args = append(args, o)
	}
	d := j.ours(j.f, "own", args, "own.btf", "extra.btf", "report.json")
	if target != "" && d.status == 1 && j.plainRun.refusable() && strings.Contains(d.stderr, ": nothing written: ") {
		return // no kernel takes it, so none that is named does
	}
	if d.status != j.plainRun.status {
		j.find("own", d, "status %d, without own options %d: %.200s", d.status, j.plainRun.status, d.stderr)
		return
	}
	if report := j.f.read("report.json"); j.hasOwn("--report") && !json.Valid(report) && (d.status == 0 || report != nil) {
		j.find("report", d, "the report is no JSON")
	}
	if d.status != 0 {
		return
	}
	if j.hasOwn("-q") && d.stderr != "" && !(d.refusable() && anyFile(ofKernel)(j.trial, finding{})) { // a kernel would boot without BTF
		j.find("quiet", d, "-q, and a message: %.200s", d.stderr)
	}
	main := j.f.read("own.btf")
	want := j.plain
	if order != "" && want != nil {
		s := j.f.run(nil, program, append(append([]string{"sort", "--verify=warn", order}, j.base...), "plain.btf", "sorted.btf")...)
		want = j.f.read("sorted.btf")
		j.f.changed()
		if s.status != 0 {
			j.find("sort", s, "sort: status %d", s.status)
			return
		}
	}
	if target != "" && want != nil {
		if err := os.WriteFile(filepath.Join(j.f.dir, "unlowered.btf"), want, 0o666); err != nil {
			j.find("lower", d, "%v", err)
			return
		}
		s := j.f.run(nil, program, append(append([]string{"lower", "--verify=warn", "--kernel=" + target}, j.base...), "unlowered.btf", "lowered.btf")...)
		want = j.f.read("lowered.btf")
		j.f.changed()
		if s.status != 0 {
			j.find("lower", s, "lower: status %d: %.200s", s.status, s.stderr)
			return
		}
	}
	if !bytes.Equal(main, want) {
		j.find("own", d, "own options change the output: %d bytes, without %d", len(main), len(want))
		return
	}
	if main != nil {
		j.verify("own.btf", main, j.base)
	}
	if order != "" && target == "" && want != nil {
		if s := j.f.run(nil, program, append(append([]string{"diff"}, j.base...), "plain.btf", "own.btf")...); s.status != 0 {
			j.find("diff", s, "sorted: %.300s", s.stdout)
		}
	}
	j.extra(d, main)
	j.statistics(d, main)
}

// extra checks the file with other variables.
func (j *judge) extra(d done, main []byte) {
	extra := j.f.read("extra.btf")
	if extra == nil {
		return
	}
	base := slices.Clone(j.base)
	if main != nil {
		base = append(base, baseOption+"own.btf")
	}
	j.verify("extra.btf", extra, base)
	blob, err := parseOver(extra, base, j.f)
	if err != nil {
		j.find("extra", d, "%v", err)
		return
	}
	vars := 0
	for id := blob.FirstID; id < blob.TypeCount(); id++ {
		if blob.Kind(id) == btf.KindVar {
			vars++
		}
	}
	if vars == 0 {
		j.find("extra", d, "a file of other variables without one")
	}
}

// parseOver reads split BTF over files of --btf_base options.
func parseOver(data []byte, base []string, f *folder) (blob *btf.Blob, err error) {
	for _, b := range base {
		below, err := parseFile(strings.TrimPrefix(b, baseOption), blob, f)
		if err != nil {
			return nil, err
		}
		blob = below
	}
	return btf.Parse(data, blob)
}

// statistics are what --stats=json and --report say of the output.
type statistics struct {
	Bytes      int `json:"btf_bytes"`
	Types      int `json:"types"`
	Functions  int `json:"functions"`
	Variables  int `json:"variables"`
	ExtraVars  int `json:"extra_variables"`
	ExtraBytes int `json:"extra_btf_bytes"`
	TypeBytes  int `json:"type_bytes"`
	StrBytes   int `json:"string_bytes"`
}

// statistics compares the numbers with the file.
func (j *judge) statistics(d done, main []byte) {
	if main == nil {
		return
	}
	blob, err := parseOver(main, j.base, j.f)
	if err != nil {
		j.find("stats", d, "%v", err)
		return
	}
	count := map[btf.Kind]int{}
	for id := blob.FirstID; id < blob.TypeCount(); id++ {
		count[blob.Kind(id)]++
	}
	want := statistics{
		Bytes: len(main), Types: len(blob.Off), Functions: count[btf.KindFunc], Variables: count[btf.KindVar],
		StrBytes: len(blob.Strings), TypeBytes: len(main) - len(blob.Strings) - 24,
		ExtraBytes: len(j.f.read("extra.btf")),
	}
	check := func(what string, text []byte) {
		got := statistics{Types: -1}
		if err := json.Unmarshal(text, &got); err != nil {
			j.find("stats", d, "%s: %v", what, err)
			return
		}
		got.ExtraVars = 0 // a variable may be in several units
		if got != want {
			j.find("stats", d, "%s: %+v, the file has %+v", what, got, want)
		}
	}
	if j.hasOwn("--stats") {
		line := d.stdout
		if i := strings.LastIndex(strings.TrimSpace(line), "\n"); i >= 0 {
			line = line[i+1:]
		}
		check("--stats", []byte(line))
	}
	if j.hasOwn("--report") {
		check("--report", j.f.read("report.json"))
	}
}

func parseFile(name string, base *btf.Blob, f *folder) (*btf.Blob, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return btf.Parse(data, base)
}
