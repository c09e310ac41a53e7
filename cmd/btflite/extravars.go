package main

// What is beside the BTF (--extra_vars, --inline): split BTF over it, as it is or, in a
// file whose name ends in ".o", as an object.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/btflite/btflite/encode"
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
func (c *cli) openBeside(e *encoding, inputs []string, out *target) (extra, inlined *target, err error) {
	if err := e.checkBeside(out == nil); err != nil {
		return nil, nil, err
	}
	if extra, err = c.openSide(e.extraVars, "extra variables", inputs, out); err != nil {
		return nil, nil, err
	}
	inlined, err = c.openSide(e.inlineTo, "inlined functions", inputs, out)
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

// checkBeside refuses what does not go with what is beside the BTF.
func (e *encoding) checkBeside(inPlace bool) error {
	if e.inlineTo != "" {
		switch {
		case e.features&encode.Inline != 0:
			return usagef("--inline: the feature inline puts the inlined functions into the main BTF already")
		case e.distils(inPlace):
			return usagef("--inline: with distilled_base the module's types have other ids in each kernel")
		}
	}
	if e.extraVars == "" {
		return nil
	}
	switch {
	case e.features&encode.GlobalVar != 0:
		return usagef("--extra_vars: the feature global_var puts all variables into the main BTF already")
	case e.distils(inPlace):
		return usagef("--extra_vars: with distilled_base the module's types have other ids in each kernel")
	}
	return nil
}
