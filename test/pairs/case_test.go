package pairs

import (
	"fmt"
	"slices"
	"strings"
)

// trial is one case: what is encoded and how.
type trial struct {
	files []string // kinds
	bases []string // kinds too: the chain of --btf_base
	opts  []string // options that pahole has
	ours  []string // options that only btflite has
}

// ownOptions are the options of btflite that pahole does not have, as far as
// they are drawn. -j is among them, since pahole runs with one worker; -V, which has runs of
// its own; -q, since warnings say why something differs.
var ownOptions = []string{"-j", "-V", "-q", "--dedup=", "--btf_sort", "--extra_vars", "--stats", "--report", "--memory_limit=", "--btf_compat=", targetOption}

func isOwn(option string) bool {
	return slices.ContainsFunc(ownOptions, func(o string) bool { return strings.HasPrefix(option, o) })
}

const baseOption = "--btf_base="

// environment begins options that are variables of the environment instead.
const environment = "PAHOLE_"

// String is the case as -case takes it.
func (c *trial) String() string {
	words := append(slices.Clone(c.files), "--")
	words = append(words, c.opts...)
	for _, b := range c.bases {
		words = append(words, baseOption+b)
	}
	return strings.Join(append(words, c.ours...), " ")
}

// parseTrial is the other way round.
func parseTrial(text string) (*trial, error) {
	files, opts, ok := strings.Cut(text+" ", " -- ")
	if !ok || files == "" {
		return nil, fmt.Errorf("%q: want FILE… -- OPTION…", text)
	}
	c := &trial{files: strings.Fields(files)}
	for _, o := range strings.Fields(opts) {
		switch base, isBase := strings.CutPrefix(o, baseOption); {
		case isBase:
			c.bases = append(c.bases, base)
		case isOwn(o):
			c.ours = append(c.ours, o)
		default:
			c.opts = append(c.opts, o)
		}
	}
	return c, nil
}

// has reports whether the options turn on a feature, as far as the lists say so.
func (c *trial) has(feature string) bool {
	return slices.ContainsFunc(c.opts, func(o string) bool {
		_, list, _ := strings.Cut(o, "=")
		words := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '+' })
		return strings.HasPrefix(o, "--btf_features") && (slices.Contains(words, feature) || slices.Contains(words, "all")) ||
			o == "--btf_gen_all"
	})
}

func (c *trial) hasOwn(prefix string) bool {
	return slices.ContainsFunc(c.ours, func(o string) bool { return strings.HasPrefix(o, prefix) })
}

// without are the cases that have one part less.
func (c *trial) without() (less []*trial) {
	add := func(change func(*trial)) {
		d := &trial{slices.Clone(c.files), slices.Clone(c.bases), slices.Clone(c.opts), slices.Clone(c.ours)}
		change(d)
		less = append(less, d)
	}
	if len(c.files) > 1 {
		for i := range c.files {
			add(func(d *trial) { d.files = slices.Delete(d.files, i, i+1) })
		}
	}
	for i := range c.bases {
		add(func(d *trial) { d.bases = slices.Delete(d.bases, i, i+1) })
	}
	for i := range c.ours {
		add(func(d *trial) { d.ours = slices.Delete(d.ours, i, i+1) })
	}
	for i, o := range c.opts {
		add(func(d *trial) { d.opts = slices.Delete(d.opts, i, i+1) })
		name, list, ok := strings.Cut(o, "=")
		if words := strings.Split(list, ","); ok && len(words) > 1 {
			for j := range words {
				add(func(d *trial) { d.opts[i] = name + "=" + strings.Join(slices.Delete(slices.Clone(words), j, j+1), ",") })
			}
		}
	}
	for i, f := range c.files { // a file of fewer flags, sources and changes
		words := strings.Split(f, "/")
		if words[0] == "tree" {
			continue
		}
		for j := 1; j < len(words); j++ {
			parts := strings.Split(words[j], ",")
			switch {
			case j >= 4:
				add(func(d *trial) { d.files[i] = strings.Join(slices.Delete(slices.Clone(words), j, j+1), "/") })
			case j == 1 && words[j] != "", j == 2 && len(parts) > 1:
				for n := range parts {
					w := slices.Clone(words)
					w[j] = strings.Join(slices.Delete(slices.Clone(parts), n, n+1), ",")
					add(func(d *trial) { d.files[i] = strings.Join(w, "/") })
				}
			}
		}
	}
	return less
}
