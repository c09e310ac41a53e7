package btf

// Unchecked returns what the Builder has so far, without the checks of Blob.
func (b *Builder) Unchecked() *Blob {
	b.blob.Strings = b.strs.Bytes()
	return b.blob
}

// LastKind is the greatest known kind.
const LastKind = lastKind
