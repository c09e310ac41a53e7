package main

// Variables beside the BTF (--extra_vars): split BTF over it, as it is or, in a
// file whose name ends in ".o", as an object.

import (
	"fmt"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// openExtra finds the place of the extra variables, which must be neither an
// input nor the main output.
func (c *cli) openExtra(e *encoding, inputs []string, out *target) (*target, error) {
	if err := e.checkExtra(out == nil); err != nil {
		return nil, err
	}
	to, err := c.resolveTarget(e.extraVars)
	if err != nil {
		return nil, err
	}
	if out != nil && to.sameFile(out) {
		return nil, fmt.Errorf("%s: the extra variables would replace the output", message.OneLine(to.path))
	}
	return to, to.refuseInputs(inputs)
}

// checkExtra refuses what extra variables do not go with.
func (e *encoding) checkExtra(inPlace bool) error {
	switch {
	case e.features&encode.GlobalVar != 0:
		return usagef("--extra_vars: the feature global_var puts all variables into the main BTF already")
	case e.distils(inPlace):
		return usagef("--extra_vars: with distilled_base the module's types have other ids in each kernel")
	}
	return nil
}
