package attach

import (
	"fmt"
	"slices"
	"strings"
)

// Function is a function to attach to.
type Function struct {
	Name string
	// InBTF says that BTF has a FUNC of it. Fault names the part of its prototype that
	// fentry and fexit do not take, "" for nothing. TakenFrom is the first release of Linux
	// (major, minor) that takes it after all; {0, 0} if none does.
	InBTF     bool
	Fault     string
	TakenFrom [2]int
}

// Advice says where tracers can attach, in bpftrace's notation: "fentry:NAME", in a
// module "fentry:MODULE:NAME".
type Advice struct {
	Entry, Exit string   // fentry and fexit; "" if the kernel refuses them
	Probes      []string // kprobes that see all calls together
	Variants    []string // kprobes for calls of variants, which the others do not see
	Parts       []string // kprobes for parts of it, if it has nothing else
	// Reasons say why the kernel refuses what is missing above.
	Reasons []string
}

// Nothing says that there is nothing to attach to.
func (a *Advice) Nothing() bool { return a.Entry == "" && a.Exit == "" && len(a.Probes) == 0 }

// All are all points that see the whole function or a variant of it.
func (a *Advice) All() (all []string) {
	for _, p := range append([]string{a.Entry, a.Exit}, a.Probes...) {
		if p != "" {
			all = append(all, p)
		}
	}
	return append(all, a.Variants...)
}

// Advise says what to attach to.
func (s *Symbols) Advise(f Function) (a Advice) {
	var variants, parts []string // names of symbols
	for _, name := range s.family[f.Name] {
		switch {
		case name == f.Name || strings.Contains(name, ".cold"):
		case strings.Contains(name, ".part."):
			parts = append(parts, name)
		case s.isCode(name):
			variants = append(variants, name)
		}
	}
	own := s.isCode(f.Name)
	if f.InBTF {
		s.adviseEntry(&a, f)
	}
	if own {
		a.Probes = s.probes(&a, f.Name)
	}
	to := &a.Probes
	if own {
		to = &a.Variants
	}
	for _, name := range variants {
		*to = append(*to, s.probes(&a, name)...)
	}
	if a.Nothing() && len(a.Variants) == 0 {
		for _, name := range parts {
			a.Parts = append(a.Parts, s.probes(&a, name)...)
		}
	}
	if !own && len(variants)+len(parts) == 0 {
		a.because("its code is in its callers")
	}
	return a
}

// Has reports whether there is a symbol of the name.
func (s *Symbols) Has(name string) bool { return len(s.byName[name]) > 0 }

func (a *Advice) because(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); !slices.Contains(a.Reasons, why) {
		a.Reasons = append(a.Reasons, why)
	}
}

func (s *Symbols) isCode(name string) bool {
	return slices.ContainsFunc(s.byName[name], func(x symbol) bool { return x.code })
}

// functions are the symbols of a name that are functions; if none has that type, those
// that are code.
func (s *Symbols) functions(name string) (list []symbol) {
	for _, x := range s.byName[name] {
		if x.code && x.function {
			list = append(list, x)
		}
	}
	if list == nil {
		for _, x := range s.byName[name] {
			if x.code {
				list = append(list, x)
			}
		}
	}
	return list
}

// prefix comes before the name of a symbol: the module's name, or nothing.
func (s *Symbols) prefix() string {
	if s.module == "" {
		return ""
	}
	return s.module + ":"
}

// adviseEntry reports whether fentry and fexit take the function.
func (s *Symbols) adviseEntry(a *Advice, f Function) {
	all := s.byName[f.Name]
	if len(all) == 0 {
		a.because("no fentry or fexit: they need a symbol of exactly this name")
		return
	}
	first := all[0] // in a module, the kernel takes the first one of the table
	for _, x := range all {
		if s.module == "" && x.value < first.value {
			first = x
		}
	}
	switch {
	case f.Fault != "" && f.TakenFrom == [2]int{}:
		a.because("no fentry or fexit: %s", f.Fault)
		return
	case f.Fault != "" && s.before(f.TakenFrom):
		a.because("no fentry or fexit before Linux %d.%d: %s", f.TakenFrom[0], f.TakenFrom[1], f.Fault)
		return
	case s.places.denied[f.Name]:
		a.because("no fentry or fexit: the kernel does not let BPF programs in")
		return
	case !first.code:
		a.because("no fentry or fexit: the kernel would take the variable of this name at %#x for it", first.value)
		return
	}
	if why := s.unreachable(&first); why != "" {
		a.because("%s", why)
		return
	}
	if slices.ContainsFunc(s.functions(f.Name), func(x symbol) bool { return s.places.at(&x) != s.places.at(&first) }) {
		a.because("fentry and fexit attach to the code at %#x, the first of this name", first.value)
	}
	a.Entry = "fentry:" + s.prefix() + f.Name
	if s.places.noReturn[f.Name] {
		a.because("no fexit: it does not return")
		return
	}
	a.Exit = "fexit:" + s.prefix() + f.Name
}

// before reports whether the file is of a release of Linux before the given one. A file
// that does not tell its release may be.
func (s *Symbols) before(release [2]int) bool {
	var own [2]int
	fmt.Sscanf(s.release, "%d.%d", &own[0], &own[1]) // {0, 0} if it is not told
	return slices.Compare(own[:], release[:]) < 0
}

// unreachable says why nothing can be attached to code; "" if something can.
func (s *Symbols) unreachable(x *symbol) string {
	switch {
	case within(s.places.gone, s.places.at(x)) && s.module != "":
		return "its code is gone when the module has been loaded (__init)"
	case within(s.places.gone, s.places.at(x)):
		return "its code is gone when the kernel has booted (__init)"
	case !s.places.isTraced(x):
		return "its code has no place for ftrace, which fentry and kprobes need (notrace)"
	}
	return ""
}

// probes are kprobes at all code of a name.
func (s *Symbols) probes(a *Advice, name string) (found []string) {
	all := s.byName[name]
	for _, one := range s.functions(name) {
		x := &one
		why := s.unreachable(x)
		if why != "" && s.partOfTraced(x) && !within(s.places.gone, s.places.at(x)) {
			why = ""
		}
		if why == "" && within(s.places.noProbe, s.places.at(x)) {
			why = "no kprobe: the kernel keeps kprobes out of it (NOKPROBE_SYMBOL, noinstr)"
		}
		switch {
		case why != "":
			a.because("%s", why)
		case len(all) == 1:
			found = append(found, "kprobe:"+s.prefix()+name)
		default:
			a.because("no kprobe by the name %s: %d symbols have it", name, len(all))
			if anchor, ok := s.anchor[x.section]; ok && x.value >= anchor.value {
				found = append(found, fmt.Sprintf("kprobe:%s%s+%#x", s.prefix(), anchor.name, x.value-anchor.value))
			}
		}
	}
	return found
}

// partOfTraced reports whether the function that a part or variant is of is traced, which
// is enough for a kprobe.
func (s *Symbols) partOfTraced(x *symbol) bool {
	stem, _, ok := strings.Cut(x.name, ".")
	if !ok {
		return false
	}
	all := s.byName[stem]
	return len(all) > 0 && s.places.isTraced(&all[0])
}

// Lines are the advice in sentences.
func (a *Advice) Lines() (lines []string) {
	points := slices.DeleteFunc([]string{a.Entry, a.Exit}, func(p string) bool { return p == "" })
	points = append(points, a.Probes...)
	reasons := a.Reasons
	switch n := len(points); {
	case n == 0 && len(a.Variants) > 0:
	case n == 0 && len(a.Parts) > 0:
		lines = append(lines, "attach to a part of it, which the rest calls, by "+strings.Join(a.Parts, ", "))
	case n == 0 && len(reasons) == 0:
		return []string{"there is nothing to attach to"}
	case n == 0:
		return []string{"there is nothing to attach to: " + strings.Join(reasons, "; ")}
	case a.Entry == "" && a.Exit == "" && n > 1:
		lines = append(lines, "attach to each by "+strings.Join(points, ", "))
	case n == 1:
		lines = append(lines, "attach to it by "+points[0])
	default:
		lines = append(lines, "attach to it by "+strings.Join(points[:n-1], ", ")+" or "+points[n-1])
	}
	if len(a.Variants) > 0 {
		lines = append(lines, "attach to its variants, which take some calls, by "+strings.Join(a.Variants, ", "))
	}
	return append(lines, reasons...)
}
