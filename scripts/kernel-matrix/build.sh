# Part of scripts/kernel-matrix.sh: how a row is configured, built and compared.

# machine_of MACHINE: set $arch (Kbuild's name), $triple (of the cross compiler, without the
# machine of this script), $image (a target of make), $config (options) and $goarch.
machine_of() {
	local pl011='SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE' uart='SERIAL_8250 SERIAL_8250_CONSOLE'
	triple=
	case $1 in
	x86_64) arch=x86_64 image=bzImage goarch=amd64 config="64BIT $uart" ;;
	i386) arch=i386 image=bzImage goarch=386 config="$uart" ;;
	arm64) arch=arm64 image=Image goarch=arm64 triple=aarch64-linux-gnu config="$pl011" ;;
	arm) arch=arm image=zImage goarch=arm triple=arm-linux-gnueabihf
		config="MMU ARCH_MULTIPLATFORM ARCH_MULTI_V7 ARCH_VIRT AEABI VFP NEON COMPAT_32BIT_TIME $pl011" ;;
	riscv64) arch=riscv image=Image goarch=riscv64 triple=riscv64-linux-gnu
		config="MMU ARCH_RV64I FPU RISCV_ISA_FALLBACK RISCV_SBI SERIAL_OF_PLATFORM $uart" ;;
	s390x) arch=s390 image=bzImage goarch=s390x triple=s390x-linux-gnu config="SCLP_TTY SCLP_CONSOLE SCLP_VT220_TTY SCLP_VT220_CONSOLE" ;;
	ppc64le) arch=powerpc image=zImage goarch=ppc64le triple=powerpc64le-linux-gnu
		config="PPC64 PPC_BOOK3S_64 CPU_LITTLE_ENDIAN PPC_PSERIES PPC_OF_BOOT_TRAMPOLINE ALTIVEC VSX HVC_CONSOLE" ;;
	mips64el) arch=mips image=vmlinux goarch=mips64le triple=mips64el-linux-gnuabi64
		config="MIPS_MALTA CPU_MIPS64_R2 64BIT CPU_LITTLE_ENDIAN $uart" ;;
	*) stop "unknown machine $1" ;;
	esac
}

# compiler_of COMPILER: set $flags, what make is given in each call, and $cc, the compiler.
compiler_of() {
	local version=${1##*[a-z]}
	case $1 in
	clang-*)
		cc=clang$version ld=ld.lld$version
		flags=("ARCH=$arch" "LLVM=$version" ${triple:+"CROSS_COMPILE=$triple-"}) ;;
	gcc*)
		cc=${triple:+$triple-}gcc$version ld=${triple:+$triple-}ld
		flags=("ARCH=$arch" ${triple:+"CROSS_COMPILE=$triple-"}) ;;
	esac
	command -v "$cc" > /dev/null || stop "there is no $cc"
	measuring
	flags+=("LD=$work/bin/ld")
	masquerade
}

# measuring: write a linker and a pahole that note their memory, in KiB.
measuring() {
	local name
	mkdir -p "$work/bin"
	printf '#!/bin/sh\nexec time -a -o %s -f %%M %s "$@"\n' "$work/linking" "$ld" > "$work/bin/ld"
	printf '#!/bin/sh\n[ "$1" = -J ] || exec %s "$@"\nexec time -a -o %s -f %%M %s "$@"\n' "$btflite" "$work/encoding" "$btflite" > "$work/bin/pahole"
	for name in ld pahole; do
		chmod +x "$work/bin/$name"
	done
}

# masquerade: put links to ccache in front of PATH, as Debian's ccache has them, if it is there. It
# saves the tools of the build for all rows, and the compiler for rows that compile once more.
masquerade() {
	command -v ccache > /dev/null || return 0
	rm -rf "$work/links"
	mkdir -p "$work/links"
	ln -sfn "$(command -v ccache)" "$work/links/gcc"
	! does cc && ! does around || ln -sfn "$(command -v ccache)" "$work/links/$cc"
	export PATH=$work/links:$PATH CCACHE_DIR=$work/ccache CCACHE_MAXSIZE=6G CCACHE_COMPILERTYPE=auto CCACHE_DEPEND=1
}

# wanted: the lines of the row's configuration.
wanted() {
	local option
	{
		cat scripts/kernel-matrix/config
		! does trace || cat scripts/kernel-matrix/trace
		for option in $config $options; do
			case $option in
			-*) ;;
			*=*) echo "CONFIG_$option" ;;
			*) echo "CONFIG_$option=y" ;;
			esac
		done
	} | grep '^CONFIG' | while read -r option; do
		name=${option#CONFIG_}
		[[ " $options " = *" -${name%%=*} "* ]] || echo "$option"
	done
}

# make_in FOLDER CC TARGET...: run make. What it prints is in FOLDER.log.
make_in() {
	local folder=$1 with=$2
	shift 2
	nice make -s -C "$src" O="$folder" -j"$jobs" PAHOLE="$work/bin/pahole" "${flags[@]}" ${with:+"CC=$with"} "$@" > "$folder.log" 2>&1 ||
		stop "make $*: $(grep -iE 'error|\*\*\*|FAILED' "$folder.log" | head -n 2 | paste -sd ' ')"
}

# configure FOLDER CC: the configuration of the row. Each of its lines must be taken.
configure() {
	local line
	mkdir -p "$1"
	wanted > "$1.wanted"
	make_in "$1" "$2" KCONFIG_ALLCONFIG="$1.wanted" allnoconfig
	while read -r line; do
		grep -qx "$line" "$1/.config" || stop "the configuration has not taken $line"
	done < "$1.wanted"
}

# link_again FOLDER CC KEY: link vmlinux of objects that are there, and note how much memory the
# linker and btflite took at most, in KiB.
link_again() {
	rm -f "$1"/vmlinux "$1"/vmlinux.o "$1"/vmlinux.unstripped "$1"/.tmp_vmlinux* "$work/encoding" "$work/linking"
	make_in "$1" "$2" vmlinux
	note "link-$3" "$(largest "$work/linking")"
	note "encoding-$3" "$(largest "$work/encoding")"
	note "bytes-$3" "$(stat -c %s "$1/vmlinux.o" 2> /dev/null || echo 0)"
}

# largest FILE: the largest number of a file with one in each line.
largest() { sort -n "$1" 2> /dev/null | tail -n 1; }

build_dwarf() {
	configure "$out" "$cc"
	note release "$(make -s -C "$src" O="$out" "${flags[@]}" CC="$cc" kernelrelease)"
	make_in "$out" "$cc" vmlinux modules
	link_again "$out" "$cc" dwarf
	make_in "$out" "$cc" vmlinux modules "$image"
	grep -iE 'btf|pahole' "$out.log" | sed 's/^/     build: /' || true
}

# kernel_of FOLDER: the file with the debug information of the kernel. Since Linux 6.15 it is not vmlinux.
kernel_of() {
	if [ -e "$1/vmlinux.unstripped" ]; then echo vmlinux.unstripped; else echo vmlinux; fi
}

modules_of() { (cd "$1" && find . -name '*.ko' -not -path './debian/*' | LC_ALL=C sort); }

# convert: the copy with records. The script compares it with DWARF, too.
convert() {
	local log=$work/convert.log
	BTFLITE=$btflite JOBS=$jobs MAKEARGS="${flags[*]} CC=$cc" nice scripts/records-convert.sh "$out" "$work/records" > "$log" 2>&1 || {
		cat "$log"
		grep -q '^FAIL' "$log" || stop "converting: $(tail -n 1 "$log")"
		fault "records: $(grep -c '^FAIL' "$log") files differ: $(grep -m 1 '^FAIL' "$log")"
	}
	cat "$log"
	note said "$(sed -n 's/^ *cc: *[0-9]* //p' "$log" | sed "s,[^ ]*/,,g" | paste -sd ';')"
	note objects "$(sed -n 's/^.*: \([0-9]*\) objects of C$/\1/p' "$log")"
	link_again "$work/records" "$cc" records
	make_in "$work/records" "$cc" vmlinux modules "$image"
}

# sets: the features that pahole and btflite are compared with. btflite does not merge units of split DWARF
# (docs/limits.md).
sets() {
	local without=distilled_base
	[[ " $options " != *" DEBUG_INFO_SPLIT "* ]] || without='distilled_base|force_cu_merging'
	printf 'none\n%s\n' default
	"$pahole" --supported_btf_features | tr , '\n' | grep -vxE "$without" | paste -sd,
}

# encode PROGRAM FILE OUT OPTION...: the BTF of a file, or in its place why there is none. btflite makes pahole's bytes.
encode() {
	local program=$1 file=$2 btf=$3
	shift 3
	[ "$program" = "$pahole" ] || set -- "$@" --verify=warn --btf_compat=libbpf-1.7
	rm -f "$btf"
	"$program" -J -j1 "$@" --btf_encode_detached="$btf" "$file" > "$btf.said" 2>&1 || { rm -f "$btf"; return 0; }
}

# compare_with FOLDER KEY OPTION...: the BTF of all files of a folder with pahole's of the DWARF, or btflite's where
# pahole cannot read it: split DWARF, reduced DWARF, and modules of 64-bit little-endian MIPS (docs/differences.md).
compare_with() {
	local folder=$1 key=$2 set file kernel reference n=0 differ=() a=$work/a.btf b=$work/b.btf
	shift 2
	kernel=$(kernel_of "$out.dwarf")
	for set in $(sets); do
		[ "$set" != none ] || set=
		for file in "$kernel" $(modules_of "$out.dwarf"); do
			local -a base=()
			reference=$pahole
			[ "$file" = "$kernel" ] || base=("--btf_base=$work/base.btf")
			if [[ " $options " =~ " DEBUG_INFO_"(SPLIT|REDUCED)" " ]] || [[ $machine = mips64el && $file != "$kernel" ]]; then
				reference=$btflite
			fi
			encode "$reference" "$out.dwarf/$file" "$a" "$@" --btf_features="$set" "${base[@]}"
			encode "$btflite" "$folder/$file" "$b" "$@" --btf_features="$set" "${base[@]}"
			[ "$file" != "$kernel" ] || cp "$a" "$work/base.btf" 2> /dev/null || { fault "$reference: $(tail -n 1 "$a.said")"; return; }
			cmp -s "$a" "$b" || differ+=("${file#./}, features '${set:0:12}': $(tail -n 1 "$b.said")")
			n=$((n + 1))
		done
	done
	note "compared-$key" "$n"
	note "differ-$key" "${#differ[@]}"
	[ ${#differ[@]} = 0 ] || fault "$key: ${#differ[@]} of $n differ from pahole's: ${differ[0]}"
}

# compare_all: both folders with pahole, kernels with Rust also without it, as they are built. The BTF that
# the builds have put into vmlinux and modules must be the same, too.
compare_all() {
	rm -rf "$out.dwarf"
	cp -al "$out" "$out.dwarf"
	note modules "$(modules_of "$out" | wc -l)"
	compare_with "$out" dwarf
	compare_with "$work/records" records
	if [[ " $options " = *" RUST "* ]]; then
		compare_with "$out" dwarf-without --lang_exclude=rust
		compare_with "$work/records" records-without --lang_exclude=rust
	fi
	same_built "$work/records" records
}

# built_btf FOLDER FILE OUT: the section .BTF as the build has left it; false if there is none.
built_btf() { "${triple:+$triple-}objcopy" --dump-section ".BTF=$3" "$1/$2" /dev/null 2> /dev/null && [ -s "$3" ]; }

# same_built FOLDER KEY: the sections .BTF of a folder are those of the folder with DWARF.
same_built() {
	local file n=0
	[[ " $options " != *" -DEBUG_INFO_BTF "* ]] || return 0
	for file in vmlinux $(modules_of "$out.dwarf"); do
		if ! built_btf "$1" "$file" "$work/b.btf"; then
			[[ " $options " = *" -DEBUG_INFO_BTF_MODULES "* && $file != vmlinux ]] || fault "$2: ${file#./} has no .BTF"
			continue
		fi
		built_btf "$out.dwarf" "$file" "$work/a.btf" && cmp -s "$work/a.btf" "$work/b.btf" || fault "$2: the build made another .BTF of ${file#./}"
		n=$((n + 1))
	done
	note "built-$2" "$n"
	built_btf "$1" vmlinux "$work/b.btf" && note btf-bytes "$(stat -c %s "$work/b.btf")"
}

# same_versions: with MODVERSIONS, the symbols have the versions that they have with DWARF.
same_versions() {
	[[ " $options " = *" MODVERSIONS "* ]] || return 0
	cmp -s "$out.dwarf/Module.symvers" "$out/Module.symvers" || fault "real: the versions of symbols differ"
	note versions "$(grep -vc '^0x00000000' "$out/Module.symvers")"
}

# build_real: compile the row with btflite cc, in the folder of the same name, so that ccache finds
# what the compiler has made.
build_real() {
	rm -rf "$out"
	configure "$out" "$btflite cc $cc"
	make_in "$out" "$btflite cc $cc" vmlinux modules "$image"
	grep '^btflite: ' "$out.log" | sed 's/^/     cc: /' || true
	note real-said "$(grep '^btflite: ' "$out.log" | sed "s,$out/,,g" | paste -sd ';')"
	note real-lines "$(grep -c '^btflite: ' "$out.log" || true)"
	compare_with "$out" real
	same_built "$out" real
	same_versions
	[ -z "$(find "$out" -name '.btflite-*' -not -name .btflite-cc.tmp)" ] || fault "files are left: $(find "$out" -name '.btflite-*')"
}
