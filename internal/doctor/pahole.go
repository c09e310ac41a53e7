package doctor

import (
	"fmt"
	"strconv"
)

var versionForm = pattern(`^v(\d{1,2})\.(\d{1,3})$`)

// paholeNumber is a version as Kconfig has it: 125 for v1.25. It is 0 for another text.
func paholeNumber(text string) int {
	m := versionForm().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2]) // digits, by versionForm
	return n
}

// dotted is a version as people write it: 1.25 for 125.
func dotted(v int) string { return fmt.Sprintf("%d.%02d", v/100, v%100) }

// examinePahole compares the pahole of the configuration, or else of the machine, with what the
// kernel needs.
func (x *exam) examinePahole(c config) {
	r := x.report
	v, configured := c.number("PAHOLE_VERSION")
	if x.makefilePahole == "false" || x.host.Pahole == "false" {
		r.add(Error, "pahole-false", "PAHOLE=false: the build has no pahole, and Kconfig drops CONFIG_DEBUG_INFO_BTF without a word", useBtflite)
		return
	}
	here := paholeNumber(x.host.PaholeVersion)
	switch {
	case configured && v == 0 && here == 0 || !configured && x.host.Pahole == "":
		r.add(Error, "pahole-missing", "no pahole was found, and Kconfig drops CONFIG_DEBUG_INFO_BTF without a word", useBtflite)
		return
	case configured && v == 0:
		r.add(Error, "pahole-unseen", fmt.Sprintf("CONFIG_PAHOLE_VERSION is 0, though %s is version %s: the configuration was made without it", x.host.Pahole, dotted(here)), "make olddefconfig")
	case !configured && here == 0:
		r.add(Error, "pahole-odd", fmt.Sprintf("%s --version prints %q, which Kconfig cannot read as a version", x.host.Pahole, x.host.PaholeVersion), useBtflite)
		return
	case !configured:
		v = here
	}
	if v != 0 {
		x.judgePahole(c, v)
	}
}

// judgePahole says if a version is too old or too new for the kernel.
func (x *exam) judgePahole(c config, v int) {
	r := x.report
	least, why := 113, "Linux 5.2 to 5.8"
	switch {
	case !x.older(6, 19):
		least, why = 122, "Linux 6.19 and later"
	case !x.older(5, 9):
		least, why = 116, "Linux 5.9 and later"
	}
	switch {
	case v < least:
		r.add(Error, "pahole-old", fmt.Sprintf("pahole %s is too old: %s need 1.%02d", dotted(v), why, least-100), useBtflite)
	case v < 119 && c.on("MODULES") && !x.older(5, 11):
		r.add(Warning, "pahole-old-modules", fmt.Sprintf("pahole %s writes no BTF of modules: 1.19 does", dotted(v)), useBtflite)
	case v < 121 && dwarf5(c):
		r.add(Error, "pahole-dwarf5", fmt.Sprintf("pahole %s does not read DWARF 5, which this compiler writes", dotted(v)), "scripts/config -d DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT -d DEBUG_INFO_DWARF5 -e DEBUG_INFO_DWARF4"+olddefconfig)
	case v < 126 && !x.older(7, 0):
		r.add(Warning, "pahole-old-kfuncs", fmt.Sprintf("pahole %s does not tag kfuncs, from which Linux 7.0 makes their prototypes: 1.26 does", dotted(v)), useBtflite)
	case v >= 124 && x.release != "" && x.older(6, 0) && !x.skipsEnum64:
		r.add(Error, "pahole-new", fmt.Sprintf("pahole %s writes ENUM64, which Linux %s refuses, and the scripts of this tree do not turn it off", dotted(v), x.release),
			`printf '#!/bin/sh\nexec pahole --skip_encoding_btf_enum64 "$@"\n' > ../pahole-old && chmod +x ../pahole-old && make PAHOLE="$PWD/../pahole-old"`)
	}
}

func dwarf5(c config) bool {
	gcc, _ := c.number("GCC_VERSION")
	clang, _ := c.number("CLANG_VERSION")
	return c.on("DEBUG_INFO_DWARF5") || c.on("DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT") && (gcc >= 110000 || clang >= 140000)
}
