package main

// What is beside the BTF (--extra_vars, --inline): split BTF over it, as it is or, in a
// file whose name ends in ".o", as an object.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// beside says where what is beside the BTF goes, for modules the end of its name; "" for
// what is not wanted.
type beside struct{ extraVars, inlineTo string }

// extraSuffix and inlineSuffix are how files beside the BTF of modules end.
const (
	extraSuffix  = ".vars.btf"
	inlineSuffix = ".inline.btf"
)

func (b *beside) setExtraSuffix(v string) error  { return setSuffix(&b.extraVars, v, extraSuffix) }
func (b *beside) setInlineSuffix(v string) error { return setSuffix(&b.inlineTo, v, inlineSuffix) }

// setSuffix takes the end of a file name, or usual for none.
func setSuffix(dst *string, v, usual string) error {
	if strings.ContainsRune(v, '/') {
		return usagef("'%s' is not a valid file name suffix", message.OneLine(v))
	}
	*dst = cmp.Or(v, usual)
	return nil
}

// openBeside finds the places of what is beside the BTF; nil for what is not wanted.
func (c *cli) openBeside(b *beside, inputs []string, out *target) (extra, inlined *target, err error) {
	if extra, err = c.openSide(b.extraVars, "extra variables", inputs, out); err != nil {
		return nil, nil, err
	}
	inlined, err = c.openSide(b.inlineTo, "inlined functions", inputs, out)
	if err == nil && extra != nil && inlined != nil && inlined.sameFile(extra) {
		err = fmt.Errorf("%s: the inlined functions would replace the extra variables", message.OneLine(inlined.path))
	}
	return extra, inlined, err
}

// openSide finds a place, which must be neither an input nor the main output; nil for no
// path.
func (c *cli) openSide(path, what string, inputs []string, out *target) (*target, error) {
	if path == "" {
		return nil, nil
	}
	to, err := c.resolveTarget(path)
	if err != nil {
		return nil, err
	}
	if out != nil && to.sameFile(out) {
		return nil, fmt.Errorf("%s: the %s would replace the output", message.OneLine(to.path), what)
	}
	return to, to.refuseInputs(inputs)
}
