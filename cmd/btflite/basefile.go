package main

import (
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
)

// The files of the running kernel's BTF, and the variable that names another
// file in place of kernelBTF, as in pahole.
const (
	sysBTF       = "/sys/kernel/btf/"
	kernelBTF    = sysBTF + "vmlinux"
	kernelBTFEnv = "PAHOLE_VMLINUX_BTF_FILENAME"
)

// basePath is the file of the base for work on paths: that of --btf_base, or
// the running kernel's where a path is the BTF of one of its modules. It is ""
// if there is none.
func (c *cli) basePath(cfg *config, paths []string) string {
	if cfg.base != "" {
		return cfg.base
	}
	for _, p := range paths {
		if strings.HasPrefix(p, sysBTF) && !strings.Contains(p, "/vmlinux") {
			if name, ok := c.lookupEnv(kernelBTFEnv); ok && name != "" {
				return name
			}
			return kernelBTF
		}
	}
	return ""
}

// openBase reads the base of an encoding from the file path and indexes it.
// blob is what the encode.Base was made of.
func openBase(path string) (blob *btf.Blob, base *encode.Base, err error) {
	if blob, err = loadBTF(path, nil); err != nil {
		return nil, nil, err
	}
	if base, err = encode.NewBase(blob); err != nil {
		return nil, nil, namingFile([]string{path}, err)
	}
	return blob, base, nil
}
