package unit

// Read walks and links the unit at u, from p on, where Start has left it.
func (in *Input) Read(u *Unit, p int) error {
	if err := in.walk(u, p); err != nil {
		return err
	}
	u.Hides = len(u.Types.Order.S) == 0 && u.hides(p)
	if err := u.CheckNames(); err != nil {
		return err
	}
	if err := in.inlined(u); err != nil {
		return err
	}
	return in.link(u)
}

// ReadSplit is Read for the unit of a .dwo or .dwp.
func (in *Input) ReadSplit(u *Unit, p int) error {
	if err := in.walk(u, p); err != nil {
		return err
	}
	if err := u.CheckNames(); err != nil {
		return err
	}
	if err := in.inlined(u); err != nil {
		return err
	}
	// All type units are this unit's, those that nothing leads to as well; whose
	// those of a .dwp are is not known.
	t, err := u.File.Types()
	if err != nil {
		return err
	}
	for i := range t.All() {
		u.NeedTypes = append(u.NeedTypes, uint32(i))
	}
	if err := in.link(u); err != nil {
		return err
	}
	u.NeedTypes = u.NeedTypes[:0] // indexes of an index that goes
	return nil
}

// link turns the unit's DIE offsets into Refs, puts the extra nodes behind
// those of DIEs, and adds what pahole adds behind a unit's
// types: the int for array indexes if the unit needs one, and the
// declaration tags of structs, unions and typedefs.
func (in *Input) link(u *Unit) error {
	in.linkRefs(u)
	if len(u.NeedTypes) > 0 {
		u.addPart(u.Hdr.Off)
		if err := in.readTypes(u, nil); err != nil {
			return err
		}
	}
	return in.linkRest(u)
}
