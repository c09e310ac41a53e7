package main

import (
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// The files of the running kernel's BTF, and the variable that names another
// file in place of kernelBTF, as in pahole.
const (
	sysBTF       = "/sys/kernel/btf/"
	kernelBTF    = sysBTF + "vmlinux"
	kernelBTFEnv = "PAHOLE_VMLINUX_BTF_FILENAME"
)

// basePaths are the files of the base for work on paths, as for loadbtf.Loader.Chain: those
// given by --btf_base, or the running kernel's where a path is the BTF of one of its
// modules. There may be none.
func (c *cli) basePaths(given, paths []string) []string {
	if len(given) > 0 {
		return given
	}
	for _, p := range paths {
		if strings.HasPrefix(p, sysBTF) && !strings.Contains(p, "/vmlinux") {
			if name, ok := c.lookupEnv(kernelBTFEnv); ok && name != "" {
				return []string{name}
			}
			return []string{kernelBTF}
		}
	}
	return nil
}

// openBase reads the base of an encoding from files, as Loader.OpenChain does, and
// indexes it. blob is what the encode.Base was made of. Both are valid until
// done is called.
func openBase(paths []string) (blob *btf.Blob, base *encode.Base, done func(), err error) {
	blob, unmap, err := btfFiles.OpenChain(paths)
	if err != nil {
		return nil, nil, nil, err
	}
	if base, err = encode.NewBase(blob); err != nil {
		unmap()
		return nil, nil, nil, message.NamingFile(paths[len(paths)-1:], err)
	}
	return blob, base, func() {
		base.Free()
		unmap()
	}, nil
}
