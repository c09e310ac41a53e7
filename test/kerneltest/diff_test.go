package kerneltest

import (
	"encoding/binary"
	"strings"
	"testing"
)

// btfOf assembles a BTF file from words of types and a string section.
func btfOf(strs string, words ...uint32) []byte {
	b := []byte{0x9f, 0xeb, 1, 0}
	le := binary.LittleEndian
	for _, w := range []uint32{24, 0, uint32(4 * len(words)), uint32(4 * len(words)), uint32(len(strs))} {
		b = le.AppendUint32(b, w)
	}
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	return append(b, strs...)
}

const (
	intInfo    = 1 << 24
	structInfo = 4<<24 | 1
)

func TestFirstDifferenceNamesTheType(t *testing.T) {
	const strs = "\x00int\x00s\x00m\x00n\x00"
	base := func(member, offset uint32) []byte {
		return btfOf(strs, 1, intInfo, 4, 0x20, 5, structInfo, 4, member, 1, offset)
	}
	tests := []struct {
		name      string
		want, got []byte
		contains  string
	}{
		{"equal", base(7, 0), base(7, 0), ""},
		{"member name", base(7, 0), base(9, 0), `[2] STRUCT "s" kflag=0 vlen=1 size/type=4 {"n" 1 0}`},
		{"member offset", base(7, 0), base(7, 32), `{"m" 1 32}`},
		{"fewer types", base(7, 0), btfOf(strs, 1, intInfo, 4, 0x20), "equal up to type 1, then one file ends"},
		{"strings", base(7, 0), btfOf(strs+"x\x00", 1, intInfo, 4, 0x20, 5, structInfo, 4, 7, 1, 0), "strings differ from offset 0xb"},
		{"same text at another offset", btfOf("\x00a\x00a\x00", 1, intInfo, 4, 0x20),
			btfOf("\x00a\x00a\x00", 3, intInfo, 4, 0x20), "headers or string offsets differ"},
		{"unknown kind", base(7, 0), btfOf(strs, 1, 30<<24, 4), "got BTF: type 1 at offset 0x0: unknown kind 30"},
		{"cut type", base(7, 0), btfOf(strs, 1, intInfo, 4), "INT needs 16 bytes, 12 are left"},
		{"no header", base(7, 0), []byte{1, 2}, "too few for a header"},
		{"no magic", base(7, 0), make([]byte, 24), "no BTF magic"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			diff := FirstDifference(tt.want, tt.got)
			if (diff == "") != (tt.contains == "") || !strings.Contains(diff, tt.contains) {
				t.Errorf("got %q, which must contain %q", diff, tt.contains)
			}
		})
	}
}

func TestParseReadsBothByteOrders(t *testing.T) {
	little := btfOf("\x00int\x00\x00\x00\x00", 1, intInfo, 4, 0x20)
	big := make([]byte, len(little))
	copy(big, little)
	big[0], big[1] = 0xeb, 0x9f
	for i := 4; i < 24+16; i += 4 {
		binary.BigEndian.PutUint32(big[i:], binary.LittleEndian.Uint32(little[i:]))
	}
	l, errL := parse(little)
	b, errB := parse(big)
	if errL != nil || errB != nil || len(l.types) != 1 || len(b.types) != 1 || l.types[0] != b.types[0] {
		t.Errorf("little %v %v, big %v %v", l, errL, b, errB)
	}
}
