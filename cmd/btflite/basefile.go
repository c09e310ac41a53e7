package main

import "strings"

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
