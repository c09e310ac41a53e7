package dwarf

import (
	"fmt"
	"strings"
	"testing"
)

// dumpList writes the expressions of a list in hexadecimal, "-" for an empty
// one, and the error.
func dumpList(section []byte, off uint64, f ExprFormat) string {
	var w []string
	l := NewLocList(section, off, f)
	for {
		x, ok := l.Next()
		if !ok {
			break
		}
		if len(x) == 0 {
			w = append(w, "-")
		} else {
			w = append(w, fmt.Sprintf("%x", x))
		}
	}
	if _, ok := l.Next(); ok {
		w = append(w, "more after the end")
	}
	if err := l.Err(); err != nil {
		w = append(w, "error "+err.Error())
	}
	return strings.Join(w, " ")
}

func TestLocList(t *testing.T) {
	le32 := ExprFormat{Version: 4, AddrSize: 4}
	be32v5 := ExprFormat{Version: 5, AddrSize: 4, BigEndian: true}
	cat := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	split := ExprFormat{Version: 4, AddrSize: 8, Split: true}
	zero8 := make([]byte, 8)
	ones := []byte{255, 255, 255, 255}
	tests := []struct {
		name string
		f    ExprFormat
		off  uint64
		in   []byte
		want string
	}{
		{"absent section", le64, 40, nil, ""},
		{"offset beyond the section", le64, 3, []byte{0, 0, 0}, "error .debug_loclists+0x3: location list beyond the section"},

		{"v4 two entries", le32, 0, cat([]byte{0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x55, 8, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0x75, 0}, zero8), "55 7500"},
		{"v4 empty expression", le32, 0, cat([]byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0}, zero8), "-"},
		{"v4 base address is no entry", le32, 0, cat(ones, []byte{0, 0, 0, 8}, []byte{1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0x51}, zero8), "51"},
		{"v4 big-endian at an offset", be32, 2, cat([]byte{9, 9}, []byte{0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0x55}, zero8), "55"},
		{"v4 addresses of 8 bytes", ExprFormat{Version: 3, AddrSize: 8}, 0, cat(zero8, []byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x55}, zero8, zero8), "55"},
		{"v4 base address of 8 bytes", ExprFormat{Version: 4, AddrSize: 8}, 0, cat(ones, ones, zero8, zero8, zero8), ""},
		{"v4 without end", le32, 0, []byte{0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x55}, "55 error .debug_loc+0xb: location list entry cut off"},
		{"v4 expression too long", le32, 0, []byte{0, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0x55}, "error .debug_loc+0x0: location expression goes beyond the section"},
		{"v4 length cut off", le32, 0, []byte{0, 0, 0, 0, 8, 0, 0, 0, 2}, "error .debug_loc+0x0: location list entry cut off"},

		{"v4 begin 0 is no end", le32, 0, cat([]byte{0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0x55}, zero8), "55"},
		{"v4 end 0 is no end", le32, 0, cat([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x55}, zero8), "55"},
		{"v4 without addresses", ExprFormat{Version: 4}, 0, make([]byte, 20), "error .debug_loc+0x0: location list entry cut off"},
		{"v4 addresses of 16 bytes", ExprFormat{Version: 4, AddrSize: 16}, 0, make([]byte, 80), "error .debug_loc+0x0: location list entry cut off"},
		{"v4 nothing behind the end", le32, 0, zero8, ""},
		{"v4 end cut off", le32, 0, zero8[:7], "error .debug_loc+0x0: location list entry cut off"},
		{"v4 length at the end", le32, 0, []byte{0, 0, 0, 0, 8, 0, 0, 0, 0, 0}, "- error .debug_loc+0xa: location list entry cut off"},

		{"split every kind", split, 0, cat(
			[]byte{1, 0x85, 5},                                        // base_addressx
			[]byte{2, 0x81, 1, 2, 1, 0, 0x50},                         // startx_endx
			[]byte{3, 0x81, 1, 9, 0, 0, 0, 1, 0, 0x51},                // startx_length, of 4 bytes
			[]byte{4, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0x52}, []byte{0}), // offset_pair, of 4 bytes
			"50 51 52"},
		{"split without end", split, 0, []byte{1, 5}, "error .debug_loc+0x2: location list without end"},
		{"split unknown kind", split, 0, []byte{5, 0, 0, 0}, "error .debug_loc+0x0: unknown kind of location list entry"},
		{"split base cut off", split, 0, []byte{1, 0x80}, "error .debug_loc+0x0: location list entry cut off"},
		{"split first index cut off", split, 0, []byte{2, 0x80}, "error .debug_loc+0x0: location list entry cut off"},
		{"split second index cut off", split, 0, []byte{2, 1, 0x80}, "error .debug_loc+0x0: location list entry cut off"},
		{"split start index cut off", split, 0, []byte{3, 0x80}, "error .debug_loc+0x0: location list entry cut off"},
		{"split length of 4 cut off", split, 0, []byte{3, 1, 0, 0, 0}, "error .debug_loc+0x0: location list entry cut off"},
		{"split offset pair cut off", split, 0, []byte{4, 1, 0, 0, 0, 2, 0, 0}, "error .debug_loc+0x0: location list entry cut off"},
		{"split size cut off", split, 0, []byte{2, 1, 2, 1}, "error .debug_loc+0x0: location list entry cut off"},
		{"split size at the end", split, 0, []byte{2, 1, 2, 0, 0}, "- error .debug_loc+0x5: location list without end"},
		{"split expression too long", split, 0, []byte{2, 1, 2, 2, 0, 0x55}, "error .debug_loc+0x0: location expression goes beyond the section"},

		{"v5 offset pairs", le64, 0, []byte{4, 0, 8, 1, 0x55, 4, 8, 9, 4, 0xa3, 1, 0x55, 0x9f, 0}, "55 a301559f"},
		{"v5 every kind", le64, 0, cat(
			[]byte{1, 5},                   // base_addressx
			[]byte{2, 1, 2, 1, 0x50},       // startx_endx
			[]byte{3, 1, 0x80, 1, 1, 0x51}, // startx_length
			[]byte{4, 1, 2, 1, 0x52},       // offset_pair
			[]byte{5, 1, 0x53},             // default_location
			[]byte{6}, zero8,               // base_address
			[]byte{7}, zero8, zero8, []byte{1, 0x54}, // start_end
			[]byte{8}, zero8, []byte{0x85, 2, 1, 0x55}, []byte{0}), // start_length
			"50 51 52 53 54 55"},
		{"v5 addresses of 4 bytes", be32v5, 0, []byte{7, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0x54, 8, 0, 0, 0, 1, 4, 0, 0}, "54 -"},
		{"v5 view pair is unknown", le64, 0, []byte{4, 0, 8, 1, 0x55, 9, 0, 0, 0}, "55 error .debug_loclists+0x5: unknown kind of location list entry"},
		{"v5 without end", le64, 0, []byte{4, 0, 8, 1, 0x55}, "55 error .debug_loclists+0x5: location list without end"},
		{"v5 address cut off", le64, 0, []byte{6, 1, 2, 3}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 offset cut off", le64, 0, []byte{4, 0x80}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 length missing", le64, 0, []byte{4, 0, 1}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 start_length cut off", le64, 0, []byte{8, 0}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 base at the end", le64, 0, cat([]byte{6}, zero8), "error .debug_loclists+0x9: location list without end"},
		{"v5 addresses cut off", be32v5, 0, []byte{7, 0, 0, 0, 1, 0, 0, 0}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 second offset cut off", le64, 0, []byte{4, 1, 0x80}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 index cut off", le64, 0, []byte{1}, "error .debug_loclists+0x0: location list entry cut off"},
		{"v5 expression one too long", le64, 0, []byte{5, 2, 0x55}, "error .debug_loclists+0x0: location expression goes beyond the section"},
		{"v5 expression too long", le64, 0, []byte{5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x55}, "error .debug_loclists+0x0: location expression goes beyond the section"},
	}
	for _, tt := range tests {
		if got := dumpList(tt.in, tt.off, tt.f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzLocList(f *testing.F) {
	f.Add([]byte{4, 0, 8, 1, 0x55, 0}, uint64(0), uint8(3))
	f.Add([]byte{0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x55}, uint64(0), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, off uint64, mode uint8) {
		e := ExprFormat{Version: 2 + uint16(mode&3), AddrSize: 1 << (mode >> 2 & 3), BigEndian: mode&16 != 0}
		l := NewLocList(b, off, e)
		sum := 0
		for {
			x, ok := l.Next()
			if !ok {
				break
			}
			if sum += len(x); sum > len(b) {
				t.Fatal("expressions are longer than the section")
			}
		}
		if len(b) != 0 && off >= uint64(len(b)) && l.Err() == nil {
			t.Fatal("no error for an offset beyond the section")
		}
	})
}
