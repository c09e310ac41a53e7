package memlimit

import "testing"

func TestParse(t *testing.T) {
	const notSize = " is not a size such as 64M or 1.5G"
	for s, want := range map[string]struct {
		n   uint64
		err string
	}{
		"64M": {64 << 20, ""}, "64m": {64 << 20, ""}, "64MiB": {64 << 20, ""}, "64mib": {64 << 20, ""}, "2G": {2 << 30, ""}, "10kb": {10 << 10, ""},
		"7B": {7, ""}, "67108864B": {64 << 20, ""}, "1.5G": {3 << 29, ""}, "0.5M": {1 << 19, ""}, ".5M": {1 << 19, ""}, "1T": {1 << 40, ""},
		"1.5TiB": {3 << 39, ""}, "512M": {512 << 20, ""}, "1g": {1 << 30, ""}, "1.0001K": {1024, ""},
		"512":      {0, "'512' bytes? write 512M, or 512B"},
		"67108864": {0, "'67108864' bytes? write 64M, or 67108864B"},
		"":         {0, "''" + notSize}, "M": {0, "'M'" + notSize}, "0": {0, "'0'" + notSize}, "0M": {0, "'0M'" + notSize}, "-1": {0, "'-1'" + notSize},
		"1.5.0G": {0, "'1.5.0G'" + notSize}, "1,5G": {0, "'1,5G'" + notSize}, "64X": {0, "'64X'" + notSize}, "64MM": {0, "'64MM'" + notSize},
		"64iB": {0, "'64iB'" + notSize}, "64bi": {0, "'64bi'" + notSize}, "1e3M": {0, "'1e3M'" + notSize}, "infM": {0, "'infM'" + notSize},
		"0x10M": {0, "'0x10M'" + notSize}, "1_0M": {0, "'1_0M'" + notSize}, "+1M": {0, "'+1M'" + notSize}, "99999999999G": {0, "'99999999999G'" + notSize},
		"0.1B": {0, "'0.1B'" + notSize}, "64 M": {0, "'64 M'" + notSize}, ".M": {0, "'.M'" + notSize},
	} {
		n, err := Parse(s)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if n != want.n || text != want.err {
			t.Errorf("%q: %d, %q", s, n, text)
		}
	}
}
