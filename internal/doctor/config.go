package doctor

import "fmt"

// Options that exclude DEBUG_INFO_BTF, by lib/Kconfig.debug of Linux 5.7 to 7.2.
var excluded = []struct{ name, id, why, cure string }{
	{"DEBUG_INFO_REDUCED", "debug-info-reduced", "it leaves types out of the DWARF", "scripts/config -d DEBUG_INFO_REDUCED -e DEBUG_INFO_BTF"},
	{"DEBUG_INFO_SPLIT", "debug-info-split", "it puts the DWARF into .dwo files", "scripts/config -d DEBUG_INFO_SPLIT -e DEBUG_INFO_BTF"},
	{"GCC_PLUGIN_RANDSTRUCT", "randstruct", "it shuffles members", "scripts/config -d GCC_PLUGIN_RANDSTRUCT -d RANDSTRUCT_FULL -d RANDSTRUCT_PERFORMANCE -e RANDSTRUCT_NONE -e DEBUG_INFO_BTF"},
}

// examineConfig looks for the options that decide whether there is BTF.
func (x *exam) examineConfig(c config) {
	r := x.report
	switch {
	case c.on("DEBUG_INFO_NONE"), !c.on("DEBUG_INFO"):
		r.add(Error, "no-debug-info", "the kernel is built without debug information (CONFIG_DEBUG_INFO is off), which BTF is made of",
			"scripts/config -d DEBUG_INFO_NONE -e DEBUG_INFO -e DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT -e DEBUG_INFO_BTF"+olddefconfig)
	case c.on("DEBUG_INFO_BTF"):
		x.examineParts(c)
	}
	for _, e := range excluded {
		if c.on(e.name) && !(e.name == "GCC_PLUGIN_RANDSTRUCT" && c.on("COMPILE_TEST")) {
			r.add(Error, e.id, "CONFIG_"+e.name+" excludes CONFIG_DEBUG_INFO_BTF: "+e.why, e.cure+olddefconfig)
		}
	}
	if c["BPF_SYSCALL"] == "n" {
		r.add(Error, "no-bpf", "CONFIG_BPF_SYSCALL is off, so nothing can use BTF, and CONFIG_DEBUG_INFO_BTF is not offered", "scripts/config -e BPF_SYSCALL -e DEBUG_INFO_BTF"+olddefconfig)
	}
	x.examinePahole(c)
	if !c.on("DEBUG_INFO_BTF") && r.Worst() < Error {
		r.add(Error, "btf-off", "CONFIG_DEBUG_INFO_BTF is off, and nothing here excludes it", "scripts/config -e DEBUG_INFO_BTF"+olddefconfig)
	}
}

// examineParts looks at what belongs to CONFIG_DEBUG_INFO_BTF.
func (x *exam) examineParts(c config) {
	if c.on("MODULES") && !c.on("DEBUG_INFO_BTF_MODULES") {
		x.report.add(Warning, "no-module-btf", "CONFIG_DEBUG_INFO_BTF_MODULES is off: modules get no BTF", "scripts/config -e DEBUG_INFO_BTF_MODULES"+olddefconfig)
	}
	if c.on("MODULE_ALLOW_BTF_MISMATCH") {
		x.report.add(Note, "mismatch-allowed", "CONFIG_MODULE_ALLOW_BTF_MISMATCH is on: a module whose BTF does not fit loads without it, and says so in the kernel's log only", "")
	}
	if v, ok := c.number("PAHOLE_VERSION"); ok && c.on("RUST") && v > 0 && v < 124 {
		x.report.add(Error, "rust-units", fmt.Sprintf("CONFIG_RUST is on, and pahole %s cannot leave out Rust units (--lang_exclude): kernels refuse their names", dotted(v)), useBtflite)
	}
	if c.on("RUST") && (c.on("LTO_CLANG_FULL") || c.on("LTO_CLANG_THIN")) {
		x.report.add(Warning, "rust-lto", "CONFIG_RUST with LTO: units of C and Rust are merged, and --lang_exclude=rust can leave out types of C", "scripts/config -d LTO_CLANG_THIN -d LTO_CLANG_FULL -e LTO_NONE"+olddefconfig)
	}
}

// configFile reads a configuration and looks at its options.
func (x *exam) configFile(path string) error {
	data, err := firstBytes(path, maxConfig)
	if err != nil {
		return err
	}
	if x.release == "" {
		x.setRelease(releaseOfConfig(data))
	}
	x.examineConfig(parseConfig(data))
	return nil
}
