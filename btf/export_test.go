package btf

import "testing"

// Unchecked returns what the Builder has so far, without the checks of Blob.
func (b *Builder) Unchecked() *Blob {
	b.blob.Strings = b.strs.Bytes()
	return b.blob
}

// MustBlob returns the BTF of a Builder with valid types.
func MustBlob(t testing.TB, b *Builder) *Blob {
	t.Helper()
	blob, err := b.Blob()
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// MustParse parses valid BTF.
func MustParse(t testing.TB, data []byte, base *Blob) *Blob {
	t.Helper()
	blob, err := Parse(data, base)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// LastKind is the greatest known kind.
const LastKind = lastKind
