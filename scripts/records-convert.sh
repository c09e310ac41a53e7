#!/usr/bin/env bash
#
# Convert a copy of a kernel's build folder to unit records, link it again, and
# compare the BTF.
#
#   scripts/records-convert.sh DWARF RECORDS
#
# DWARF is a build folder (O=) with vmlinux and modules, of a kernel with
# CONFIG_DEBUG_INFO_BTF whose objects have DWARF. It is copied to RECORDS. There
# "btflite cc" gets each object that was compiled of C as if the compiler had just
# written it, and Kbuild links what depends on them. So the kernel is compiled only
# once. What Kbuild compiles again on the way (the image of the vDSO) goes through a
# link to btflite that is called as the compiler.
#
# Then the BTF of vmlinux and of every module must be the same bytes from both
# folders, with three sets of features: none, those of kernel builds, and all. (With
# all, a kernel would refuse the BTF of some: entries of .rodata overlap.) It is made with
# --btf_compat: without it, variables that pahole takes for those of a large .debug_info
# differ.
#
# JOBS=N works with N jobs (default 2), BTFLITE=FILE tests another program than
# ./btflite, MAKEARGS is what make was given for the build
# (default ARCH=x86_64).

set -euo pipefail
[ $# = 2 ] || { sed -n '6p' "$0" >&2; exit 2; }
btflite=$(realpath "${BTFLITE:-$(dirname "$0")/../btflite}")
jobs=${JOBS:-2}
dwarf=$(realpath "$1")
mkdir -p "$2"
records=$(realpath "$2")
failures=0
say() { printf 'records-convert.sh: %s\n' "$*"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compiled: the objects in the current folder that the kernel's compiler has made of C.
compiled() {
	find . -name '.*.o.cmd' -not -path './scripts/*' -not -path './tools/*' -print0 |
		xargs -0 grep -lE '^(saved)?cmd_[^ ]*\.o := .* -c -o [^ ]* [^ ]*\.c( |$)' | sed 's,/\.\([^/]*\)\.cmd$,/\1,'
}

# convert: convert the objects in $records.
convert() {
	local failed
	cd "$records"
	compiled > "$work/objects"
	say "$(wc -l < "$work/objects") objects of C"
	xargs -a "$work/objects" -P "$jobs" -I{} "$btflite" cc true -g -c -o {} x.c 2> "$work/messages" || { cat "$work/messages"; exit 1; }
	sort "$work/messages" | uniq -c | sed 's/^/     cc: /'
	failed=$(xargs -a "$work/objects" readelf -SW 2> /dev/null | grep -cE ' \.debug_(line|str) ' || true)
	say "$failed of them have DWARF that is not in records"
}

# build TARGET...: have Kbuild make the targets in $records.
build() {
	# shellcheck disable=SC2086 # several words
	make -s -C "$source" O="$records" -j"$jobs" PAHOLE="$btflite" ${MAKEARGS:-ARCH=x86_64} "$@" > "$work/log" 2>&1 ||
		{ tail -n 20 "$work/log"; exit 1; }
}

# copy: copy the folder. The command lines of host tools name it; with the old name
# there, Kbuild would make the tools once more, and then all objects, which depend on them.
copy() {
	say "copying $dwarf"
	cp -a --reflink=auto "$dwarf/." "$records/"
	grep -rlZFI "$dwarf" "$records" | xargs -0r sed -i "s,$dwarf,$records,g"
}

# relink: have Kbuild link vmlinux and the modules again.
relink() {
	local cc
	cc=$(sed -nE 's/^(saved)?cmd_[^ ]* := ([^ ]*) .*/\2/p' "$records/init/.main.o.cmd")
	mkdir "$work/links"
	ln -s "$btflite" "$work/links/${cc##*/}"
	PATH=$work/links:$PATH build vmlinux modules
	sed 's/^/     build: /' "$work/log"
}

# encode FOLDER FILE OUT OPTION...: encode a file of a build folder.
encode() {
	"$btflite" -J -j1 --verify=warn --btf_compat=libbpf-1.7 "${@:4}" --btf_encode_detached="$3" "$1/$2" 2> "$work/error" || { echo "$2: $(cat "$work/error")"; return 1; }
}

# compare FILE OPTION...: compare the BTF of a file of both folders. What cannot be
# encoded must fail in the same words.
compare() {
	local file=$1 a b
	shift
	rm -f "$work/a" "$work/b"
	a=$(encode "$dwarf" "$file" "$work/a" "$@") || true
	b=$(encode "$records" "$file" "$work/b" "$@") || true
	if [ "${a//$dwarf/}" != "${b//$records/}" ]; then
		echo "FAIL $file $*: with DWARF '$a', with records '$b'"
		failures=$((failures + 1))
	elif [ -e "$work/a" ] && ! cmp -s "$work/a" "$work/b"; then
		echo "FAIL $file $*: the BTF differs"
		failures=$((failures + 1))
	fi
	compared=$((compared + 1))
}

source=$(sed -n 's,^include \(.*\)/Makefile$,\1,p' "$dwarf/Makefile")
[ -e "$records/.config" ] || copy
(convert)
relink
kernel=vmlinux.unstripped # until Linux 6.14, vmlinux has its debug information
[ -e "$dwarf/$kernel" ] || kernel=vmlinux
modules=$(cd "$dwarf" && find . -name '*.ko')
for set in '' default all; do
	compared=0
	compare "$kernel" --btf_features="$set"
	cp "$work/a" "$work/base"
	for module in $modules; do
		compare "$module" --btf_features="$set" --btf_base="$work/base"
	done
	say "features '$set': $compared files compared"
done
[ "$failures" = 0 ] || { say "$failures files differ"; exit 1; }
say "0 differ"
