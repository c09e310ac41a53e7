package debuginfo

// Look reads all abbreviations of the file, before Load, and sets Survey and Damaged.
// They are about a fortieth of the debug information. As in the later reading of units,
// it asks for them ahead and releases them.
func (f *File) Look() error {
	sec := f.section(".debug_abbrev")
	if sec == nil {
		return nil
	}
	var in section
	data, err := f.load(sec, &in, false)
	if err != nil {
		return err
	}
	if in.stream != nil {
		defer in.stream.Close()
	}
	var ahead window
	const reader = 0
	for from := uint64(0); from < uint64(len(data)); {
		ahead.advance(&in, from)
		there, err := in.need(reader, data, from, fetchStep)
		if err != nil {
			return err
		}
		there = there[from:min(uint64(len(there)), from+fetchStep)]
		if !f.Survey.Read(there) {
			f.Damaged = true
			return nil
		}
		from += uint64(len(there))
		in.unpin(reader)
		in.release(from)
	}
	f.Damaged = !f.Survey.Whole()
	return nil
}
