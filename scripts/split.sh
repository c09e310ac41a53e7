#!/usr/bin/env bash
#
# Write testdata/split again: three relocatable files per compiler, the base, a
# module over it and one over that, and the BTF that pahole makes of them.
#
#   BTFLITE_PAHOLE=FILE scripts/split.sh    pahole 1.32 with libbpf 1.7, else the one in PATH
#
# The committed files were written by clang 14.0.6 and gcc 12.2.0 for s390x of
# Debian 12, and pahole 1.32. With BTF_ONLY=1 the ELF files are kept.
#
#   NAME.base.o, NAME.module.o    relocatable files (ET_REL)
#   NAME.base.btf                 BTF of the base
#   NAME.module.btf               split BTF of the module over it, typedefs
#                                 repeated (see --btf_compat=libbpf-1.7)
#   NAME.upper.o                  what builds upon base and module
#   NAME.upper.btf                split BTF of it over both. pahole takes one
#                                 base: types and strings of both in one file,
#                                 which have the ids and offsets of the chain
#   NAME.base-btf.o               the base with .BTF and without DWARF
#   x86.base….gz, .xz, .zst       compressed by the programs of these names
#   NAME.distilled.base.btf       .BTF.base and .BTF with the feature
#   NAME.distilled.btf            distilled_base

set -euo pipefail
cd "$(dirname "$0")/../testdata/split"
pahole=${BTFLITE_PAHOLE:-pahole}
version=$("$pahole" --version)
if [ "$version" != v1.32 ]; then
	echo "split.sh: $pahole is $version, want v1.32" >&2
	exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

flags=(-O2 -g -gdwarf-4 -std=gnu99 -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables
	-ffile-prefix-map="$PWD"=. -c)

# split NAME COMPILER makes the files of one target.
split() {
	local name=$1 cc=$2 part
	if [ -z "${BTF_ONLY:-}" ]; then
		if ! command -v "$cc" > /dev/null; then
			echo "split.sh: $name left out, no $cc" >&2
			return
		fi
		for part in base module upper; do
			"$cc" "${flags[@]}" -o "$name.$part.o" "$part.c"
		done
	fi
	rm -f "$name".*.btf
	cp "$name.base.o" "$name.base-btf.o"
	"$pahole" -J --btf_features=default "$name.base-btf.o"
	llvm-objcopy --strip-debug "$name.base-btf.o"
	"$pahole" -J --btf_features=default --btf_encode_detached="$name.base.btf" "$name.base.o"
	"$pahole" -J --btf_features=default --btf_base="$name.base.btf" \
		--btf_encode_detached="$name.module.btf" "$name.module.o"
	python3 - "$name.base.btf" "$name.module.btf" > "$tmp/both.btf" <<-'END'
		import struct, sys
		files = [open(f, 'rb').read() for f in sys.argv[1:]]
		order = '<' if files[0][:1] == b'\x9f' else '>'
		parts = []
		for f in files:
		    head, type_off, type_len, str_off, str_len = struct.unpack_from(order + '5I', f, 4)
		    parts.append((f[head + type_off:][:type_len], f[head + str_off:][:str_len]))
		types, strings = (b''.join(p) for p in zip(*parts))
		sys.stdout.buffer.write(struct.pack(order + 'HBB5I', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings)
	END
	"$pahole" -J --btf_features=default --btf_base="$tmp/both.btf" \
		--btf_encode_detached="$name.upper.btf" "$name.upper.o"
	cp "$name.module.o" "$tmp/m.o"
	"$pahole" -J --btf_features=default,distilled_base --btf_base="$name.base.btf" "$tmp/m.o"
	llvm-objcopy --dump-section ".BTF=$name.distilled.btf" \
		--dump-section ".BTF.base=$name.distilled.base.btf" "$tmp/m.o" /dev/null
	chmod 644 "$name".*
}

split x86 clang
for file in x86.base.btf x86.base-btf.o; do
	gzip -9nkf "$file"
	xz -kf "$file"
	zstd -qf "$file"
done
split s390x s390x-linux-gnu-gcc
