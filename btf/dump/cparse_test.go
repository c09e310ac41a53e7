package dump_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf/dump"
)

// A parser of the C that strict C consists of: declarations, definitions of types, and functions
// with a body that does not end. It refuses all other C. So what it takes makes a compiler read no
// file and write no code, whatever the names of the BTF are.

// cParser takes tokens from the front of rest.
type cParser struct {
	rest  []string
	depth int
}

// cTokens are the tokens of C that there may be. Strings are in lines of the preprocessor and in
// type tags only.
var cTokens = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z_0-9]*|-?[0-9]+(?:ULL|LL)?|\.\.\.|"[A-Za-z_][A-Za-z_0-9]*"|"\.ksyms"|[][{}();:,*=])`)

// cLine is a line of the preprocessor that is about a name.
var cLine = regexp.MustCompile(`^#(?:pragma (?:push|pop)_macro\("[A-Za-z_]\w*"\)|undef [A-Za-z_]\w*|define ([A-Za-z_]\w*) [A-Za-z_]\w*_|if defined\([a-z0-9]+\))$`)

// checkC returns an error if text is not the C that strict C may be.
func checkC(text string) error {
	var p cParser
	fixed := dump.FixedLines()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			if !slices.Contains(fixed, line) && !cLine.MatchString(line) {
				return fmt.Errorf("a line of the preprocessor: %q", line)
			}
			continue
		}
		for line = strings.Trim(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
			if strings.HasPrefix(line, "/*") && slices.Contains(fixed, line) {
				break
			}
			token := cTokens.FindString(line)
			if token == "" {
				return fmt.Errorf("no token of C: %q", line)
			}
			p.rest = append(p.rest, token)
			line = line[len(token):]
		}
	}
	return p.file()
}

// Words with a meaning in the C that is taken.
var (
	cNumbers    = strings.Fields("void char short int long signed unsigned _Bool float double __int128 _Complex")
	cQualifiers = strings.Fields("const volatile __restrict")
	cOwn        = strings.Fields("struct union enum typedef extern for __attribute__ __btf_type_tag __weak __ksym __bpf_fastcall")
)

// errC ends the parser.
type errC string

func (p *cParser) file() (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(errC)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s, before %.20q", string(e), p.rest)
		}
	}()
	for len(p.rest) > 0 {
		switch {
		case p.take("typedef"):
			p.declaration()
			p.need(";")
		case p.take("extern"):
			p.take("__bpf_fastcall")
			p.declaration()
			p.need("__weak", "__ksym", ";")
		default:
			p.declaration()
			if p.take("{") {
				p.need("for", "(", ";", ";", ")", ";", "}")
			} else {
				p.need(";")
			}
		}
	}
	return nil
}

func (p *cParser) next() string {
	if len(p.rest) == 0 {
		return ""
	}
	return p.rest[0]
}

func (p *cParser) take(token string) bool {
	if p.next() != token {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *cParser) need(tokens ...string) {
	for _, t := range tokens {
		if !p.take(t) {
			panic(errC("no " + t))
		}
	}
}

// name takes a name if there is one. A word that C or GNU C reserves is none.
func (p *cParser) name() bool {
	t := p.next()
	if t == "" || t[0] != '_' && (t[0]|0x20 < 'a' || t[0]|0x20 > 'z') || slices.Contains(cNumbers, t) || slices.Contains(cQualifiers, t) || slices.Contains(cOwn, t) {
		return false
	}
	if strings.Contains(" asm __asm __asm__ _Pragma __attribute _Static_assert __extension__ typeof __typeof__ _Generic _Alignas __declspec inline static if goto return sizeof ", " "+t+" ") &&
		t != "asm" && t != "typeof" { // which are macros for other names where they are keywords
		panic(errC("a word of C in place of a name"))
	}
	p.rest = p.rest[1:]
	return true
}

func (p *cParser) number() {
	t := p.next()
	if t == "" || t[len(t)-1] != 'L' && strings.Trim(t, "-0123456789") != "" {
		panic(errC("no number"))
	}
	p.rest = p.rest[1:]
}

func (p *cParser) qualifiers() {
	for {
		switch {
		case slices.Contains(cQualifiers, p.next()):
			p.rest = p.rest[1:]
		case p.take("__btf_type_tag"):
			p.need("(")
			if !strings.HasPrefix(p.next(), `"`) {
				panic(errC("a tag without text"))
			}
			p.rest = p.rest[1:]
			p.need(")")
		default:
			return
		}
	}
}

func (p *cParser) attributes() {
	for p.take("__attribute__") {
		p.need("(", "(")
		switch {
		case p.take("packed"):
		case p.take("aligned"):
			p.need("(")
			p.number()
			p.need(")")
		default:
			p.need("mode", "(")
			if !slices.Contains([]string{"byte", "HI", "DI", "word"}, p.next()) {
				panic(errC("no mode"))
			}
			p.rest = p.rest[1:]
			p.need(")")
		}
		p.need(")", ")")
	}
}

// declaration parses a type and the name that it declares, if there is one.
func (p *cParser) declaration() {
	if p.depth++; p.depth > 10000 {
		panic(errC("too deep"))
	}
	defer func() { p.depth-- }()
	p.qualifiers()
	switch {
	case p.take("struct"), p.take("union"):
		p.name()
		if p.take("{") {
			for !p.take("}") {
				p.declaration()
				if p.take(":") {
					p.number()
				}
				p.need(";")
			}
			p.attributes()
		}
	case p.take("enum"):
		p.name()
		if p.take("{") {
			for !p.take("}") {
				if !p.name() {
					panic(errC("no enumerator"))
				}
				p.need("=")
				p.number()
				p.need(",")
			}
			p.attributes()
		}
	case slices.Contains(cNumbers, p.next()):
		for slices.Contains(cNumbers, p.next()) {
			p.rest = p.rest[1:]
		}
	default:
		if !p.name() {
			panic(errC("no type"))
		}
	}
	p.qualifiers()
	p.declarator()
}

func (p *cParser) declarator() {
	if p.depth++; p.depth > 10000 {
		panic(errC("too deep"))
	}
	defer func() { p.depth-- }()
	for p.take("*") {
		p.qualifiers()
	}
	if p.next() == "(" { // a declarator, or the parameters of a function without a name
		switch p.rest[min(1, len(p.rest)-1)] {
		case "*", "(":
			p.take("(")
			p.declarator()
			p.need(")")
		}
	}
	p.name()
	for {
		switch {
		case p.take("["):
			p.number()
			p.need("]")
		case p.take("("):
			for !p.take(")") {
				if !p.take("...") {
					p.declaration()
				}
				if p.next() != ")" {
					p.need(",")
				}
			}
		default:
			return
		}
	}
}
