package dump

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/btflite/btflite/btf"
)

// Names of BTF may have any bytes. What strict C has of them is identifiers and words for
// numbers that this file has checked or made: nothing else of a name reaches a compiler.

// Numbers of C, by their words in the order that this file writes them in.
var (
	intNames = sync.OnceValue(func() map[string]uint32 {
		const perPointer = 0 // long has the size of a pointer
		m := map[string]uint32{"char": 1, "signed char": 1, "unsigned char": 1, "_Bool": 1, "__int128": 16, "unsigned __int128": 16, "signed __int128": 16,
			"int": 4, "signed": 4, "signed int": 4, "unsigned": 4, "unsigned int": 4}
		for base, size := range map[string]uint32{"short": 2, "long": perPointer, "long long": 8} {
			for _, with := range []string{"", " int"} {
				for _, sign := range []string{"", "signed ", "unsigned "} {
					m[sign+base+with] = size
				}
			}
		}
		return m
	})
	intOrder   = []string{"signed", "unsigned", "char", "short", "long", "int", "_Bool", "__int128"}
	floatNames = map[string]uint32{"float": 4, "double": 8, "long double": 0} // whose size the machine says
	// compilerFloats are those that only some compilers have.
	compilerFloats = []string{"_Float16", "_Float32", "_Float64", "_Float128", "_Float32x", "_Float64x", "__float128", "__float80", "__ibm128", "__bf16", "__fp16",
		"_Decimal32", "_Decimal64", "_Decimal128"}
)

// numberWords is a name of a number as this file writes it: compilers have "long unsigned int"
// for what others call "unsigned long".
func numberWords(name string) string {
	words := strings.Fields(name)
	slices.SortStableFunc(words, func(x, y string) int { return slices.Index(intOrder, x) - slices.Index(intOrder, y) })
	return strings.Join(words, " ")
}

// intOfC is the name of an integer in words of C, and whether they mean one of that size.
func intOfC(name string, size, pointerSize uint32) (string, bool) {
	words := numberWords(name)
	n, ok := intNames()[words]
	if n == 0 {
		n = pointerSize
	}
	return words, ok && n == size
}

// IsNumber reports whether C has a number with the name of an INT or FLOAT. Others are
// types that compilers add.
func IsNumber(rec btf.Record, name string) bool {
	if rec.Kind() == btf.KindFloat {
		_, ok := floatNames[name]
		return ok || slices.Contains(compilerFloats, name) || strings.HasPrefix(name, "complex ") && complexName(name) != ""
	}
	_, ok := intNames()[numberWords(name)]
	return ok
}

// complexName is a complex number of C, which compilers call "complex float" in the DWARF.
func complexName(name string) string {
	if of, ok := strings.CutPrefix(name, "complex "); ok {
		if _, ok = floatNames[of]; ok {
			return "_Complex " + of
		}
	}
	return ""
}

// intName is the name of an integer in C. Compilers define macros for each size.
func intName(name string, rec btf.Record, pointerSize uint32) string {
	encoding, _, _ := rec.Int()
	sign := "U"
	if encoding&1 != 0 {
		sign = ""
	}
	size := rec.Third()
	if words, ok := intOfC(name, size, pointerSize); ok {
		return words
	}
	switch {
	case size == 0:
		return "void"
	case encoding == 4 && size == 1:
		return "_Bool"
	case size == 16 && sign == "":
		return "__int128"
	case size == 16:
		return "unsigned __int128"
	case size == 1 || size == 2 || size == 4 || size == 8:
		return "__" + sign + "INT" + strconv.Itoa(int(8*size)) + "_TYPE__"
	}
	return Identifier(name)
}

// floatName returns how C calls a floating-point number of this name and size. If C has no such
// number, it returns an integer type of the size, or "" if C has none of these either. With own, it
// also keeps names that only some compilers know.
func floatName(name string, size uint32, own bool) string {
	if _, ok := floatNames[name]; ok {
		return name
	}
	if own && slices.Contains(compilerFloats, name) {
		return name
	}
	if own && complexName(name) != "" {
		return complexName(name)
	}
	switch {
	case size == 0 || size == 4:
		return "float"
	case size == 8:
		return "double"
	case size >= 10 && size <= 16:
		return "long double"
	case size <= 2: // as _Float16
		return "__UINT" + strconv.Itoa(int(8*size)) + "_TYPE__"
	}
	return ""
}

// reserved are the words that cannot be names in C or GNU C, under any standard.
var reserved = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`auto break case char const continue default do double else enum extern float for goto if inline int
		long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
		_Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal32 _Decimal64 _Decimal128 _Float16 _Float32 _Float64 _Float128 _Float32x _Float64x
		_Generic _Imaginary _Noreturn _Pragma _Static_assert _Thread_local __FILE__ __LINE__ __COUNTER__ __DATE__ __TIME__ __TIMESTAMP__ __BASE_FILE__
		__INCLUDE_LEVEL__ __FUNCTION__ __PRETTY_FUNCTION__ __func__ __VA_ARGS__ __VA_OPT__ __alignof __alignof__ __asm __asm__ __attribute __attribute__
		__auto_type __bf16 __complex __complex__ __const __const__ __declspec __extension__ __float80 __float128 __fp16 __has_attribute
		__has_builtin __has_c_attribute __has_cpp_attribute __has_declspec_attribute __has_embed __has_extension __has_feature __has_include
		__has_include_next __has_warning __ibm128 __imag __imag__ __inline __inline__ __int128 __is_identifier __label__ __null __nullptr
		__real __real__ __restrict __restrict__ __seg_fs __seg_gs __signed __signed__ __thread __typeof __typeof__ __typeof_unqual __typeof_unqual__
		__volatile __volatile__ defined __weak __ksym __bpf_fastcall __btf_type_tag`) {
		m[w] = true
	}
	return m
})

// Where words are reserved that are names elsewhere, as conditions of the preprocessor. GCC has
// the words of C23 since 13 and clang since 15.
const (
	inC23 = "defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L && (__GNUC__ >= 13 || defined(__clang__) && __clang_major__ >= 15)"
	inGNU = "!defined(__STRICT_ANSI__)"
)

// sometimes are the words that are reserved in some dialects only. Compilers for some machines
// define the last ones as macros, and other headers may define the first ones.
var sometimes = sync.OnceValue(func() map[string]string {
	m := map[string]string{"asm": inGNU, "typeof": inGNU + " || " + inC23}
	for _, w := range strings.Fields("alignas alignof bool constexpr false nullptr static_assert thread_local true typeof_unqual") {
		m[w] = inC23
	}
	for _, w := range strings.Fields("linux unix i386 mips sparc arm vax sun hppa m68k") {
		m[w] = "defined(" + w + ")"
	}
	return m
})

// Dialect is a standard of C in which the names of b are names: "" if they are in all of them, or
// for those that compilers begin with.
func Dialect(b *btf.Blob) string {
	dialect := ""
	for id := uint32(1); id < b.TypeCount(); id++ {
		rec := b.Record(id)
		if k := rec.Kind(); k == btf.KindInt || k == btf.KindFloat {
			continue
		}
		btf.EachName(rec, func(off *uint32) {
			name := b.NameBytes(*off)
			if len(name) > maxWord {
				return
			}
			switch where := sometimes()[string(name)]; where {
			case "":
			case inC23:
				dialect = cmp.Or(dialect, "gnu11")
			default:
				dialect = "c11"
			}
		})
	}
	return dialect
}

// maxWord is how long the words of sometimes are at the most.
const maxWord = len("static_assert")

// Identifier turns the name of a type, a member or a parameter into an identifier of strict C; ""
// stays "".
func Identifier(name string) string {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || name[i]-'0' > 9) {
			name = madeIdentifier(name)
			break
		}
	}
	if reserved()[name] {
		return name + "_"
	}
	return name
}

// madeIdentifier replaces what C does not allow in a name.
func madeIdentifier(name string) string {
	made := []byte(name)
	for i, c := range made {
		if !isLetter(c) && c-'0' > 9 {
			made[i] = '_'
		}
	}
	if made[0]-'0' <= 9 {
		return "_" + string(made)
	}
	return string(made)
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// wordsBegin replaces names that are reserved in some dialects of C. A macro of such a
// name, as in stdbool.h, comes back after the types.
func wordsBegin(names []string) string {
	var text strings.Builder
	for _, w := range names {
		where := sometimes()[w]
		text.WriteString("#pragma push_macro(\"" + w + "\")\n#if " + where + "\n#undef " + w + "\n#define " + w + " " + w + "_\n#else\n#undef " + w + "\n#endif\n\n")
	}
	return text.String()
}

// wordsEnd gives the words back what they were.
func wordsEnd(names []string) string {
	var text strings.Builder
	for _, w := range names {
		text.WriteString("#pragma pop_macro(\"" + w + "\")\n")
	}
	return text.String()
}
