package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// copyBTF stores the section .BTF of a kernel as it is.
func (w *adding) copyBTF(in mmapelf.Source, rec *KernelRecord) (*stored, error) {
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.Data(f.Section(".BTF"))
	if err != nil {
		return nil, err
	}
	blob, err := btf.ParseShared(data, nil)
	if err != nil {
		return nil, fmt.Errorf("section .BTF: %w; --existing=encode takes the DWARF instead", err)
	}
	lenient := finish.Work{Lenient: true}
	warning, err := lenient.Merged([]finish.Given{{Name: in.Path, BTF: blob}}, data)
	if err != nil {
		return nil, err
	}
	if warning != nil {
		rec.Warnings = append(rec.Warnings, reasonOf(errors.New(warning.String()), in.Path))
	}
	counts, err := btf.Count(data)
	if err != nil {
		return nil, err
	}
	rec.Types, rec.Functions, rec.Variables = counts.Types, counts.Kinds[btf.KindFunc], counts.Kinds[btf.KindVar]
	return w.put(rec.fileName(), func(to io.Writer) error { _, err := to.Write(data); return err })
}
