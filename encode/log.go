package encode

import "github.com/btflite/btflite/internal/unit"

// Lines of -V are written together with their unit, in file order.

// flushLog writes the lines of a unit.
func (f *input) flushLog(u *workspace) {
	if f.run.raw == nil {
		return
	}
	f.startLog()
	if n := len(u.log); n > 0 {
		f.opt.Verbose(string(u.log[:n-1]))
	}
	if u.log = u.log[:0]; cap(u.log) > maxLog {
		u.log = nil
	}
}

// startLog writes the lines that come before the first type.
func (f *input) startLog() {
	l := f.run.raw
	if l.started {
		return
	}
	l.started = true
	lead := f.run.inputs[f.run.lead]
	if lead.File.ELF.Section(percpuName) == nil {
		f.opt.Verbose("btf_encoder__new: '" + lead.File.Path + "' doesn't have '" + percpuName + "' section")
	}
	f.opt.Verbose("File " + lead.File.Path + ":")
}

// logFiltered writes that the language filter drops a unit, whatever its name. pahole checks
// excluded languages twice, so the line comes twice. It has no line for a name.
func (f *input) logFiltered(r *unit.Reader) {
	if f.opt.Verbose == nil || !f.Options.WrongLanguage(r.Unit.Facts.Language) {
		return
	}
	line := "Filtering CU " + string(f.File.Names.Text(r.Cursor.Name)) + " written in " + unit.Language(r.Unit.Facts.Language) + "."
	f.opt.Verbose(line)
	if len(f.opt.Lang) == 0 && f.merge == nil {
		f.opt.Verbose(line)
	}
}
