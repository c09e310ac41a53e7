// Package ccline says what a command line of a C compiler makes: GCC's and clang's
// options as far as they decide whether an object comes out, and where.
package ccline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Line is a parsed command line of a compiler.
type Line struct {
	// Objects are the objects that the compiler writes of C, with debug information; nil if
	// it does not compile C, writes something else, or has no -g.
	Objects []string

	// Reduced is the option that leaves types out of the debug information, "" if there is none.
	Reduced string
}

// withValue are options whose value is the next word. That word is not an option, whatever
// it looks like.
var withValue = []string{
	"-o", "-x", "-I", "-D", "-U", "-include", "-imacros", "-isystem", "-idirafter", "-iquote", "-iprefix", "-isysroot",
	"-iwithprefix", "-iwithprefixbefore", "-imultilib", "-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang",
	"-Xanalyzer", "-T", "-u", "-z", "-L", "-l", "-e", "-A", "-B", "-arch", "-target", "-mllvm", "-aux-info", "-dumpbase", "-dumpbase-ext",
	"-dumpdir", "-wrapper", "-specs", "-G", "-F", "-framework", "--param", "--sysroot", "--target", "--output", "--language", "--include-directory",
	"-serialize-diagnostics", "--serialize-diagnostics", "-gcc-toolchain", "-ivfsoverlay", "-iframework",
	"--std", "--include", "--imacros", "--define-macro", "--undefine-macro", "--prefix", "--config", "-resource-dir", "-iwithsysroot", "-mthread-model",
	"-working-directory", "-dependency-file",
}

// elsewhere are options with which no object comes out.
var elsewhere = []string{"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "--help", "--version", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs",
	"-emit-llvm", "--analyze", "--preprocess", "--assemble", "-fdirectives-only"}

// state is the state of the parser between two words.
type state struct {
	compile, debug, elsewhere bool
	toggle                    bool // -gtoggle: whatever the other options say of debug, the opposite
	output, language, reduced string
	level                     string // the -g option that leaves out all types, "" if the last one does not
	inputs                    []input
}

// input is an input file, and the language that -x says it has.
type input struct{ path, language string }

// maxFiles bounds how many files of options refer to each other.
const maxFiles = 32

// Behind returns the words of a command line that follow the name of the compiler. A program that
// starts the compiler may come first, as in "ccache gcc". There must be at least one word.
func Behind(words []string) []string {
	if len(words) > 1 && !IsCompiler(filepath.Base(words[0])) && IsCompiler(filepath.Base(words[1])) {
		words = words[1:]
	}
	return words[1:]
}

// Parse reads the words of a command line behind the name of the compiler. Files of
// options (@FILE) are read; one that cannot be is for the compiler to complain about.
func Parse(words []string) Line {
	var s state
	files := 0
	s.read(expand(words, &files))
	if !s.compile || s.debug == s.toggle || s.elsewhere {
		return Line{}
	}
	var l Line
	for _, in := range s.inputs {
		if in.isC() { // the compiler assembles others, or leaves them to the linker
			l.Objects = append(l.Objects, objectOf(in.path))
		}
	}
	if s.output != "" && len(l.Objects) > 0 {
		l.Objects = []string{s.output}
	}
	if l.Reduced = s.level; l.Reduced == "" {
		l.Reduced = s.reduced
	}
	return l
}

func (s *state) read(words []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		value := ""
		if slices.Contains(withValue, w) {
			if i++; i < len(words) {
				value = words[i]
			}
			s.option(w, value)
			continue
		}
		switch {
		case w == "-" || !strings.HasPrefix(w, "-"):
			s.inputs = append(s.inputs, input{w, s.language})
		case strings.HasPrefix(w, "-o"):
			s.output = w[2:]
		case strings.HasPrefix(w, "--output="):
			s.output = strings.TrimPrefix(w, "--output=")
		case strings.HasPrefix(w, "-x"):
			s.option("-x", w[2:])
		default:
			s.option(w, "")
		}
	}
}

// option reads an option with its value, if that is a word of its own.
func (s *state) option(w, value string) {
	switch {
	case w == "-o" || w == "--output":
		s.output = value
	case w == "-x" || w == "--language":
		if s.language = value; value == "none" {
			s.language = ""
		}
	case w == "-c" || w == "--compile":
		s.compile = true
	case slices.Contains(elsewhere, w), strings.HasPrefix(w, "-print-"), strings.HasPrefix(w, "--print-"):
		s.elsewhere = true
	case strings.HasPrefix(w, "-g"):
		s.debugOption(w)
	case w == "--debug", strings.HasPrefix(w, "--debug="):
		s.debug = w != "--debug=0"
	case strings.HasPrefix(w, "-femit-struct-debug-"): // the last one counts
		if s.reduced = w; w == "-femit-struct-debug-detailed=any" || w == "-femit-struct-debug-detailed=all" {
			s.reduced = ""
		}
	}
}

// debugOption reads an option that begins with -g. The last one that turns debug
// information on or off counts.
func (s *state) debugOption(w string) {
	switch {
	case w == "-gtoggle":
		s.toggle = true
	case w == "-g0" || w == "-ggdb0":
		s.debug = false
	case w == "-g1", w == "-ggdb1", w == "-gmlt", w == "-gline-tables-only":
		s.debug, s.level = true, w
	case w == "-gsplit-dwarf":
		s.debug = true
	case w == "-g", strings.HasPrefix(w, "-gdwarf"), strings.HasPrefix(w, "-ggdb"), w == "-gfull", w == "-glldb", w == "-gsce",
		len(w) == 3 && w[2] >= '2' && w[2] <= '9':
		s.debug, s.level = true, ""
	}
}

// isC reports whether the input is C, preprocessed or not. For standard input -x decides.
func (in *input) isC() bool {
	switch in.language {
	case "c", "cpp-output", "c-cpp-output":
		return true
	case "":
		ext := filepath.Ext(in.path)
		return ext == ".c" || ext == ".i"
	}
	return false
}

// objectOf is the object that the compiler writes for an input, without -o.
func objectOf(path string) string {
	base := filepath.Base(path)
	if i := strings.LastIndexByte(base, '.'); i > 0 { // a dot in front hides the file
		base = base[:i]
	}
	return base + ".o"
}

// expand puts the words of files of options in the place of @FILE.
func expand(words []string, files *int) []string {
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "@") }) {
		return words
	}
	var out []string
	for _, w := range words {
		path, isFile := strings.CutPrefix(w, "@")
		if !isFile || *files >= maxFiles {
			out = append(out, w)
			continue
		}
		*files++
		// A pipe can be read once, and that is for the compiler.
		info, err := os.Stat(path)
		var text []byte
		if err == nil && info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		if err != nil || !info.Mode().IsRegular() {
			out = append(out, w)
			continue
		}
		out = append(out, expand(split(string(text)), files)...)
	}
	return out
}

// split cuts the text of a file of options into words, which blanks part. Quotes of
// both kinds and backslashes keep blanks in a word.
func split(text string) []string {
	var words []string
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			open = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

// ForMachine reports whether an option of a compiler is for the machine, so that it may
// change the layout of types, or that another such option needs it: -march=armv6k has no
// floating point, and a compiler for hard floating point refuses it without -mfloat-abi=soft.
func ForMachine(option string) bool {
	switch option {
	case "-m32", "-m64", "-mx32", "-m31", "-fshort-enums", "-fno-short-enums", "-fsigned-char", "-funsigned-char",
		"-m96bit-long-double", "-m128bit-long-double":
		return true
	}
	for _, begin := range []string{"-mabi", "-march", "-mcpu", "-mlong-double", "-malign", "-mbe", "-mle", "-mfloat-abi", "-mfpu"} {
		if rest, ok := strings.CutPrefix(option, begin); ok {
			return strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789_.+=-") == ""
		}
	}
	return false
}

// Standard returns the usual spelling of an option that names a standard of C, and "" for all other
// options. It writes C23 as 2x, because older compilers know only that name.
func Standard(option string) string {
	name, ok := strings.CutPrefix(option, "-std=")
	if name, isISO := strings.CutPrefix(name, "iso9899:"); ok && isISO {
		name, ok = strings.CutPrefix(name, "19")
		if !ok {
			name = strings.TrimPrefix(name, "20")
		}
		return Standard("-std=c" + name)
	}
	dialect := "c"
	year, isC := strings.CutPrefix(name, "c")
	if !isC {
		if year, isC = strings.CutPrefix(name, "gnu"); !isC || !ok {
			return ""
		}
		dialect = "gnu"
	}
	switch year {
	case "89", "90", "99", "11", "17", "18", "2x":
	case "9x":
		year = "99"
	case "1x":
		year = "11"
	case "23":
		year = "2x"
	default:
		return ""
	}
	if !ok {
		return ""
	}
	return "-std=" + dialect + year
}

// ForLanguage reports whether an option of a compiler chooses the language that it reads, so
// that C which is made of the types may need it.
func ForLanguage(option string) bool {
	switch option {
	case "-ansi", "-fms-extensions", "-fplan9-extensions":
		return true
	}
	name, ok := strings.CutPrefix(option, "-std=")
	return ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789:+") == ""
}

// IsCompiler reports whether a program of that name, without folders, is a C compiler: cc,
// gcc or clang, with a target in front or a version behind.
func IsCompiler(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	name = strings.TrimSuffix(name, "-")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		name = name[i+1:]
	}
	return name == "gcc" || name == "cc" || name == "clang"
}
