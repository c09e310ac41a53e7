package pairs

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/test/corpus"
)

// drawer draws cases. The same seed and number give the same case where the
// same compilers are.
type drawer struct{ *rand.Rand }

func newDrawer(seed, number uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, number))} }

func pick[T any](d drawer, from []T) T { return from[d.IntN(len(from))] }

// oneIn is true once in n times.
func (d drawer) oneIn(n int) bool { return d.IntN(n) == 0 }

// some are n to m different ones of from, in any order.
func (d drawer) some(from []string, n, m int) []string {
	from = slices.Clone(from)
	d.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	return from[:min(n+d.IntN(m-n+1), len(from))]
}

// installed are the tools that are there.
func installed() (found []tool) {
	for _, t := range tools {
		compiler, _, _ := strings.Cut(t.name, "@")
		if _, err := exec.LookPath(compiler); err == nil {
			found = append(found, t)
		}
	}
	return found
}

// file draws the name of a kind, mostly for the machine of the kind like, if that is
// not "". Compilers may refuse it.
func (d drawer) file(tree []string, tools []tool, like string) string {
	if like != "" && !d.oneIn(4) {
		word, rest, _ := strings.Cut(path.Base(like), "-")
		i := slices.IndexFunc(tools, func(t tool) bool { return strings.HasPrefix(like, t.name+"/") })
		if i < 0 && rest != "" {
			return pick(d, slices.DeleteFunc(slices.Clone(tree), func(name string) bool { return !strings.Contains(name, "/"+word+"-") }))
		}
		if i >= 0 {
			tools, tree = tools[i:i+1], nil
		}
	}
	if len(tools) == 0 || len(tree) > 0 && d.oneIn(3) {
		return pick(d, tree)
	}
	t := pick(d, tools)
	if d.oneIn(2) {
		t = pick(d, tools[:min(2, len(tools))]) // the first have the most flags
	}
	var flags []string
	for _, row := range t.flags {
		if f := pick(d, row); f != "" {
			flags = append(flags, f)
		}
	}
	form, names := pick(d, t.forms), t.sourceNames()
	names = d.some(names, 1, 4)
	if form == "o" {
		names = names[:1]
	}
	words := []string{t.name, strings.Join(flags, ","), strings.Join(names, ","), form}
	if len(t.posts) > 0 && d.oneIn(3) {
		words = append(words, pick(d, t.posts))
	}
	return strings.Join(words, "/")
}

// drawModules draws a case of modules of a kernel over it, or nil.
func (d drawer) drawModules() *trial {
	kernel := pick(d, []string{"v612-amd64", "v72-amd64"})
	names := modules(kernel)
	if _, err := os.Stat(filepath.Join(corpus.Dir(), kernel)); err != nil || len(names) == 0 {
		return nil
	}
	c := &trial{files: d.some(names, 1, 3), bases: []string{"corpus/" + kernel}}
	if d.oneIn(6) {
		c.bases = nil
	}
	d.options(c)
	d.own(c)
	return c
}

// draw draws a case whose files can be made, and counts the kinds that cannot.
func (d drawer) draw(tree []string, tools []tool, refused *int) *trial {
	if d.oneIn(20) {
		if c := d.drawModules(); c != nil {
			return c
		}
	}
	made := func(like string) (string, *kind) {
		for {
			name := d.file(tree, tools, like)
			if k, err := kindOf(name); err == nil {
				return name, k
			}
			*refused++
		}
	}
	c := &trial{}
	name, first := made("")
	c.files = append(c.files, name)
	for more := []int{0, 0, 0, 0, 1, 1, 2}[d.IntN(7)]; more > 0; {
		name, k := made(c.files[0])
		if d.oneIn(8) || sameMachine(k.elf, first.elf) {
			c.files = append(c.files, name)
			more--
		} else if d.oneIn(20) {
			more--
		}
	}
	if d.oneIn(3) {
		d.base(c, first, made)
	}
	d.options(c)
	d.own(c)
	return c
}

func sameMachine(a, b elf.FileHeader) bool {
	return a.Machine == b.Machine && a.Class == b.Class && a.Data == b.Data
}

// base draws what the case is over.
func (d drawer) base(c *trial, first *kind, made func(like string) (string, *kind)) {
	links := 1
	if d.oneIn(5) {
		links = 2
	}
	for tries := 0; tries < 8 && len(c.bases) < links; tries++ {
		name, k := made(c.files[0])
		if d.oneIn(4) {
			name = c.files[0]
			k = first
		}
		if !sameMachine(k.elf, first.elf) && !d.oneIn(50) {
			continue
		}
		if chain := append(slices.Clone(c.bases), name); !slices.Contains(c.bases, name) {
			if _, err := baseOf(chain); err == nil {
				c.bases = chain
			}
		}
	}
}

var featureNames = []string{"encode_force", "var", "float", "decl_tag", "type_tag", "enum64", "optimized_func", "consistent_func",
	"decl_tag_kfuncs", "reproducible_build", "distilled_base", "global_var", "attributes", "true_signature", "force_cu_merging"}

var languageNames = []string{"c89", "c", "c99", "c11", "c++", "c++03", "c++11", "c++14", "rust", "asm", "C99", "go"}

// paholeOptions are drawn now and then, each by itself.
var paholeOptions = []string{"--fixup_silly_bitfields", "--kabi_prefix=__kabi_", "--kabi_prefix=g", "-Xd", "-Xplain", "-Xfuncs.c", "-X.", "-Xt", "--cu_exclude=v",
	"--btf_encode_force", "--btf_gen_floats", "--btf_gen_all", "--btf_gen_optimized", "--skip_encoding_btf_vars", "--skip_encoding_btf_decl_tag",
	"--skip_encoding_btf_type_tag", "--skip_encoding_btf_enum64", "--skip_encoding_btf_inconsistent_proto", "--btf_attributes", "--reproducible_build",
	"-Fdwarf", "--format_path=btf,dwarf", "--hashbits=9", "--ptr_table_stats"}

// options draws options that pahole has.
func (d drawer) options(c *trial) {
	switch d.IntN(10) {
	case 0, 1, 2:
		c.opts = append(c.opts, "--btf_features=default")
	case 3:
		c.opts = append(c.opts, "--btf_features=all")
	case 4:
		c.opts = append(c.opts, "--btf_features=default,"+pick(d, featureNames), "--btf_features="+pick(d, featureNames))
	case 5, 6:
		c.opts = append(c.opts, "--btf_features=+"+strings.Join(d.some(featureNames, 1, 3), ","))
	case 7, 8:
		name := pick(d, []string{"--btf_features=", "--btf_features=", "--btf_features_strict="})
		c.opts = append(c.opts, name+strings.Join(d.some(featureNames, 1, 8), ","))
	}
	if len(c.bases) == 0 && c.has("distilled_base") && !d.oneIn(8) { // asks for a base
		for i, o := range c.opts {
			c.opts[i] = strings.ReplaceAll(o, "distilled_base", "var")
		}
	}
	if d.oneIn(5) {
		name := pick(d, []string{"--lang=", "--lang_exclude=", "--lang_exclude="})
		c.opts = append(c.opts, name+strings.Join(d.some(languageNames, 1, 3), ","))
	}
	if d.oneIn(20) {
		c.opts = append(c.opts, "PAHOLE_LANG_EXCLUDE="+strings.Join(d.some(languageNames, 1, 3), ","))
	}
	if d.oneIn(3) {
		c.opts = append(c.opts, d.some(paholeOptions, 1, 3)...)
	}
	if d.oneIn(40) {
		c.opts = append(c.opts, pick(d, []string{"--btf_features=default,nothing_known", "--btf_features_strict=nothing_known", "--lang=klingon", "--hashbits=99", "--btf_features="}))
	}
	d.Shuffle(len(c.opts), func(i, j int) { c.opts[i], c.opts[j] = c.opts[j], c.opts[i] })
}

// own draws options that only btflite has.
func (d drawer) own(c *trial) {
	c.ours = append(c.ours, fmt.Sprintf("-j%d", 1+d.IntN(4)))
	for _, o := range []struct {
		n       int
		options []string
	}{
		{3, []string{"--dedup=exact", "--dedup=stream"}},
		{3, []string{"--btf_sort", "--btf_sort=name", "--btf_sort=canonical"}},
		{3, []string{"--extra_vars"}},
		{4, []string{targetOption + "5.12", targetOption + "5.17", targetOption + "6.12"}},
		{2, []string{"--stats=json"}},
		{3, []string{"--report"}},
		{8, []string{"--memory_limit=512M"}},
		{4, []string{"-V"}},
		{8, []string{"-q"}},
	} {
		if d.oneIn(o.n) {
			c.ours = append(c.ours, pick(d, o.options))
		}
	}
	if len(c.bases) > 0 && !d.oneIn(4) {
		c.ours = append(c.ours, "--btf_compat=libbpf-1.7")
	}
	if c.has("global_var") || c.has("distilled_base") && len(c.bases) > 0 { // refused together
		c.ours = slices.DeleteFunc(c.ours, func(o string) bool { return o == "--extra_vars" })
	}
}
