#!/usr/bin/env bash
#
# Print what unit records save in a kernel build, as a table.
#
#   scripts/records-figures.sh DWARF RECORDS    two build folders of one configuration
#
# RECORDS=1 scripts/kernel-test.sh leaves both: build-7.2-records-dwarf and
# build-7.2-records. Objects are those that were compiled for the kernel; what is left of them without
# debug information is measured with objcopy. The link is "ld -r" of vmlinux.o, the encode
# "btflite -J -j1" of vmlinux.unstripped: medians of five runs, in turns.
# BTFLITE=FILE measures another program than ./btflite.

set -euo pipefail
cd "$(dirname "$0")/.."
btflite=$(realpath "${BTFLITE:-./btflite}")
[ $# = 2 ] || { sed -n '3,5p' "$0" >&2; exit 2; }
folders=("$(realpath "$1")" "$(realpath "$2")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects() {
	find "$1" -name '*.o' -not -path '*/scripts/*' -not -path '*/tools/*' -not -path '*/btflite/*' -not -path '*/guest/*' \
		-not -name 'vmlinux*' -not -name '.*' -not -name 'built-in*'
}

sum() { awk '{ s += $1 } END { printf "%d", s }'; }

# bare FOLDER: the bytes of its objects without debug information.
bare() {
	local object
	objects "$1" | while read -r object; do
		objcopy --strip-debug "$object" "$work/bare.o"
		stat -c %s "$work/bare.o"
	done | sum
}

# timed COMMAND...: CPU seconds and peak memory in KiB, to the file $work/times.
timed() { /usr/bin/time -a -o "$work/times" -f '%U %S %M' "$@"; }

# median FILE: of its lines "user system memory": CPU seconds, MiB.
median() {
	awk '{ print $1 + $2 }' "$1" | sort -n | sed -n 3p
	awk '{ print $3 }' "$1" | sort -n | sed -n 3p | awk '{ printf "%.0f\n", $1 / 1024 }'
}

row() { printf '| %s | %s | %s | 1/%s |\n' "$1" "$2" "$3" "$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.2f", b ? a / b : 0 }')"; }
mb() { awk -v n="$1" 'BEGIN { printf "%.1f", n / 1e6 }'; }

without=$(bare "${folders[0]}")
declare -a size tree debug link link_memory encode encode_memory
for i in 0 1; do
	size[i]=$(objects "${folders[i]}" | xargs stat -c %s | sum)
	debug[i]=$((size[i] - without))
	tree[i]=$(du -sb "${folders[i]}" | cut -f 1)
done
for _ in 1 2 3 4 5; do
	for i in 0 1; do
		: > "$work/times"
		(cd "${folders[i]}" && timed ld -m elf_x86_64 -z noexecstack -r -o "$work/vmlinux.o" --whole-archive vmlinux.a --no-whole-archive)
		cat "$work/times" >> "$work/link$i"
		: > "$work/times"
		timed "$btflite" -J -j1 --btf_features=default --btf_encode_detached="$work/btf$i" "${folders[i]}/vmlinux.unstripped"
		cat "$work/times" >> "$work/encode$i"
	done
done
cmp "$work/btf0" "$work/btf1"
for i in 0 1; do
	{ read -r link[i]; read -r link_memory[i]; } < <(median "$work/link$i")
	{ read -r encode[i]; read -r encode_memory[i]; } < <(median "$work/encode$i")
done
echo "| | with DWARF | with records | |"
echo "|---|---|---|---|"
row "objects, MB" "$(mb "${size[0]}")" "$(mb "${size[1]}")"
row "their debug information, MB" "$(mb "${debug[0]}")" "$(mb "${debug[1]}")"
row "the whole build folder, MB" "$(mb "${tree[0]}")" "$(mb "${tree[1]}")"
row "link of vmlinux.o, CPU s" "${link[0]}" "${link[1]}"
row "link of vmlinux.o, peak MiB" "${link_memory[0]}" "${link_memory[1]}"
row "btflite -J, CPU s" "${encode[0]}" "${encode[1]}"
row "btflite -J, peak MiB" "${encode_memory[0]}" "${encode_memory[1]}"
