package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/btflite/btflite/internal/message"
)

// ModulesRecord says what became of the modules of a kernel. It lies in the folder with the
// modules' BTF. That folder has the name of the kernel's BTF without its suffix.
type ModulesRecord struct {
	ModuleCounts        // first, for who reads no more than them
	BuildID      string `json:"build_id"` // of the kernel
	Release      string `json:"release"`
	Package      string `json:"package"` // the file, without its folder
	Program      string `json:"program"`
	// List has the modules in the order of their names, then of their files.
	List []ModuleRecord `json:"list"`
}

func (r *ModulesRecord) files() (list []*Contents) {
	for i := range r.List {
		list = append(list, &r.List[i].Contents)
	}
	return list
}

// modulesRecord is the name of the record in the folder of the modules, without RecordSuffix.
const modulesRecord = "modules"

// ModulesDir returns the folder for the modules of a kernel in the archive.
func (r *KernelRecord) ModulesDir() string { return withoutForm(r.BTF) }

// ModulesFile returns the path of their record.
func (r *KernelRecord) ModulesFile() string {
	return path.Join(r.ModulesDir(), modulesRecord) + RecordSuffix
}

// countsOf reads how many modules of a kernel an archive has. It returns nil if no run has looked
// for them.
func countsOf(dir string, k *KernelRecord) (*ModuleCounts, error) {
	if k.BTF == "" {
		return nil, nil
	}
	at := PathOf(dir, k.ModulesFile())
	f, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, message.FileError(at, "cannot read", err)
	}
	defer f.Close()
	// They come first, and the rest has megabytes.
	d := json.NewDecoder(bufio.NewReader(io.LimitReader(f, maxRecord)))
	n := new(ModuleCounts)
	var token json.Token
	for _, want := range []any{json.Delim('{'), "stored", &n.Stored, "failed", &n.Failed, "internal", &n.Internal} {
		if to, ok := want.(*int); ok {
			err = d.Decode(to)
		} else if token, err = d.Token(); err == nil && token != want {
			if want == "internal" {
				break // most records have none
			}
			err = fmt.Errorf("%v where %v is expected", token, want)
		}
		if err != nil {
			return nil, &ownDamage{message.FileError(at, "cannot read", fmt.Errorf("byte %d: %w; remove it, and run the command again", d.InputOffset(), err))}
		}
	}
	return n, nil
}
