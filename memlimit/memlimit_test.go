package memlimit

import "testing"

func TestParse(t *testing.T) {
	for s, want := range map[string]uint64{
		"1": 1, "4096": 4096, "64M": 64 << 20, "64m": 64 << 20, "64MiB": 64 << 20, "2G": 2 << 30, "10kb": 10 << 10, "7B": 7,
		"": 0, "M": 0, "0": 0, "0M": 0, "-1": 0, "1.5G": 0, "64X": 0, "64MM": 0, "99999999999G": 0, "18446744073709551616": 0, "64 M": 0,
	} {
		if n, err := Parse(s); n != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	}
}
