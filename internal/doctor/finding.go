package doctor

// Level says how bad a finding is.
type Level uint8

const (
	Note    Level = iota // worth knowing
	Warning              // part of the types is missing, or may be
	Error                // there is no BTF, or a kernel refuses it
)

// String is the word for a level in messages.
func (l Level) String() string { return [...]string{"note", "warning", "error"}[l] }

// MarshalText returns the same for JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one thing that is wrong, or may be.
type Finding struct {
	ID    string `json:"id"` // does not change between releases of btflite
	Level Level  `json:"level"`
	What  string `json:"what"`           // one line, which names the option, program or file
	Cure  string `json:"cure,omitempty"` // a line to paste, "" if there is none
}

// Report has the findings for one input.
type Report struct {
	Input    string // as given
	Kind     string // tree, config, vmlinux, module, object, image, btf
	Release  string // of Linux, "" if it is not known
	Findings []Finding
}

// Worst is the level of the worst finding, Note for none.
func (r *Report) Worst() (worst Level) {
	for _, f := range r.Findings {
		worst = max(worst, f.Level)
	}
	return worst
}

func (r *Report) add(level Level, id, what, cure string) {
	r.Findings = append(r.Findings, Finding{id, level, what, cure})
}

// Host gives the facts about the machine: programs and memory. Tests replace it.
type Host struct {
	// Pahole is the program that $PAHOLE names or that is called pahole, "" if there is none,
	// and what it prints for --version.
	Pahole, PaholeVersion string
	// Memory is how many bytes a build may take, 0 if that is not known.
	Memory uint64
}
