#!/usr/bin/env bash
#
# Write encode/testdata/golden again: ELF files that compilers make of
# encode/testdata/src, and the BTF that pahole makes of each, per feature set.
#
#   BTFLITE_PAHOLE=FILE scripts/golden.sh [NAME…]   pahole 1.32, else the one in PATH
#
# The committed files were written by gcc 12.2.0 (also the cross compilers) and
# clang 14.0.6 of Debian 12, objcopy 2.40 and pahole 1.32. Compilers that are missing are
# named and left out; their files stay as they are. With BTF_ONLY=1 the ELF
# files are kept and only the BTF is written.

set -euo pipefail
cd "$(dirname "$0")/../encode/testdata"

pahole=${BTFLITE_PAHOLE:-pahole}
version=$("$pahole" --version)
if [ "$version" != v1.32 ]; then
	echo "golden.sh: $pahole is $version, want v1.32" >&2
	exit 1
fi

program="types.c funcs.c more.c other.c ids.S"
part="funcs.c more.c other.c"
common=(-nostdlib -static -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables
	-Wno-unused -Wl,--build-id=none -Wl,--unique=.data..percpu -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096)
made=0

# golden NAME COMPILER SOURCES FLAG… compiles and encodes one file.
golden() {
	local name=$1 cc=$2 sources=$3 set args input
	shift 3
	if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
		return
	fi
	local crashes=
	if [ "${dwz:-}" = alt--dwarf-5 ]; then
		crashes=1 # pahole does, so there is no BTF
	fi
	if [ -z "${BTF_ONLY:-}" ]; then
		if ! command -v "$cc" > /dev/null; then
			echo "golden.sh: $name left out, no $cc" >&2
			return
		fi
		# shellcheck disable=SC2086
		(cd src && "$cc" "${common[@]}" -ffile-prefix-map="$PWD"=. "$@" -o "../golden/$name.elf" $sources)
		if [ -n "${compress:-}" ]; then
			objcopy --compress-debug-sections="$compress" "golden/$name.elf"
		fi
		case ${dwz:-} in
		one) dwz "golden/$name.elf" ;;
		alt*) # what two copies have in common goes to a third file
			(cd golden && cp "$name.elf" "$name.two" && rm -f "$name.alt" &&
				dwz ${dwz#alt} -m "$name.alt" "$name.elf" "$name.two" && rm "$name.two") ;;
		esac
		if [ -n "$crashes" ]; then
			mkdir -p dwz && mv "golden/$name.elf" "golden/$name.alt" dwz
		fi
	fi
	if [ -n "$crashes" ]; then
		return
	fi
	input=golden/$name.elf
	if [ -n "${link:-}" ]; then
		if ! command -v "$link" > /dev/null; then
			echo "golden.sh: BTF of $name left out, no $link" >&2
			return
		fi
		input=$linked
		"$link" --unique=.data..percpu -e 0 --unresolved-symbols=ignore-all -o "$input" "golden/$name.elf"
	fi
	for set in none default all ${merge:+merge}; do
		args=(-J -j1)
		case $set in
		none) ;;
		merge) args+=("--btf_features=default,force_cu_merging") ;;
		*) args+=("--btf_features=$set") ;;
		esac
		rm -f "golden/$name.$set.btf"
		"$pahole" "${args[@]}" --btf_encode_detached="golden/$name.$set.btf" "$input"
		chmod 644 "golden/$name.$set.btf" "golden/$name.elf"
	done
	made=$((made + 1))
}

# typeunits NAME COMPILER SOURCES FLAG… compiles with type units. The expected
# BTF is that of the golden file NAME, type for type.
typeunits() {
	local name=$1 cc=$2 sources=$3
	shift 3
	if [ ${#wanted[@]} -gt 0 ] || [ -n "${BTF_ONLY:-}" ]; then
		return
	fi
	mkdir -p typeunits
	# shellcheck disable=SC2086
	(cd src && "$cc" "${common[@]}" -ffile-prefix-map="$PWD"=. -fdebug-types-section "$@" -o "../typeunits/$name.elf" $sources)
}

cxx=(-std=c++17 -fno-rtti -fno-exceptions -Wl,-e,main)
wanted=("$@")
linked=$(mktemp)
trap 'rm -f "$linked"' EXIT
mkdir -p golden
merge=1 \
golden x86-gcc5       gcc   "$program" -O2 -gdwarf-5
golden x86-gcc4       gcc   "$program" -O2 -gdwarf-4
golden x86-gcc3-O0    gcc   "$program" -O0 -gdwarf-3 -gstrict-dwarf
golden x86-gcc5-64    gcc   "$program" -Os -gdwarf-5 -gdwarf64
golden x86-gcc5-zlib  gcc   "$program" -O1 -gdwarf-5 -gz=zlib
compress=zstd \
golden x86-gcc5-zstd  gcc   "$program" -O1 -gdwarf-5
compress=zlib-gnu \
golden i386-gcc4-zgnu gcc   "$program" -O1 -gdwarf-4 -m32
golden s390x-gcc5-zlib s390x-linux-gnu-gcc "$program" -O1 -gdwarf-5 -gz=zlib
golden x86-gcc5-dyn   gcc   "$program" -O2 -gdwarf-5 -static-pie -fPIE
golden i386-gcc4      gcc   "$program" -O2 -gdwarf-4 -m32
golden x86-clang5     clang "$program" -O2 -gdwarf-5 -fdebug-compilation-dir=.
golden x86-clang4     clang "$program" -O2 -gdwarf-4 -fdebug-compilation-dir=.
golden x86-tags       clang tags.c     -O2 -gdwarf-5 -fdebug-compilation-dir=.
golden x86-fields    gcc   fields.c   -O1 -gdwarf-5
golden x86-g++5       g++     cxx.cc "${cxx[@]}" -O2 -gdwarf-5
golden x86-g++4       g++     cxx.cc "${cxx[@]}" -O1 -gdwarf-4
golden x86-clang++5   clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-5 -fdebug-compilation-dir=.
typeunits x86-gcc5    gcc     "$program" -O2 -gdwarf-5
typeunits x86-gcc5-zstd gcc   "$program" -O2 -gdwarf-5
objcopy --compress-debug-sections=zstd typeunits/x86-gcc5-zstd.elf
typeunits x86-gcc4    gcc     "$program" -O2 -gdwarf-4
typeunits s390x-gcc5  s390x-linux-gnu-gcc "$program" -O2 -gdwarf-5
typeunits x86-g++5    g++     cxx.cc "${cxx[@]}" -O2 -gdwarf-5
typeunits x86-g++4    g++     cxx.cc "${cxx[@]}" -O1 -gdwarf-4
typeunits x86-clang++5 clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-5 -fdebug-compilation-dir=.
typeunits x86-gcc5-r  gcc     "$program" -O2 -gdwarf-5 -r
typeunits x86-gcc5-r-zstd gcc "$program" -O2 -gdwarf-5 -r
objcopy --compress-debug-sections=zstd typeunits/x86-gcc5-r-zstd.elf
typeunits x86-gcc5-r-nogroups gcc "$program" -O2 -gdwarf-5 -r -Wl,--force-group-allocation
typeunits x86-gcc4-r  gcc     "$program" -O2 -gdwarf-4 -r
typeunits x86-clang++4-o clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-4 -fdebug-compilation-dir=. -c
typeunits x86-clang++5-o clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-5 -fdebug-compilation-dir=. -c
typeunits i386-gcc5-r gcc     "$part"    -O2 -gdwarf-5 -m32 -r
typeunits s390x-gcc4-r s390x-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
typeunits riscv64-gcc5-r riscv64-linux-gnu-gcc "funcs.c other.c" -O1 -gdwarf-5 -mno-relax -r
golden arm64-gcc5     aarch64-linux-gnu-gcc   "$program" -O2 -gdwarf-5
golden s390x-gcc5     s390x-linux-gnu-gcc     "$program" -O2 -gdwarf-5
merge=1 \
golden s390x-gcc2     s390x-linux-gnu-gcc     "$program" -O2 -gdwarf-2 -gstrict-dwarf
golden arm-gcc4       arm-linux-gnueabihf-gcc "$program" -O2 -gdwarf-4

# Relocatable files: partial links, as modules are, and objects.
golden x86-gcc5-r     gcc   "$program" -O2 -gdwarf-5 -r
merge=1 \
golden x86-gcc4-r     gcc   "$program" -O2 -gdwarf-4 -r
golden x86-clang5-o   clang funcs.c    -O2 -gdwarf-5 -fdebug-compilation-dir=. -c
golden x86-clang++4-o clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-4 -fdebug-compilation-dir=. -c
golden x86-clang++5-o clang++ cxx.cc "${cxx[@]}" -O2 -gdwarf-5 -fdebug-compilation-dir=. -c
golden x86-clang4-o   clang funcs.c    -O2 -gdwarf-4 -fdebug-compilation-dir=. -c
golden i386-gcc5-r    gcc   "$part"    -O2 -gdwarf-5 -m32 -r
golden arm64-gcc4-r   aarch64-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
golden arm-gcc4-r     arm-linux-gnueabihf-gcc "$part" -O2 -gdwarf-4 -r
golden s390x-gcc4-r   s390x-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
golden s390x-gcc5-r   s390x-linux-gnu-gcc "$part" -O2 -gdwarf-5 -gdwarf64 -r
golden ppc64-gcc4-r   powerpc64-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
golden ppc64le-gcc5-r powerpc64le-linux-gnu-gcc "$part" -O2 -gdwarf-5 -r
golden riscv64-gcc4-r riscv64-linux-gnu-gcc "funcs.c other.c" -O1 -gdwarf-4 -r
golden riscv64-gcc5-r riscv64-linux-gnu-gcc "funcs.c other.c" -O1 -gdwarf-5 -mno-relax -r
golden sparc64-gcc4-r sparc64-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
golden sparc64-gcc5-r sparc64-linux-gnu-gcc "$part" -O2 -gdwarf-5 -r
golden mips-gcc4-r    mips-linux-gnu-gcc "$part" -O2 -gdwarf-4 -r
golden mipsel-gcc5-r  mipsel-linux-gnu-gcc "$part" -O2 -gdwarf-5 -r
golden sparc-gcc5-r   sparc64-linux-gnu-gcc "$part" -O2 -gdwarf-5 -m32 -r
golden alpha-gcc5-r   alpha-linux-gnu-gcc "funcs.c other.c" -O1 -gdwarf-5 -r
golden m68k-gcc4-r    m68k-linux-gnu-gcc "funcs.c other.c" -O1 -gdwarf-4 -r
clang=(-O2 -fdebug-compilation-dir=. -Wno-unused-command-line-argument -c)
golden bpf-clang5-o   clang bpf.c  "${clang[@]}" -gdwarf-5 --target=bpf
golden bpf-clang4-o   clang bpf.c  "${clang[@]}" -gdwarf-4 --target=bpf
golden bpfeb-clang5-o clang bpf.c  "${clang[@]}" -gdwarf-5 --target=bpfeb
golden bpf-gcc5-o     bpf-gcc bpf.c -O2 -gdwarf-5 -c
golden bpf-gcc4-o     bpf-gcc bpf.c -O2 -gdwarf-4 -c -gz
golden bpfeb-gcc5-o   bpf-gcc bpf.c -O2 -gdwarf-5 -c -mbig-endian
golden sparc-clang5-o clang other.c "${clang[@]}" -gdwarf-5 --target=sparc -fintegrated-as
golden hexagon-clang4-o clang more.c "${clang[@]}" -gdwarf-4 --target=hexagon
# Clang is version 19 here, the first with relaxation on LoongArch.
golden riscv64-clang5-o clang-19 regs.c "${clang[@]}" -gdwarf-5 --target=riscv64-linux-gnu
golden riscv64-clang4-o clang-19 regs.c "${clang[@]}" -gdwarf-4 --target=riscv64-linux-gnu
golden loong64-clang5-o clang-19 regs.c "${clang[@]}" -gdwarf-5 --target=loongarch64-linux-gnu -Xclang -target-feature -Xclang +relax
golden loong64-clang4-o clang-19 regs.c "${clang[@]}" -gdwarf-4 --target=loongarch64-linux-gnu -Xclang -target-feature -Xclang +relax
golden ppc-clang4-o     clang-19 regs.c "${clang[@]}" -gdwarf-4 --target=powerpc-linux-gnu
golden ppc64-clang5-o   clang-19 regs.c "${clang[@]}" -gdwarf-5 --target=powerpc64-linux-gnu
golden mips64-clang5-o  clang-19 regs.c "${clang[@]}" -gdwarf-5 --target=mips64-linux-gnuabi64
# Pahole's ELF library misreads the relocations of this machine, so its BTF is
# that of the file after a link.
link=mips64el-linux-gnuabi64-ld \
golden mips64el-gcc5-r  mips64el-linux-gnuabi64-gcc "types.c more.c other.c" -O2 -gdwarf-5 -r
link=mips64el-linux-gnuabi64-ld \
golden mips64el-gcc4-r  mips64el-linux-gnuabi64-gcc "types.c more.c other.c" -O2 -gdwarf-4 -r

# Nor does it know those of these machines.
link=sh4-linux-gnu-ld \
golden sh-gcc5-r      sh4-linux-gnu-gcc "types.c more.c other.c" -O1 -gdwarf-5 -r
link=hppa-linux-gnu-ld \
golden hppa-gcc4-r    hppa-linux-gnu-gcc "types.c other.c" -O1 -gdwarf-4 -r

# Files that pahole refuses: the expected BTF beside them, as text, was checked
# by eye against the DWARF when it was written.
if [ ${#wanted[@]} -eq 0 ] && [ -z "${BTF_ONLY:-}" ]; then
	mkdir -p leftout
	(cd src && g++ "${common[@]}" "${cxx[@]}" -ffile-prefix-map="$PWD"=. -O1 -gdwarf-5 -DREFERENCES -o ../leftout/x86-g++5.elf cxx.cc)
fi

# One file of units in DWARF 2 to 5, 32- and 64-bit, C, assembler and Rust.
mixture() {
	local dir flags set args
	dir=$(mktemp -d)
	flags=(-ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -Wno-unused -c)
	(
		cd src
		gcc "${flags[@]}" "-ffile-prefix-map=$PWD=." -O1 -gdwarf-5 -gdwarf64 other.c -o "$dir/1.o"
		clang "${flags[@]}" -fdebug-compilation-dir=. -O1 -gdwarf-5 tags.c -o "$dir/2.o"
		gcc "${flags[@]}" "-ffile-prefix-map=$PWD=." -Os -gdwarf-4 -gdwarf64 fields.c -o "$dir/3.o"
		clang "${flags[@]}" -fdebug-compilation-dir=. -O2 -gdwarf-4 more.c -o "$dir/4.o"
		gcc "${flags[@]}" "-ffile-prefix-map=$PWD=." -g -gdwarf-2 ids.S -o "$dir/5.o"
		gcc "${flags[@]}" "-ffile-prefix-map=$PWD=." -O2 -gdwarf-3 funcs.c -o "$dir/6.o"
		gcc "${flags[@]}" "-ffile-prefix-map=$PWD=." -O2 -gdwarf-2 -gstrict-dwarf types.c -o "$dir/7.o"
		rustc --edition 2021 -C opt-level=1 -C panic=abort -g -C relocation-model=static --remap-path-prefix "$PWD=." --emit obj -o "$dir/8.o" rust.rs
	)
	gcc "${common[@]}" -Wl,-z,muldefs "$dir"/?.o -o golden/x86-mixture.elf
	rm -r "$dir"
	for set in none default all norust; do
		args=(-J -j1)
		case $set in
		none) ;;
		norust) args+=(--btf_features=default --lang_exclude=rust) ;;
		*) args+=("--btf_features=$set") ;;
		esac
		"$pahole" "${args[@]}" --btf_encode_detached="golden/x86-mixture.$set.btf" golden/x86-mixture.elf
	done
	chmod 644 golden/x86-mixture.*
}
if [ ${#wanted[@]} -eq 0 ] && [ -z "${BTF_ONLY:-}" ]; then
	mixture
fi

# splitdwarf NAME FLAG… compiles with split DWARF; the expected BTF is that of
# the golden file NAME.
splitdwarf() {
	local name=$1 s
	shift
	mkdir -p "splitdwarf/$name"
	for s in types funcs more other; do
		(cd src && "${cc:-gcc}" "${common[@]}" -ffile-prefix-map="$PWD"=. "$@" -gsplit-dwarf -c "$s.c" -o "../splitdwarf/$name/$s.o")
	done
	(
		cd "splitdwarf/$name"
		gcc -c ../../src/ids.S -o ids.o
		gcc "${common[@]}" types.o funcs.o more.o other.o ids.o -o prog
		rm ./*.o
		chmod 644 ./*
	)
}
if [ ${#wanted[@]} -eq 0 ] && [ -z "${BTF_ONLY:-}" ]; then
	splitdwarf x86-gcc5 -O2 -gdwarf-5
	splitdwarf x86-gcc4 -O2 -gdwarf-4
	cc=clang \
	splitdwarf x86-clang5-dwp -O2 -gdwarf-5 -fdebug-compilation-dir=.
	for s in x86-gcc4 x86-clang5-dwp; do
		(cd splitdwarf/$s && llvm-dwp types.dwo funcs.dwo more.dwo other.dwo -o prog.dwp && chmod 644 prog.dwp && rm ./*.dwo)
	done
	# llvm-dwp 14 does not end on gcc's DWARF 5, and GNU dwp 2.40 crashes on DWARF 5.
	splitdwarf x86-gcc5-types -O2 -gdwarf-5 -fdebug-types-section
	splitdwarf x86-gcc4-types -O2 -gdwarf-4 -fdebug-types-section
	splitdwarf x86-gcc4-types-dwp -O2 -gdwarf-4 -fdebug-types-section
	(cd splitdwarf/x86-gcc4-types-dwp && dwp -o prog.dwp types.dwo funcs.dwo more.dwo other.dwo && chmod 644 prog.dwp && rm ./*.dwo)
	mkdir -p splitdwarf/x86-clang++5-types-dwp
	(
		cd splitdwarf/x86-clang++5-types-dwp
		cp ../../src/cxx.cc .
		clang++ "${common[@]}" "${cxx[@]}" -O2 -gdwarf-5 -fdebug-types-section -gsplit-dwarf -fdebug-compilation-dir=. -c cxx.cc -o cxx.o
		clang++ "${common[@]}" "${cxx[@]}" cxx.o -o prog
		llvm-dwp cxx.dwo -o prog.dwp
		rm cxx.*
		chmod 644 ./*
	)
fi

# Separate debug files. x86-gcc5 by checksum, build-id by its note.
if [ ${#wanted[@]} -eq 0 ] && [ -z "${BTF_ONLY:-}" ]; then
	mkdir -p debugfile/.build-id/01
	(cd src && gcc "${common[@]}" -ffile-prefix-map="$PWD"=. -Wl,--build-id=0x0123456789abcdef -O1 -gdwarf-5 -o ../debugfile/build-id.elf fields.c)
	objcopy --only-keep-debug debugfile/build-id.elf debugfile/.build-id/01/23456789abcdef.debug
	strip -g debugfile/build-id.elf
	objcopy --only-keep-debug golden/x86-gcc5.elf debugfile/x86-gcc5.debug
	objcopy -g --add-gnu-debuglink=debugfile/x86-gcc5.debug golden/x86-gcc5.elf debugfile/x86-gcc5.elf
	objcopy -S --add-gnu-debuglink=debugfile/x86-gcc5.debug golden/x86-gcc5.elf debugfile/x86-gcc5.stripped.elf
	chmod 644 debugfile/*.* debugfile/.build-id/01/*
fi

# dwz 0.15: partial units, and an alternate file beside the file.
dwz=one \
golden x86-gcc5-dwz   gcc   "$program" -O2 -gdwarf-5
dwz=one \
golden s390x-gcc4-dwz s390x-linux-gnu-gcc "$program" -O2 -gdwarf-4
dwz=alt \
golden x86-gcc4-alt   gcc   "$program" -O2 -gdwarf-4
dwz=alt--dwarf-5 \
golden x86-gcc5-sup   gcc   "$program" -O2 -gdwarf-5

# Objects before link-time optimization, without machine code.
golden x86-gcc5-slim  gcc   funcs.c    -O2 -gdwarf-5 -flto -c
golden x86-g++4-slim  g++   cxx.cc     "${cxx[@]}" -O2 -gdwarf-4 -flto -c

# Link-time optimization: units that refer to each other. lld has no --unique.
golden x86-gcc5-lto   gcc   "$program" -O2 -gdwarf-5 -flto
golden x86-gcc4-lto   gcc   "$program" -O3 -gdwarf-4 -flto
golden s390x-gcc5-lto s390x-linux-gnu-gcc "$program" -O2 -gdwarf-5 -flto
common=("${common[@]/-Wl,--unique=*/-fuse-ld=lld}")
golden x86-clang5-lto clang "$program" -O2 -gdwarf-5 -flto -fdebug-compilation-dir=.
golden x86-clang4-lto clang "$program" -O2 -gdwarf-4 -flto -fdebug-compilation-dir=.
golden x86-clang5-thin clang "$program" -O2 -gdwarf-5 -flto=thin -fdebug-compilation-dir=.

# Over a base that has some of the types, the alternate file too.
for set in default all; do
	for name in x86-gcc4-alt x86-gcc5-dwz x86-gcc5-lto; do
		"$pahole" -J -j1 --btf_features=$set --btf_base=golden/x86-clang4-o.default.btf \
			--btf_encode_detached="golden/$name.over-$set.btf" "golden/$name.elf"
		chmod 644 "golden/$name.over-$set.btf"
	done
done

# What -V prints.
verbose() {
	local log=$1 input inputs=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		inputs+=("golden/$1.elf")
		shift
	done
	shift
	"$pahole" -V -J -j1 "$@" --btf_encode_detached="$linked" "${inputs[@]}" > "verbose/$log.log"
}
mkdir -p verbose
verbose x86-gcc5.all x86-gcc5 -- --btf_features=all
verbose x86-clang5.default x86-clang5 -- --btf_features=default
verbose x86-gcc5-dwz.over x86-gcc5-dwz -- --btf_features=all --btf_base=golden/x86-clang4-o.default.btf
verbose x86-gcc5-lto.all x86-gcc5-lto -- --btf_features=all
verbose x86-tags.none x86-tags --
verbose x86-g++4-slim.float x86-g++4-slim -- --btf_features=float
verbose x86-mixture.rust x86-mixture -- --btf_features=default --lang=rust
verbose x86-mixture.norust x86-mixture -- --btf_features=default --lang_exclude=rust
verbose x86-mixture.nor99f x86-mixture -- --btf_features=default --lang_exclude=rust,c99 -Xf
verbose x86-mixture.r99nof x86-mixture -- --btf_features=default --lang=rust,c99 -Xf
verbose x86-mixture.r11nof x86-mixture -- --btf_features=default --lang=rust,c11 -Xf
verbose x86-gcc5+r.default x86-gcc5 x86-gcc5-r -- --btf_features=default
without=encode_force,var,decl_tag,type_tag,enum64,optimized_func,consistent_func,decl_tag_kfuncs,global_var
verbose i386-gcc4.float i386-gcc4 -- --btf_features=$without

# A linked and a relocatable file together.
"$pahole" -J -j1 --btf_features=default --btf_encode_detached=golden/x86-gcc5+r.btf golden/x86-gcc5.elf golden/x86-gcc5-r.elf
chmod 644 golden/x86-gcc5+r.btf
echo "golden.sh: $made files and their BTF written"
