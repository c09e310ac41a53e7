package debuginfo

// Look reads all abbreviations of the file, before Load, and sets Survey and Damaged. They
// are a fortieth of the debug information. They are asked for ahead and given
// back, as they will be when the units are read.
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
	step := uint64(fetchStep)
	for from := uint64(0); from < uint64(len(data)); {
		ahead.advance(&in, from)
		there, err := in.need(reader, data, from, step)
		if err != nil {
			return err
		}
		there = there[from:min(uint64(len(there)), from+step)]
		n, ok := f.Survey.Read(there)
		switch {
		case !ok, n == 0 && from+step >= uint64(len(data)):
			f.Damaged = true
			return nil
		case n == 0:
			step *= 2
		}
		from += uint64(n)
		in.unpin(reader)
		in.release(from)
	}
	return nil
}
