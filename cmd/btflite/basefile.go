package main

import "strings"

// Files with the running kernel's BTF. As in pahole, a variable can name another file in
// place of kernelBTF.
const (
	sysBTF       = "/sys/kernel/btf/"
	kernelBTF    = sysBTF + "vmlinux"
	kernelBTFEnv = "PAHOLE_VMLINUX_BTF_FILENAME"
)

// basePaths returns the files of the base, for loadbtf.Loader.Chain: the files of
// --btf_base or, if one of paths is the BTF of a loaded module, the running kernel's.
// There may be none.
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
