package unitrecord

import (
	"errors"
	"testing"
)

// TestFrameCutShort: the beginning of a record is not a record, wherever it ends.
func TestFrameCutShort(t *testing.T) {
	for _, addrSize := range []int{4, 8} {
		for _, maker := range []string{"", "test"} {
			b, _ := appendFrame(nil, maker, 3, addrSize, []byte{1, 2, 3}, place{300, 70000}, appendSizes(nil, nil))
			if f, err := parseFrame(b, addrSize); err != nil || f.maker != maker || len(f.bases) != 3*addrSize || f.nodes != (place{300, 70000}) {
				t.Errorf("%+v, %v", f, err)
			}
			for n := range b {
				if _, err := parseFrame(b[:n:n], addrSize); err == nil {
					t.Errorf("the first %d of %d bytes are taken", n, len(b))
				}
			}
		}
	}
}

// TestFrameOfOtherVersion: a record in another format tells who has made it, and nothing else of it is
// read: it may end there.
func TestFrameOfOtherVersion(t *testing.T) {
	for _, b := range [][]byte{{Format + 1, Dictionary, 4, 't', 'e', 's', 't'}, {Format, Dictionary + 1, 4, 't', 'e', 's', 't', 0xff}} {
		_, err := parseFrame(b, 8)
		if version := new(VersionError); !errors.As(err, &version) || version.Maker != "test" {
			t.Errorf("%x: %v", b, err)
		}
	}
}
