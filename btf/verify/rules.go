package verify

// Limits of Linux 7.2; its name for each is given.
const (
	maxTypes      = 0xfffff  // BTF_MAX_TYPE: highest type id
	maxNameOffset = 0xffffff // BTF_MAX_NAME_OFFSET
	maxName       = 512      // KSYM_NAME_LEN: bytes of an identifier or section name
	maxOldName    = 128      // the same before 6.1
	maxDepth      = 32       // MAX_RESOLVE_DEPTH
	maxOldVlen    = 0xffff   // BTF_MAX_VLEN before 7.2
)

// Level says which of a kernel's rules apply.
type Level uint8

const (
	// Load is all rules, as for BPF_BTF_LOAD.
	Load Level = iota
	// Boot has the rules that the kernel applies at boot to vmlinux, and to a module when it is
	// loaded.
	Boot
	// Readable has the rules that any reader needs: sections, records, names and
	// references exist. It is for types of languages other than C, whose names and
	// layouts a kernel refuses.
	Readable
)

// Rules says by which rules to check. The zero value is all rules of the newest
// release known.
type Rules struct {
	Level Level
	// Kernel is the release whose rules count. The zero value stands for the newest known release
	// or a later one: if the layout section gives their lengths, types of unknown kinds are skipped
	// and not judged.
	Kernel Release
	// Reader says that Kernel stands for the age of the programs that read the BTF, not for the
	// kernel that loads it. Then only features count that change the format of records or of the
	// file.
	Reader bool
	// PointerSize is the size of a pointer in bytes, 4 or 8. With 0 the verifier goes by the
	// size of C's long. If the BTF has no long, or has longs of 4 and of 8 bytes, it accepts
	// what is valid for one of the two sizes.
	PointerSize int
	// Loaded says that the BTF comes from a BPF object, which a loader such as libbpf
	// completes first: it fills in sections, resolves externs, and rewrites kinds that
	// the kernel does not know.
	Loaded bool
	// Distilled tells that the base is a distilled one, of section .BTF.base.
	Distilled bool
	// Workers is how many goroutines share the work; 0 is one. The verdict does
	// not depend on it.
	Workers int
	// Stop, if not nil, is asked now and then, by several goroutines. If it returns an error, the
	// check ends soon with that. It must return the error from then on, as context.Context.Err does.
	Stop func() error
}
