package verify

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/kernelbtf"
)

// kernelRules are the rules of the running kernel. The test is skipped where
// BTF cannot be loaded.
func kernelRules(t *testing.T) Rules {
	t.Helper()
	b := newBlob()
	b.add("int", 1, 0, false, 4, 1<<24|32)
	if err := kernelbtf.Load(b.Encode(binary.NativeEndian.Uint16([]byte{0, 1}) == 1)); err != nil {
		t.Skipf("BPF_BTF_LOAD of a lone int: %v", err)
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	rules := Rules{PointerSize: 4}
	release := unix.ByteSliceToString(u.Release[:])
	if m := regexp.MustCompile(`Debian ([\d.]+)-`).FindSubmatch(u.Version[:]); m != nil {
		release = string(m[1]) // with the patch level
	}
	if r, err := ParseRelease(release); err == nil {
		rules.Kernel = r // else a newer one than is known, most likely
	}
	if machine := unix.ByteSliceToString(u.Machine[:]); strings.Contains(machine, "64") || machine == "s390x" {
		rules.PointerSize = 8 // also where the test is a 32-bit program
	}
	return rules
}

// compare checks data by both and reports a difference.
func compare(t *testing.T, rules Rules, data []byte, what string) (refused bool) {
	t.Helper()
	_, ours := Check(data, nil, rules)
	kernel := kernelbtf.Load(data)
	if errors.Is(kernel, unix.EPERM) || errors.Is(kernel, unix.ENOMEM) {
		t.Fatalf("%s: %v", what, kernel)
	}
	if f, ok := ours.(*Fault); ok && kernel == nil && strings.HasPrefix(f.Rule, ruleLoop) {
		// A kernel overlooks a struct that holds itself by value where a
		// pointer led it through the modifiers between the two before.
		return true
	}
	if (ours == nil) != (kernel == nil) && !olderKernelsDiffer(rules, data, ours) {
		log := ""
		if kernel != nil {
			log = kernelbtf.Log(data)
		}
		t.Errorf("%s: ours: %v; kernel: %v: %s", what, ours, kernel, log)
		if dir := os.Getenv("BTFLITE_KEEP"); dir != "" {
			os.WriteFile(filepath.Join(dir, strings.ReplaceAll(what, " ", "-")+".btf"), data, 0o644)
		}
	}
	return ours != nil
}

// olderKernelsDiffer reports whether older kernels judge something that no compiler
// writes in another way: Linux 5.10 refuses each pointer and modifier of a FUNC,
// 6.1 and later some; 5.10 lets prototypes return a VAR, 6.1 does not.
func olderKernelsDiffer(rules Rules, data []byte, ours error) bool {
	if !rules.Kernel.before(Release{6, 1, 0}) {
		return false
	}
	if f, ok := ours.(*Fault); ok {
		return f.Kind == btf.KindFuncProto && strings.HasSuffix(f.Rule, "is a VAR")
	}
	b, err := btf.Parse(data, nil)
	if err != nil {
		return false
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		r := b.Record(id)
		if in(modifiers|1<<btf.KindPtr, btf.InfoKind(r[1])) && b.Kind(r[2]) == btf.KindFunc {
			return true
		}
	}
	return false
}

// TestKernelAgreesOnDepth: chains about as long as a kernel follows.
func TestKernelAgreesOnDepth(t *testing.T) {
	rules := kernelRules(t)
	eachChain(func(what string, data []byte) { compare(t, rules, data, what) })
}

// TestKernelAgreesOnRandomTypes: small random type graphs.
func TestKernelAgreesOnRandomTypes(t *testing.T) {
	rules := kernelRules(t)
	agree(t, rules, 10000, func(r *rand.Rand) []byte { return randomBlob(r) })
}

// TestKernelAgreesOnMutants: the output of compilers and tools, damaged.
func TestKernelAgreesOnMutants(t *testing.T) {
	rules := kernelRules(t)
	var seeds [][]byte
	eachFile(t, func(name string, data []byte) {
		if binary.NativeEndian.Uint16(data) == 0xeb9f && !compare(t, rules, data, name) {
			seeds = append(seeds, data)
		}
	})
	t.Logf("%d seeds", len(seeds))
	agree(t, rules, 10000, func(r *rand.Rand) []byte { return mutate(r, seeds[r.IntN(len(seeds))]) })
}

// agree compares n blobs. BTFLITE_VERIFY_MUTANTS asks for another number.
func agree(t *testing.T, rules Rules, n int, blob func(*rand.Rand) []byte) {
	if v, err := strconv.Atoi(os.Getenv("BTFLITE_VERIFY_MUTANTS")); err == nil {
		n = v
	}
	refused := 0
	for i := range n {
		if compare(t, rules, blob(rand.New(rand.NewPCG(1, uint64(i)))), t.Name()+" "+strconv.Itoa(i)) {
			refused++
		}
	}
	t.Logf("%d of %d refused by both", refused, n)
	if refused < n/10 || refused > n*9/10 {
		t.Errorf("%d of %d refused: this tests one verdict only", refused, n)
	}
}

// TestKernelRefusesInvalidCases: the running kernel gives the verdicts that we
// give; TestInvalidCases demands that these are refusals.
func TestKernelRefusesInvalidCases(t *testing.T) {
	rules := kernelRules(t)
	bigEndian := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for _, c := range invalidCases {
		compare(t, rules, invalidBlob(c.add, bigEndian), c.what)
	}
	if bigEndian {
		return // invalidHeaders are little-endian
	}
	for _, c := range invalidHeaders {
		compare(t, rules, c.change(invalidBlob(nil, false)), c.what)
	}
}

// TestKernelPassesSelftests: the running kernel gives the verdicts that we give;
// TestSelftests demands those that are listed.
func TestKernelPassesSelftests(t *testing.T) {
	rules := kernelRules(t)
	bigEndian := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for _, c := range selftestCases {
		compare(t, rules, selftestBlob(c.add, bigEndian), c.name)
	}
	if bigEndian {
		return // the headers are little-endian
	}
	for _, c := range selftestHeaders {
		if kernelbtf.Load(c.change(selftestHeader())) == nil {
			t.Errorf("%s: the kernel takes it", c.name)
		}
	}
}
