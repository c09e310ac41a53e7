package attach

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/mmapelf"
)

// Types of symbols.
const (
	noType   = 0
	object   = 1
	function = 2
	global   = 0x10
)

// sym is a symbol of a file of the test.
type sym struct {
	name    string
	section string
	value   uint64
	size    uint64
	info    byte
}

// image is a file whose sections lie at the addresses given, with symbols.
func image(l elftest.Layout, kind, machine int, sections []elftest.Section, symbols []sym) []byte {
	index := map[string]uint16{}
	for i, s := range sections {
		index[s.Name] = uint16(i + 1)
	}
	strings, table := []byte{0}, l.Symbol(nil, elftest.Symbol{})
	for _, s := range symbols {
		table = l.Symbol(table, elftest.Symbol{Name: uint32(len(strings)), Info: s.info, Section: index[s.section], Value: s.value, Size: s.size})
		strings = append(append(strings, s.name...), 0)
	}
	for i := range sections {
		if sections[i].Type == rela {
			sections[i].Link = uint32(len(sections) + 1)
		}
	}
	sections = append(sections,
		elftest.Section{Name: ".symtab", Type: elftest.Symtab, Data: table, Link: uint32(len(sections) + 2), EntSize: uint64(l.SymbolSize())},
		elftest.Section{Name: ".strtab", Type: elftest.Strtab, Data: strings})
	return elftest.Image{Layout: l, Type: kind, Machine: machine, Sections: sections}.Bytes()
}

const rela = 4 // SHT_RELA

// words are addresses as a table has them.
func words(l elftest.Layout, list ...uint64) (b []byte) {
	for _, x := range list {
		b = l.Word(b, x)
	}
	return b
}

func read(t *testing.T, data []byte) *Symbols {
	t.Helper()
	f, err := mmapelf.New("test", data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(f, f, func([]byte) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// kernel builds a file like a kernel's, with functions of all kinds. traced says whether
// its ftrace table has contents.
func kernel(l elftest.Layout, traced bool) []byte {
	const text, initText, data, tables, ids = 0x1000, 0x3000, 0x4000, 0x5000, 0x6000
	var symbols []sym
	var places []uint64
	at := uint64(text)
	add := func(name string, trace bool) uint64 {
		symbols = append(symbols, sym{name, ".text", at, 16, function})
		if trace {
			places = append(places, at+4)
		}
		at += 16
		return at - 16
	}
	symbols = append(symbols, sym{"_stext", ".text", text, 0, noType | global})
	add("plain", true)
	add("renamed.isra.0", true)
	add("renamed.isra.0.cold", false)
	add("cloned", true)
	add("cloned.constprop.0", true)
	add("twice", true)
	add("twice", true)
	add("withdata", true)
	add("partly.part.0", true)
	add("coldonly.cold", false)
	add("notrace", false)
	add("untraced.isra.0", false)
	banned := add("banned", true)
	add("denied", true)
	add("dead", true)
	add("lto.llvm.123", true)
	add("fault", true)
	at = text + 0x800
	symbols = append(symbols, sym{"__noinstr_text_start", ".text", at, 0, noType})
	add("noinstr", true)
	symbols = append(symbols, sym{"__noinstr_text_end", ".text", at, 0, noType},
		sym{"__init_begin", ".init.text", initText, 0, noType}, sym{"early", ".init.text", initText + 16, 16, function},
		sym{"__init_end", ".data", data, 0, noType},
		sym{"withdata", ".data", data + 8, 8, object},
		sym{"shadowed", ".data", data + 16, 8, object},
		sym{"low", ".text", text + 0x900, 16, function}, sym{"low", ".head", 0x100, 8, object})
	places = append(places, text+0x904, 0)
	list, blacklist := words(l, places...), words(l, banned)
	stop := tables + uint64(len(list))
	symbols = append(symbols,
		sym{"__start_mcount_loc", ".tables", tables, 0, noType}, sym{"__stop_mcount_loc", ".tables", stop, 0, noType},
		sym{"__start_kprobe_blacklist", ".tables", stop, 0, noType}, sym{"__stop_kprobe_blacklist", ".tables", stop + uint64(len(blacklist)), 0, noType},
		sym{"__BTF_ID__set__btf_id_deny", ".BTF_ids", ids, 12, noType}, sym{"__BTF_ID__func__denied__7", ".BTF_ids", ids + 4, 4, object},
		sym{"__BTF_ID__set__noreturn_deny", ".BTF_ids", ids + 12, 8, noType}, sym{"__BTF_ID__func__dead__8", ".BTF_ids", ids + 16, 4, object})
	of := func(name string, addr uint64, flags uint64, data []byte) elftest.Section {
		return elftest.Section{Name: name, Addr: addr, Flags: flags, Data: data}
	}
	const alloc, exec = elftest.Alloc, elftest.Exec
	table := of(".tables", tables, alloc, append(list, blacklist...))
	if !traced {
		table = elftest.Section{Name: ".tables", Addr: tables, Flags: alloc, Type: elftest.Nobits, Size: uint64(len(table.Data))}
	}
	return image(l, elftest.Executable, 0, []elftest.Section{
		of(".head", 0x100, alloc, make([]byte, 16)),
		of(".text", text, alloc|exec, make([]byte, 0x1000)), of(".init.text", initText, alloc|exec, make([]byte, 0x100)),
		of(".data", data, alloc, make([]byte, 64)), table, of(".BTF_ids", ids, alloc, make([]byte, 20)),
	}, symbols)
}

// text is the advice for a function.
func text(s *Symbols, f Function) string {
	a := s.Advise(f)
	return strings.Join(a.Lines(), "\n")
}

func TestAdvice(t *testing.T) {
	const (
		noTrace = "its code has no place for ftrace, which fentry and kprobes need (notrace)"
		noName  = "no fentry or fexit: they need a symbol of exactly this name"
		keptOut = "no kprobe: the kernel keeps kprobes out of it (NOKPROBE_SYMBOL, noinstr)"
	)
	all := func(name string) string {
		return "attach to it by fentry:" + name + ", fexit:" + name + " or kprobe:" + name
	}
	for _, l := range elftest.Layouts {
		s := read(t, kernel(l, true))
		for _, tt := range []struct {
			name  string
			inBTF bool
			want  string
		}{
			{"plain", true, all("plain")},
			{"plain", false, "attach to it by kprobe:plain"},
			{"renamed", true, "attach to it by kprobe:renamed.isra.0\n" + noName},
			{"renamed", false, "attach to it by kprobe:renamed.isra.0"},
			{"cloned", true, all("cloned") + "\nattach to its variants, which take some calls, by kprobe:cloned.constprop.0"},
			{"twice", false, "attach to each by kprobe:_stext+0x50, kprobe:_stext+0x60\nno kprobe by the name twice: 2 symbols have it"},
			{"twice", true, "attach to it by fentry:twice, fexit:twice, kprobe:_stext+0x50 or kprobe:_stext+0x60\n" +
				"fentry and fexit attach to the code at 0x1050, the first of this name\nno kprobe by the name twice: 2 symbols have it"},
			{"withdata", true, "attach to it by fentry:withdata, fexit:withdata or kprobe:_stext+0x70\nno kprobe by the name withdata: 2 symbols have it"},
			{"low", true, "attach to it by kprobe:_stext+0x900\n" +
				"no fentry or fexit: the kernel would take the variable of this name at 0x100 for it\nno kprobe by the name low: 2 symbols have it"},
			{"partly", false, "attach to a part of it, which the rest calls, by kprobe:partly.part.0"},
			{"coldonly", false, "there is nothing to attach to: its code is in its callers"},
			{"inlined", false, "there is nothing to attach to: its code is in its callers"},
			{"inlined", true, "there is nothing to attach to: " + noName + "; its code is in its callers"},
			{"shadowed", true, "there is nothing to attach to: no fentry or fexit: the kernel would take the variable of this name at 0x4010 for it; its code is in its callers"},
			{"notrace", true, "there is nothing to attach to: " + noTrace},
			{"untraced", false, "there is nothing to attach to: " + noTrace},
			{"banned", true, "attach to it by fentry:banned or fexit:banned\n" + keptOut},
			{"banned", false, "there is nothing to attach to: " + keptOut},
			{"noinstr", true, "attach to it by fentry:noinstr or fexit:noinstr\n" + keptOut},
			{"early", true, "there is nothing to attach to: its code is gone when the kernel has booted (__init)"},
			{"denied", true, "attach to it by kprobe:denied\nno fentry or fexit: the kernel does not let BPF programs in"},
			{"dead", true, "attach to it by fentry:dead or kprobe:dead\nno fexit: it does not return"},
			{"lto", true, "attach to it by kprobe:lto.llvm.123\n" + noName},
		} {
			if got := text(s, Function{Name: tt.name, InBTF: tt.inBTF}); got != tt.want {
				t.Errorf("%s: %s, in BTF %v: %s", l, tt.name, tt.inBTF, cmp.Diff(tt.want, got))
			}
		}
		want := "attach to it by kprobe:fault\nno fentry or fexit: it takes variable arguments"
		if got := text(s, Function{Name: "fault", InBTF: true, Fault: "it takes variable arguments"}); got != want {
			t.Errorf("%s: %s", l, cmp.Diff(want, got))
		}
		for release, takes := range map[string]bool{"": false, "6.12.1-amd64": false, "6.18.44": true, "7.2.0": true} {
			s.release = release
			want := "attach to it by kprobe:fault\nno fentry or fexit before Linux 6.18: parameter 1 is a union"
			if takes {
				want = all("fault")
			}
			if got := text(s, Function{Name: "fault", InBTF: true, Fault: "parameter 1 is a union", TakenFrom: [2]int{6, 18}}); got != want {
				t.Errorf("%s, release %q: %s", l, release, cmp.Diff(want, got))
			}
		}
		// Where the file does not have the table, no function is taken to be without.
		if got := text(read(t, kernel(l, false)), Function{Name: "notrace", InBTF: true}); got != all("notrace") {
			t.Errorf("%s: %s", l, got)
		}
	}
}

// TestModule: the places of a relocatable file are in relocations, and the kernel wants the
// module's name before the function's.
func TestModule(t *testing.T) {
	l := elftest.Little64
	const relocated = 1 // R_X86_64_64
	reloc := func(b []byte, at, symbol, addend uint64) []byte {
		return l.Word(l.Word(l.Word(b, at), symbol<<32|relocated), addend)
	}
	symbols := []sym{ // .text is symbol 1
		{"", ".text", 0, 0, 3},
		{"traced", ".text", 0, 16, function}, {"untraced", ".text", 16, 16, function},
		{"start", ".text", 32, 16, function | global}, {"twice", ".text", 48, 16, function}, {"twice", ".text", 64, 16, function},
		{"setup", ".init.text", 0, 16, function}, {"renamed.isra.0", ".text", 80, 16, function},
	}
	var relocs []byte
	for i, at := range []uint64{4, 36, 52, 68, 84} {
		relocs = reloc(relocs, uint64(i)*8, 1, at)
	}
	s := read(t, image(l, elftest.Relocatable, 0, []elftest.Section{
		{Name: ".text", Flags: elftest.Alloc | elftest.Exec, Data: make([]byte, 128)},
		{Name: ".init.text", Flags: elftest.Alloc | elftest.Exec, Data: make([]byte, 16)},
		{Name: "__mcount_loc", Flags: elftest.Alloc, Data: make([]byte, 40)},
		{Name: ".rela__mcount_loc", Type: rela, Data: relocs, Info: 3, EntSize: 24},
		{Name: ".modinfo", Flags: elftest.Alloc, Data: []byte("license=GPL\x00name=some_mod\x00")},
		{Name: ".gnu.linkonce.this_module", Flags: elftest.Alloc, Data: make([]byte, 64)},
	}, symbols))
	for name, want := range map[string]string{
		"traced":   "attach to it by fentry:some_mod:traced, fexit:some_mod:traced or kprobe:some_mod:traced",
		"untraced": "there is nothing to attach to: its code has no place for ftrace, which fentry and kprobes need (notrace)",
		"setup":    "there is nothing to attach to: its code is gone when the module has been loaded (__init)",
		"renamed":  "attach to it by kprobe:some_mod:renamed.isra.0\nno fentry or fexit: they need a symbol of exactly this name",
		"twice": "attach to it by fentry:some_mod:twice, fexit:some_mod:twice, kprobe:some_mod:start+0x10 or kprobe:some_mod:start+0x20\n" +
			"fentry and fexit attach to the code at 0x30, the first of this name\nno kprobe by the name twice: 2 symbols have it",
	} {
		if got := text(s, Function{Name: name, InBTF: true}); got != want {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

// TestEach: values are places of code, on machines whose symbols say something else.
func TestEach(t *testing.T) {
	values := func(data []byte) map[string]uint64 {
		f, err := mmapelf.New("test", data)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]uint64{}
		if err := Each(f, f, func(name []byte, s *mmapelf.Symbol, code bool) {
			if code {
				found[string(name)] = s.Value
			}
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	code := elftest.Section{Name: ".text", Addr: 0x1000, Flags: elftest.Alloc | elftest.Exec, Data: make([]byte, 64)}
	thumb := image(elftest.Little32, elftest.Executable, elfabi.EMARM, []elftest.Section{code},
		[]sym{{"thumb", ".text", 0x1011, 4, function}, {"label", ".text", 0x1021, 0, noType}, {"$t", ".text", 0x1010, 0, noType}})
	if diff := cmp.Diff(map[string]uint64{"thumb": 0x1010, "label": 0x1021}, values(thumb)); diff != "" {
		t.Error(diff)
	}
	for _, l := range []elftest.Layout{elftest.Big64, elftest.Little64} {
		descriptors := elftest.Section{Name: ".opd", Addr: 0x2000, Flags: elftest.Alloc, Data: words(l, 0, 0, 0, 0x1020, 0, 0, 0x9000, 0, 0)}
		got := values(image(l, elftest.Executable, elfabi.EMPPC64, []elftest.Section{code, descriptors},
			[]sym{{"far", ".opd", 0x2018, 32, function}, {"odd", ".opd", 0x2030, 32, function}, {"beyond", ".opd", 0x2048, 32, function}}))
		if diff := cmp.Diff(map[string]uint64{"far": 0x1020, "odd": 0x2030, "beyond": 0x2048}, got); diff != "" {
			t.Error(l, diff)
		}
	}
}

// TestEachOfDebugFile: the symbols are in another file, whose sections may have other numbers
// and have no contents.
func TestEachOfDebugFile(t *testing.T) {
	const noBits = elfabi.SHTNobits
	l := elftest.Big64
	text := elftest.Section{Name: ".text", Addr: 0x1000, Flags: elftest.Alloc | elftest.Exec, Data: make([]byte, 64)}
	descriptors := elftest.Section{Name: ".opd", Addr: 0x2000, Flags: elftest.Alloc, Data: words(l, 0x1020, 0, 0)}
	bare := func(s elftest.Section) elftest.Section { s.Type, s.Data = noBits, nil; return s }
	open := func(sections []elftest.Section, symbols []sym) *mmapelf.File {
		f, err := mmapelf.New("test", image(l, elftest.Executable, elfabi.EMPPC64, sections, symbols))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	own := open([]elftest.Section{text, descriptors}, nil)
	debug := open([]elftest.Section{{Name: ".lost", Addr: 0x1000, Flags: elftest.Alloc, Type: noBits}, bare(descriptors), bare(text)},
		[]sym{{"lost", ".lost", 0x1008, 4, function}, {"far", ".opd", 0x2000, 32, function}, {"near", ".text", 0x1010, 4, function}})
	found := map[string]uint64{}
	if err := Each(own, debug, func(name []byte, s *mmapelf.Symbol, code bool) {
		if found[string(name)] = s.Value; !code || own.Sections[s.Shndx].Name != ".text" {
			t.Errorf("%s: code %v, section %d", name, code, s.Shndx)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]uint64{"far": 0x1020, "near": 0x1010}, found); diff != "" {
		t.Error(diff)
	}
	if err := Each(own, open(nil, nil), func([]byte, *mmapelf.Symbol, bool) {}); err != nil {
		t.Error(err)
	}
}

// FuzzRead: whatever the tables of a file say, it is read to an end.
func FuzzRead(f *testing.F) {
	for _, l := range elftest.Layouts {
		f.Add(kernel(l, true))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := mmapelf.New("test", data)
		if err != nil {
			return
		}
		s, err := Read(e, e, func([]byte) bool { return true })
		if err != nil {
			return
		}
		for name := range s.family {
			a := s.Advise(Function{Name: name, InBTF: true})
			a.Lines()
		}
	})
}
