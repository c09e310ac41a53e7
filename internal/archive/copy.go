package archive

import (
	"fmt"
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// copyBTF stores the section .BTF of a kernel, or of a module over base: as it is, or lowered to
// the kernel that the options name.
func (w *adding) copyBTF(in mmapelf.Source, base *btf.Blob, name string, c *Contents) (*stored, error) {
	c.Source = copied
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.Data(f.Section(".BTF"))
	if err != nil {
		return nil, err
	}
	blob, err := btf.ParseShared(data, base)
	if err != nil {
		return nil, fmt.Errorf("section .BTF: %w; --existing=encode takes the DWARF instead", err)
	}
	data, lost, warning, err := w.Job.Copied(finish.Given{Name: in.Path, BTF: blob}, data)
	if err != nil {
		return nil, err
	}
	w.doubt(c, in, warning, lost)
	counts, err := btf.Count(data)
	if err != nil {
		return nil, err
	}
	c.Types, c.Functions, c.Variables = counts.Types, counts.Kinds[btf.KindFunc], counts.Kinds[btf.KindVar]
	return w.put(name, int64(len(data)), func(to io.Writer) error { _, err := to.Write(data); return err })
}
