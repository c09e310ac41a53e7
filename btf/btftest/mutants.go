package btftest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
)

// slowest is how long a reader may take for one small file.
const slowest = 20 * time.Second

// Mutants gives fn files that are seeds with some damage. Only what btf.Parse takes comes to fn, n of them, or as many as
// BTFLITE_MUTANTS says. A call that does not end soon is an error.
func Mutants(t *testing.T, n int, seeds [][]byte, fn func(b *btf.Blob)) {
	t.Helper()
	if more, err := strconv.Atoi(os.Getenv("BTFLITE_MUTANTS")); err == nil {
		n = more
	}
	taken := 0
	for i := uint64(0); taken < n; i++ {
		r := rand.New(rand.NewPCG(7, i))
		b, err := btf.Parse(Damage(r, seeds[r.IntN(len(seeds))]), nil)
		if err != nil {
			if i > uint64(100*n+1000) {
				t.Fatalf("%d of %d mutants can be parsed", taken, i)
			}
			continue
		}
		taken++
		began := time.Now()
		fn(b)
		if took := time.Since(began); took > slowest {
			t.Errorf("mutant %d took %v", i, took)
		}
		if t.Failed() {
			t.Fatalf("mutant %d", i)
		}
	}
}
