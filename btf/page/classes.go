package page

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// class is a class of members that share a colour, on pages and in pictures.
type class struct {
	name string
	hue  int // of 360 degrees
}

// The classes of members. Data has their indices.
const (
	classInteger = iota
	classPointer
	classFunction
	classStruct
	classUnion
	classArray
	classEnum
	classFloat
	classOther
)

var classes = [...]class{
	classInteger:  {"integer", 212},
	classPointer:  {"pointer", 275},
	classFunction: {"pointer to a function", 322},
	classStruct:   {"struct", 145},
	classUnion:    {"union", 78},
	classArray:    {"array", 30},
	classEnum:     {"enum", 185},
	classFloat:    {"floating point", 0},
	classOther:    {"other", 50},
}

// MarshalJSON is the class as the script reads it.
func (c class) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%q,%d]", c.name, c.hue), nil }

// classOf is the class of a member of type t.
func classOf(t view.Type) int {
	t = t.Resolved()
	switch t.Kind() {
	case btf.KindInt:
		return classInteger
	case btf.KindPtr:
		if t.Target().Resolved().Kind() == btf.KindFuncProto {
			return classFunction
		}
		return classPointer
	case btf.KindStruct:
		return classStruct
	case btf.KindUnion:
		return classUnion
	case btf.KindArray:
		return classArray
	case btf.KindEnum, btf.KindEnum64:
		return classEnum
	case btf.KindFloat:
		return classFloat
	}
	return classOther
}

// The colours of a picture for light and dark, the same as in page.css.
const (
	svgLight = ".back { fill: #fff } .over { stroke: #fff } text { fill: #1b1f24 } .bar { stroke: #d5dae0 } .at, .note, .key { fill: #5c6670 } .m { stroke: #fff } .hole { fill: #c4392f } .pad { fill: #8a6d1f }"
	svgDark  = ".back { fill: #14171b } .over { stroke: #14171b } text { fill: #e4e8ec } .bar { stroke: #323a43 } .at, .note, .key { fill: #9aa5b0 } .m { stroke: #14171b } .hole { fill: #ff7b70 } .pad { fill: #d9b85c }"
)

// svgStyle are the rules of a picture that has members of some classes.
func svgStyle(drawn [len(classes)]bool) string {
	var light, dark strings.Builder
	for k, c := range classes {
		if drawn[k] {
			fmt.Fprintf(&light, " .k%d { fill: hsl(%d 60%% 76%%) }", k, c.hue)
			fmt.Fprintf(&dark, " .k%d { fill: hsl(%d 42%% 30%%) }", k, c.hue)
		}
	}
	return fmt.Sprintf(`.bar, .z { fill: none } .or { stroke-dasharray: 3 } .z { stroke: #888; stroke-dasharray: 2 } .h { fill: url(#hole) } .p { fill: url(#pad) } .over { paint-order: stroke; stroke-width: 4px } .at { text-anchor: end } .title { font-size: 14px; font-weight: bold }
%s%s
@media (prefers-color-scheme: dark) { %s%s }`, svgLight, &light, svgDark, &dark)
}
