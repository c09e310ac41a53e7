package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/corpus"
)

// kernelLines are options that TestShowKernels compares for all types of a kernel.
// plainLines are only for a kernel without Rust, because they select types by numbers
// that are nonsense for types of Rust.
var (
	kernelLines = []string{"", "-r", "--hex", "-q", "-c 32", "-s", "-n", "-T", "-H 2", "-B 1", "-i list_head", "-i list_head,hlist_node,list_head -s", "-x s", "-y t",
		"--unions", "--flat_arrays", "-C task_struct,list_head,spinlock_t,pid_type,u8,bpf_attr", "-C page,inode --hex -q",
		"-a", "-a -A", "-I", "-m", "-s -T", "-l -C task_struct,inode,sk_buff", "-p -C list_head,rb_root,wait_queue_head", "--compile -C list_head,wait_queue_head",
		"-C atomic_t,pte_t,kuid_t,sigval_t", "-a -y atomic", "-m -H 2", "-T -z 3"}
	plainLines = []string{"--sort", "-E", "-E -r", "-E --hex", "--packed", "--padding_ge=8", "-z 8", "-f task_struct", "--with_flexible_array",
		"--with_embedded_flexible_array", "--suppress_aligned_attribute", "-C sk_buff -E", "-f u8", "-i pid_type",
		"--compile", "--compile -E", "--compile -q -C task_struct,ieee80211_ht_cap", "-i u8 -V", "-V -z 64", "-m -s", "-C inode -f task_struct"}
)

// nonsense is output of pahole for types of Rust that cannot be meant; docs/readers.md
// lists it.
var (
	nonsense = regexp.MustCompile(`BRAIN FART|padding: 65[0-9]{3}|6553[0-9] bytes of padding|\]\[|iterat|[A-Za-z:<>&_ ,.0-9{}#]{127} [a-z_]+;`)
	blockEnd = regexp.MustCompile(`(?m)^}.*;\n`)
)

// blocks are the types of a text.
func blocks(text []byte) (list []string) {
	for len(text) > 0 {
		end := len(text)
		if at := blockEnd.FindIndex(text); at != nil {
			end = at[1]
		}
		list, text = append(list, string(text[:end])), text[end:]
	}
	return list
}

// TestShowKernels compares with pahole for whole kernels, option by option.
func TestShowKernels(t *testing.T) {
	program := corpus.Pahole()
	if os.Getenv("CI") != "true" || program == "" {
		t.Skip("whole kernels are compared with CI=true and the corpus")
	}
	for _, kernel := range corpus.Names(t) {
		t.Run(kernel, func(t *testing.T) {
			in := filepath.Join(corpus.Dir(), kernel)
			file := filepath.Join(t.TempDir(), kernel+".btf")
			if out, err := exec.Command(program, "-J", "--btf_features=default", "--btf_encode_detached="+file, in).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v, %s", in, err, out)
			}
			lines := kernelLines
			if !strings.HasPrefix(kernel, "v7") {
				lines = append(slices.Clone(lines), plainLines...)
				if strings.Contains(kernel, "64") { // of 32 bits, pahole gives sizes that are not multiples of 8
					lines = append(lines, "-R -C inode,sk_buff,file,dentry")
				}
			}
			for _, line := range lines {
				args := append(append([]string{"-F", "btf"}, strings.Fields(line)...), file)
				want, err := exec.Command(program, args...).Output()
				if err != nil {
					t.Fatal(err)
				}
				compareTypes(t, line, args, want)
			}
		})
	}
}

// compareTypes runs args and compares the types with what pahole prints. Types for which pahole
// prints nonsense may differ.
func compareTypes(t *testing.T, line string, args []string, want []byte) {
	t.Helper()
	status, got, stderr := asPahole(args...)
	if status != exitOK {
		t.Fatalf("%q: %s", args, stderr)
	}
	if got == string(want) {
		return
	}
	a, b := blocks([]byte(got)), blocks(want)
	if len(a) != len(b) {
		t.Errorf("%q: %d types, pahole has %d", line, len(a), len(b))
		return
	}
	odd := 0
	for i := range a {
		switch {
		case a[i] == b[i]:
		case nonsense.MatchString(b[i]):
			odd++
		default:
			t.Errorf("%q: got\n%s, want\n%s", line, a[i], b[i])
			return
		}
	}
	t.Logf("%q: %d types are equal, of %d pahole prints nonsense", line, len(a)-odd, odd)
}

// TestShowModules compares with pahole for modules of a distribution, over the BTF of
// their kernel, which pahole prints too.
func TestShowModules(t *testing.T) {
	program := corpus.Pahole()
	if os.Getenv("CI") != "true" || program == "" {
		t.Skip("modules are compared with CI=true and the corpus")
	}
	for _, kernel := range corpus.Names(t) {
		t.Run(kernel, func(t *testing.T) {
			modules, _ := filepath.Glob(filepath.Join(corpus.Dir(), "shipped-modules", kernel, "*.ko"))
			if len(modules) == 0 {
				t.Skipf("no modules; get them with: scripts/kernels.sh shipped-modules:%s", kernel)
			}
			base := filepath.Join(t.TempDir(), "base")
			if err := btfFiles.With(filepath.Join(corpus.Dir(), kernel), func(raw loadbtf.Raw) error { return os.WriteFile(base, raw.BTF, 0o600) }); err != nil {
				t.Fatal(err)
			}
			for _, module := range modules {
				for _, line := range []string{"", "-s -T"} {
					args := append([]string{"-F", "btf", "--btf_base=" + base}, append(strings.Fields(line), module)...)
					want, err := exec.Command(program, args...).Output()
					if err != nil {
						t.Fatal(err)
					}
					compareTypes(t, filepath.Base(module)+" "+line, args, want)
				}
			}
		})
	}
}
