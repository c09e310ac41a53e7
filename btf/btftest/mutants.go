package btftest

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
)

// slowest is how long a reader may take for one small file.
const slowest = 20 * time.Second

// Mutants gives fn files that are like the seeds: bytes and words of these are others, or
// stand twice. Only what btf.Parse takes comes to fn, n of them, or as many as
// BTFLITE_MUTANTS says. A call that does not end soon is an error.
func Mutants(t *testing.T, n int, seeds [][]byte, fn func(b *btf.Blob)) {
	t.Helper()
	if more, err := strconv.Atoi(os.Getenv("BTFLITE_MUTANTS")); err == nil {
		n = more
	}
	taken := 0
	for i := uint64(0); taken < n; i++ {
		r := rand.New(rand.NewPCG(7, i))
		b, err := btf.Parse(mutant(r, seeds[r.IntN(len(seeds))]), nil)
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

// mutant changes a few places of a copy of data, which is BTF in the byte order of the
// machine's.
func mutant(r *rand.Rand, data []byte) []byte {
	data = append([]byte(nil), data...)
	const header = 24
	for range 1 + r.IntN(6) {
		at := header + r.IntN((len(data)-header)/4)*4
		word := data[at:][:4]
		old := binary.LittleEndian.Uint32(word)
		switch r.IntN(6) {
		case 0:
			data[header+r.IntN(len(data)-header)] = byte(r.Uint32())
		case 1:
			binary.LittleEndian.PutUint32(word, uint32(r.IntN(64)))
		case 2:
			binary.LittleEndian.PutUint32(word, old+uint32(r.IntN(5))-2)
		case 3:
			binary.LittleEndian.PutUint32(word, old^1<<r.IntN(32))
		case 4:
			from := header + r.IntN((len(data)-header)/4)*4
			copy(word, data[from:][:4])
		default: // what a terminal or a page would obey
			copy(word, []string{"\x1b[2J", "\x9b1m\n", "<!--", "</a>", "\"'&\r"}[r.IntN(5)])
		}
	}
	return data
}
