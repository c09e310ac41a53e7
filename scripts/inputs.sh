#!/usr/bin/env bash
#
# Write testdata/inputs again, for tests with several input files: three units,
# compiled by themselves and linked in two orders, and two files in different
# versions of C with the BTF that pahole makes of both together if the first is
# left out. Then encode/testdata/inputs.txt: what pahole makes of pairs and
# triples of the golden files, of all machines and byte orders, as a checksum.
#
#   BTFLITE_PAHOLE=FILE scripts/inputs.sh    pahole 1.32, else the one in PATH
#
# The committed files were written by gcc 12.2.0 and ld 2.40 of Debian 12, and
# pahole 1.32. With BTF_ONLY=1 the ELF files are kept.

set -euo pipefail
cd "$(dirname "$0")/../testdata/inputs"
compile() {
	local -a flags=(-O2 -g -gdwarf-5 -ffreestanding -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables
		-ffile-prefix-map="$PWD"=. -c)
	for unit in a b c; do
		gcc "${flags[@]}" -o $unit.o $unit.c
	done
	ld -static --build-id=none -o abc a.o b.o c.o
	ld -static --build-id=none -o cab c.o a.o b.o
	for version in 99 11; do
		gcc "${flags[@]}" -std=c$version -o c$version.o c$version.c
		ld -static --build-id=none --entry=0 --unique=.data..percpu -o c$version c$version.o
		rm c$version.o
	done
}

[ -n "${BTF_ONLY:-}" ] || compile
rm -f c11.btf
"${BTFLITE_PAHOLE:-pahole}" -J --btf_features=default --lang_exclude=c99 --btf_encode_detached=c11.btf c99 c11
chmod 644 -- *

# pahole misreads, or leaves out, relocations of these machines.
cd ../../encode/testdata/golden
mapfile -t files < <(printf '%s\n' *.elf | LC_ALL=C sort | grep -Ev '^(mips64el|sh|bpf|bpfeb|hppa)-')
features=(default all default,global_var)
out=$(mktemp)
trap 'rm -f "$out" "$out.btf"' EXIT
line=0
for i in "${!files[@]}"; do
	for steps in "1" "7" "23" "11 5"; do
		inputs=("${files[i]}")
		for step in $steps; do
			inputs+=("${files[(i + step) % ${#files[@]}]}")
		done
		f=${features[line++ % ${#features[@]}]}
		rm -f "$out.btf"
		"${BTFLITE_PAHOLE:-pahole}" -J --btf_features="$f" --btf_encode_detached="$out.btf" "${inputs[@]}" 2> /dev/null
		echo "$(sha256sum < "$out.btf" | cut -c 1-16) $f ${inputs[*]}"
	done
done > "$out"
{
	echo "# SHA-256 of pahole's BTF (the first digits), features, files of golden (scripts/inputs.sh)"
	cat "$out"
} > ../inputs.txt
