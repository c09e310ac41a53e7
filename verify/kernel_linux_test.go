package verify

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/verify/kernelbtf"
)

// kernelRules are the rules of the running kernel. The test is skipped where
// BTF cannot be loaded.
func kernelRules(t *testing.T) Rules {
	t.Helper()
	b := newBlob()
	b.add("int", 1, 0, false, 4, 1<<24|32)
	if err := kernelbtf.Load(b.bytes(binary.NativeEndian.Uint16([]byte{0, 1}) == 1)); err != nil {
		t.Skipf("BPF_BTF_LOAD of a lone int: %v", err)
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(unix.ByteSliceToString(u.Release[:]), ".", 3)
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	rules := Rules{BeforeLinux72: major < 7 || major == 7 && minor < 2, PointerSize: 4}
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
	if (ours == nil) != (kernel == nil) {
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

// TestKernelAgreesOnMutants: what compilers and tools write, damaged.
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

// TestKernelRefusesInvalidCases: the running kernel gives the verdicts that the
// cases are listed for.
func TestKernelRefusesInvalidCases(t *testing.T) {
	kernelRules(t)
	bigEndian := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for _, c := range invalidCases {
		if kernelbtf.Load(invalidBlob(c.add, bigEndian)) == nil {
			t.Errorf("%s: the kernel takes it", c.what)
		}
	}
	if bigEndian {
		return // invalidHeaders are little-endian
	}
	for _, c := range invalidHeaders {
		if kernelbtf.Load(c.change(invalidBlob(nil, false))) == nil {
			t.Errorf("%s: the kernel takes it", c.what)
		}
	}
}

// TestKernelPassesSelftests: the running kernel gives the verdicts, so the cases
// are what they say.
func TestKernelPassesSelftests(t *testing.T) {
	rules := kernelRules(t)
	bigEndian := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for _, c := range selftestCases {
		data := selftestBlob(c.add, bigEndian)
		if err := kernelbtf.Load(data); (err == nil) != c.taken.by(rules) {
			t.Errorf("%s: %v %s", c.name, err, kernelbtf.Log(data))
		}
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
