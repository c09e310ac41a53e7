#!/usr/bin/env bash
#
# Run every row of test/kerneltest/testdata/options/table.txt with pahole and write
# down what it does: want.txt has, for each row, the exit status, the SHA-256 of
# what it prints, and the name of the file with the BTF it writes.
#
#   BTFLITE_PAHOLE=FILE scripts/options.sh       pahole 1.32, else the one in PATH
#
# The committed files were written by pahole 1.32.

set -euo pipefail
cd "$(dirname "$0")/.."

pahole=${BTFLITE_PAHOLE:-pahole}
version=$("$pahole" --version)
if [ "$version" != v1.32 ]; then
	echo "options.sh: $pahole is $version, want v1.32" >&2
	exit 1
fi
dir=test/kerneltest/testdata/options
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rm -f "$dir"/*.btf
: > "$dir/want.txt"
while IFS= read -r row; do
	case $row in '' | '#'*) continue ;; esac
	name=${row%%:*}
	rm -rf "$work/run"
	mkdir "$work/run"
	cp encode/testdata/golden/x86-{gcc5,tags,fields}.elf testdata/split/x86.{base.btf,module.o} "$work/run"
	status=0
	# shellcheck disable=SC2086
	(cd "$work/run" && LLVM_OBJCOPY=objcopy "$pahole" ${row#*: } > "$work/stdout" 2> "$work/stderr") || status=$?
	btf=$work/run/out.btf
	for word in ${row#*: }; do
		if [ ! -e "$btf" ] && [[ $word == x86* && $word != *.btf ]]; then
			objcopy --dump-section ".BTF=$btf" "$work/run/$word" "$work/copy" 2> "$work/objcopy" || rm -f "$btf"
			break
		fi
	done
	golden=none
	if [ -e "$btf" ]; then
		golden=$(sha256sum "$btf" | cut -c1-12).btf
		install -m 644 "$btf" "$dir/$golden"
	fi
	echo "$name $status $(sha256sum < "$work/stdout" | cut -c1-12) $golden" >> "$dir/want.txt"
done < "$dir/table.txt"
echo "options.sh: $(wc -l < "$dir/want.txt") rows, $(ls "$dir"/*.btf | wc -l) different outputs"
