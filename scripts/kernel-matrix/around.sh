# Part of scripts/kernel-matrix.sh: what people do around a build. Each row has a function of
# its name. All but the recipe compare with a build with DWARF in $out.dwarf.

# result TEXT: a line for the document.
result() {
	say "$row: $*"
	note result "$*"
}

# reference: the build with DWARF that others are compared with.
reference() {
	build_dwarf
	rm -rf "$out.dwarf"
	mv "$out" "$out.dwarf"
}

# builds CC [TARGET...]: make with the compiler in $out, and compare the sections .BTF.
builds() {
	local with=$1
	shift
	make_in "$out" "$with" vmlinux modules "$@"
	same_built "$out" "$row"
}

# hits: how many objects ccache has had, as it counts them.
hits() { ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { n += $2 } END { print n + 0 }'; }

# around_ccache: ccache in four ways, with an empty cache and again.
around_ccache() {
	local way before n plain
	export CCACHE_COMPILERTYPE=auto CCACHE_DIR=$work/ccache-row
	rm -rf "$CCACHE_DIR" "$work/under"
	reference
	plain=$(PATH=${PATH#"$work/links:"} command -v "$cc")
	mkdir "$work/under"
	ln -s "$btflite" "$work/under/$cc"
	for way in masquerade inside link outside; do
		case $way in
		masquerade) with="$btflite cc $cc" ;;     # the link of this name to ccache comes first in PATH
		inside) with="$btflite cc ccache $plain" ;;
		link) # as docs/usage.md says
			with="ccache $cc"
			export PATH=$work/under:${PATH#"$work/links:"} CCACHE_COMPILERTYPE=gcc CCACHE_COMPILERCHECK="%compiler% --version; $btflite --version" ;;
		outside) with="ccache $btflite cc $plain" ;;
		esac
		for n in cold warm; do
			[ "$way $n" != "outside warm" ] || continue # it caches nothing
			rm -rf "$out"
			configure "$out" "$with"
			before=$(hits)
			builds "$with"
			result "ccache, $way, $n: $(($(hits) - before)) objects from the cache; the BTF is that of the build with DWARF"
		done
	done
	rm -rf "$CCACHE_DIR"
}

# around_interrupted: a build that signals end, and that is continued.
around_interrupted() {
	local signal pid n=0 seconds=1
	reference
	configure "$out" "$btflite cc $cc"
	for signal in INT TERM KILL HUP INT KILL; do
		# A group of its own, as a terminal's command, which does not ignore SIGINT.
		setsid env --default-signal=INT nice make -s -C "$src" O="$out" -j"$jobs" PAHOLE="$work/bin/pahole" "${flags[@]}" CC="$btflite cc $cc" vmlinux modules > "$out.log" 2>&1 &
		pid=$!
		seconds=$((seconds + 4))
		sleep "$seconds"
		kill "-$signal" "-$pid" 2> /dev/null && n=$((n + 1))
		wait "$pid" || true
		while kill -0 "-$pid" 2> /dev/null; do sleep 0.1; done
	done
	[ "$n" -gt 0 ] || fault "no build was interrupted"
	builds "$btflite cc $cc"
	find "$out" -name '.btflite-*' -not -name .btflite-cc.tmp -delete -print > "$work/left"
	compare_with "$out" real
	result "interrupted $n times by INT, TERM, KILL, HUP and continued; $(wc -l < "$work/left") temporary files were left by SIGKILL"
}

# external FOLDER: write the source of an external module. One of its objects keeps its DWARF.
external() {
	rm -rf "$1"
	mkdir -p "$1"
	printf 'obj-m := ext.o\next-y := one.o two.o\nCFLAGS_two.o := -gsplit-dwarf\n' > "$1/Makefile"
	printf '#include <linux/module.h>\n#include "ext.h"\nint ext_one(struct ext *e) { return e->n + ext_two(e, 1); }\nstatic int __init begin(void) { struct ext e = { 1, 0 }; return ext_one(&e) < 0; }\nstatic void __exit end(void) {}\nmodule_init(begin); module_exit(end); MODULE_LICENSE("GPL"); MODULE_DESCRIPTION("a test");\n' > "$1/one.c"
	printf '#include <linux/module.h>\n#include "ext.h"\nint ext_two(struct ext *e, u32 by) { return e->n * by + !e->next; }\n' > "$1/two.c"
	printf 'struct ext { int n; struct list_head *next; };\nint ext_one(struct ext *e);\nint ext_two(struct ext *e, u32 by);\n' > "$1/ext.h"
}

# module_in TREE MODULE CC [ARG...]: build the external module over a built or installed tree.
module_in() {
	local tree=$1 module=$2 with=$3
	shift 3
	make -s -C "$tree" M="$module" PAHOLE="$work/bin/pahole" "${flags[@]}" CC="$with" "$@" > "$out.log" 2>&1 ||
		stop "external module: $(grep -iE 'error|\*\*\*' "$out.log" | head -n 2 | paste -sd ' ')"
}

# over_tree TREE WHAT CC: an external module over a tree has the BTF that it has with DWARF, in $work/ext.btf.
over_tree() {
	local tree=$1 module=$work/ext lines
	external "$module"
	module_in "$tree" "$module" "$3" modules
	lines=$(grep -c '^btflite: .*left with DWARF' "$out.log" || true)
	[ "$lines" = 1 ] || fault "extmod: $lines lines about two.o: $(cat "$out.log")"
	built_btf "$module" ext.ko "$work/b.btf" && cmp -s "$work/ext.btf" "$work/b.btf" || fault "extmod: another BTF over $2"
	[ -e "$module/.btflite-cc.tmp" ] || fault "extmod: no .btflite-cc.tmp in the module's folder"
	[ -z "$(find "$tree" -name .btflite-cc.tmp)" ] || fault "extmod: .btflite-cc.tmp in the kernel's folder"
	module_in "$tree" "$module" "$3" clean
	[ ! -e "$module/.btflite-cc.tmp" ] || fault "extmod: make clean leaves .btflite-cc.tmp"
	result "M=, an external module over $2: its BTF is that of DWARF; one line about the object that keeps its DWARF; make clean removes the note"
}

# headers: unpack the package of headers to $work/tree, set $tree. For BTF of modules people put vmlinux there.
headers() {
	rm -rf "$work/tree"
	dpkg-deb -x "$(find "$work" -maxdepth 1 -name 'linux-headers-*_1_*.deb')" "$work/tree"
	tree=$(echo "$work"/tree/usr/src/linux-headers-*)
	cp "$out/vmlinux" "$tree/"
	if [ ! -e "$tree/tools/bpf/resolve_btfids/resolve_btfids" ]; then
		mkdir -p "$tree/tools/bpf/resolve_btfids"
		cp "$out/tools/bpf/resolve_btfids/resolve_btfids" "$tree/tools/bpf/resolve_btfids/"
	fi
}

# dkms CC: build as dkms does, install stripped, and compare.
dkms() {
	local module=$work/dkms/1.0/build root=$work/dkms/root
	external "$module"
	module_in "$tree" "$module" "$1" modules
	module_in "$tree" "$module" "$1" INSTALL_MOD_PATH="$root" INSTALL_MOD_DIR=updates/dkms INSTALL_MOD_STRIP=1 DEPMOD=true modules_install
	built_btf "$(dirname "$(find "$root" -name ext.ko)")" ext.ko "$work/b.btf" && cmp -s "$work/ext.btf" "$work/b.btf" ||
		fault "dkms: the installed module has another BTF"
	rm -rf "$root"
	make_in "$out" "$1" INSTALL_MOD_PATH="$root" INSTALL_MOD_STRIP=1 DEPMOD=true modules_install
	for module in $(modules_of "$out"); do
		built_btf "$out" "$module" "$work/a.btf"
		built_btf "$(dirname "$(find "$root" -name "${module##*/}")")" "${module##*/}" "$work/b.btf"
		cmp -s "$work/a.btf" "$work/b.btf" || fault "INSTALL_MOD_STRIP: $module has another BTF"
		[ -z "$(readelf -SW "$(find "$root" -name "${module##*/}")" | grep -F .debug_)" ] || fault "INSTALL_MOD_STRIP: $module still has debug sections"
	done
	result "as dkms builds and installs it, and modules_install with INSTALL_MOD_STRIP=1: the BTF stays, the records go"
}

# around_packages: packages of Debian and of RPM, to their end, and external modules over the tree that was
# built and over the package of headers.
around_packages() {
	local with="$btflite cc $cc" deb tree
	reference
	configure "$out" "$with"
	make_in "$out" "$with" KDEB_PKGVERSION=1 KDEB_COMPRESS=none DPKG_FLAGS=-d bindeb-pkg
	same_built "$out" packages
	rm -rf "$work/unpack"
	for deb in "$work"/linux-image-*_1_*.deb; do
		dpkg-deb -x "$deb" "$work/unpack"
	done
	in_package "$work/unpack" deb
	headers
	external "$work/ext"
	module_in "$out.dwarf" "$work/ext" "$cc" modules
	built_btf "$work/ext" ext.ko "$work/ext.btf" || fault "extmod: no .BTF with DWARF"
	over_tree "$out" "the tree that was built" "$with"
	over_tree "$tree" "the package of headers" "$with"
	dkms "$with"
	rm -f "$work"/linux-*_1_* "$work"/linux-upstream*
	make_in "$out" "$with" RPMOPTS="--nodeps --define '_topdir $work/rpm' --define '_binary_payload w0.gzdio'" binrpm-pkg
	rm -rf "$work/unpack"
	mkdir "$work/unpack"
	for deb in "$work"/rpm/RPMS/*/kernel-[0-9]*.rpm; do
		(cd "$work/unpack" && rpm2cpio "$deb" | cpio -id 2> /dev/null)
	done
	in_package "$work/unpack" rpm
	rm -rf "$work/rpm" "$work/unpack"
}

# in_package FOLDER WHAT: the modules of a package have the BTF of the build.
in_package() {
	local module file n=0
	for module in $(modules_of "$out"); do
		for file in $(find "$1" -name "${module##*/}"); do
			built_btf "$out.dwarf" "$module" "$work/a.btf"
			built_btf "${file%/*}" "${file##*/}" "$work/b.btf" && cmp -s "$work/a.btf" "$work/b.btf" || fault "$2: $module has another BTF"
			n=$((n + 1))
		done
	done
	[ "$n" -gt 0 ] || fault "$2: no modules in the package"
	result "$2 package built to its end; $n modules in it have the BTF of the build with DWARF"
}

# in_group MIB COMMAND...: run a command in a control group of its own with a limit of memory.
in_group() {
	local mib=$1 group=/sys/fs/cgroup/btflite.$$ limit=memory.max status=0
	shift
	[ ! -d /sys/fs/cgroup/memory ] || group=/sys/fs/cgroup/memory/btflite.$$ limit=memory.limit_in_bytes
	mkdir "$group" || stop "no control groups"
	echo $((mib << 20)) > "$group/$limit"
	(echo "$BASHPID" > "$group/cgroup.procs" && exec "$@") || status=$?
	rmdir "$group"
	return "$status"
}

# smallest COMMAND...: the smallest of some groups, in MiB, in which the command that links succeeds. In a group that
# is hardly too small, the kernel reads the same pages again and again: after five minutes that is no success.
smallest() {
	local mib
	for mib in 40 48 56 64 80 96 128 160 192 256 512; do
		rm -f vmlinux .tmp_vmlinux*
		if in_group "$mib" timeout 300 "$@" > "$work/link.log" 2>&1; then
			echo "$mib"
			return
		fi
	done
	stop "no group is large enough"
}

# around_recipe: the recipe of README.md for small machines, word for word, in a tree of its own.
around_recipe() {
	local tree=$work/recipe script=$work/recipe.sh dwarf records
	rm -rf "$tree"
	cp -al "$src" "$tree"
	mkdir -p "$work/program" # not $work/bin, which has an ld that looks for the linker in PATH
	ln -sfn "$btflite" "$work/program/btflite"
	export PATH=$work/program:$PATH
	src=$tree
	wanted | grep -v DEBUG_INFO > "$work/recipe.wanted"
	cd "$tree"
	make -s KCONFIG_ALLCONFIG="$work/recipe.wanted" PAHOLE=btflite allnoconfig > "$work/recipe.log" 2>&1 || stop "allnoconfig: $(tail -n 1 "$work/recipe.log")"
	awk '/^```sh/ { text = ""; code = 1; next } /^```/ && code { code = 0; if (text ~ /btflite cc/) { printf "%s", text; exit } } code { text = text $0 "\n" }' \
		"$OLDPWD/README.md" > "$script"
	grep -q 'btflite cc' "$script" || stop "README.md has no recipe"
	(echo 'set -e'; cat "$script") > "$script.run"
	nice bash "$script.run" > "$work/recipe.log" 2>&1 || stop "recipe: $(grep -iE 'error|\*\*\*' "$work/recipe.log" | head -n 2 | paste -sd ' ')"
	built_btf . vmlinux "$work/b.btf" || fault "recipe: no .BTF"
	note btf-bytes "$(stat -c %s "$work/b.btf")"
	(sed -n '/^kernel()/p' "$script"; echo 'kernel vmlinux') > "$script.link"
	records=$(smallest bash "$script.link")
	nice make -s -j"$jobs" PAHOLE=btflite all > "$work/recipe.log" 2>&1 || stop "DWARF: $(tail -n 1 "$work/recipe.log")"
	built_btf . vmlinux "$work/a.btf" && cmp -s "$work/a.btf" "$work/b.btf" || fault "recipe: the BTF is not that of the build with DWARF"
	dwarf=$(smallest make PAHOLE=btflite vmlinux)
	result "the recipe, word for word: the BTF is that of the build with DWARF. A control group of $records MiB is enough for the link and BTF, $dwarf MiB with DWARF"
	rm -rf "$tree"
}
