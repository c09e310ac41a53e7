package main

// Side files (--extra_vars, --inline): split BTF over the main output, as it is or, if the
// name ends in ".o", as an object.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// sideFiles has the names of side files, or for modules their suffixes; "" for a file that is
// not wanted.
type sideFiles struct{ extraVars, inlineTo string }

// extraSuffix and inlineSuffix end the names of modules' side files.
const (
	extraSuffix  = ".vars.btf"
	inlineSuffix = ".inline.btf"
)

func (b *sideFiles) setExtraSuffix(v string) error  { return setSuffix(&b.extraVars, v, extraSuffix) }
func (b *sideFiles) setInlineSuffix(v string) error { return setSuffix(&b.inlineTo, v, inlineSuffix) }

// setSuffix sets the suffix of file names to v, or to usual if v is empty.
func setSuffix(dst *string, v, usual string) error {
	if strings.ContainsRune(v, '/') {
		return usagef("'%s' is not a valid file name suffix", message.OneLine(v))
	}
	*dst = cmp.Or(v, usual)
	return nil
}

// openSides finds the places of the side files; nil for a file that is not wanted.
func (c *cli) openSides(b *sideFiles, inputs []string, out *target) (extra, inlined *target, err error) {
	if extra, err = c.openSide(b.extraVars, "extra variables", inputs, out); err != nil {
		return nil, nil, err
	}
	inlined, err = c.openSide(b.inlineTo, "inlined functions", inputs, out)
	if err == nil && extra != nil && inlined != nil && inlined.sameFile(extra) {
		err = fmt.Errorf("%s: the inlined functions would replace the extra variables", message.OneLine(inlined.path))
	}
	return extra, inlined, err
}

// openSide finds the place of a side file, which must be neither an input nor the main
// output. It returns nil for an empty path.
func (c *cli) openSide(path, what string, inputs []string, out *target) (*target, error) {
	if path == "" {
		return nil, nil
	}
	to, err := c.resolveTarget(path, inputs)
	if err == nil && out != nil && to.sameFile(out) {
		err = fmt.Errorf("%s: the %s would replace the output", message.OneLine(to.path), what)
	}
	return to, err
}
