#!/usr/bin/env bash
#
# Build kernels with PAHOLE=btflite, boot them, and use their BTF.
#
#   scripts/kernel-test.sh [SERIES...]      default: 7.2 6.1
#
# For each series the source package of Debian is fetched (6.1 of
# bookworm-security, with the in-place build of link-vmlinux.sh; 7.2, or what
# sid has by then, with the detached one of gen-btf.sh), and a small kernel with
# BTF and one module is built from scripts/kernel-test/config. Then
#
#   1. vmlinux and module are linked again with PAHOLE=pahole 1.32: the section
#      .BTF of vmlinux must have the same types. For Linux 7.2, which asks for
#      layout, btflite's has a layout section, and pahole's over libbpf 1.7 has
#      none; for the other one it must be the same bytes. What the build gave pahole to
#      encode is kept, and both programs encode it once more with the options of
#      the build: the same bytes again (modules with --btf_compat=libbpf-1.7, as
#      pahole 1.32 in Debian repeats typedefs);
#   2. the kernel boots under qemu, in software: /sys/kernel/btf must hold the
#      bytes that were written, bpftool must read them, a CO-RE program with
#      fentry on a kernel function and on a module function must load and
#      count, and the kernel's log must have no complaint about BTF;
#   3. a module of inlined functions (scripts/kernel-test/inlined) is built, and
#      the guest sets kprobes where btflite says that they are inlined. Each must
#      read the parameters from the places in the BTF, with the right values.
#
# Needs packages: make gcc bc flex bison xz-utils libelf-dev libssl-dev clang
# libbpf-dev zlib1g-dev busybox-static cpio qemu-system-x86. JOBS=N builds with
# N jobs (default 2), BTFLITE=FILE tests another program than ./btflite; a link
# to it is called by the name of the link, as /usr/bin/pahole is. The folder is
# $BTFLITE_KERNEL_TEST or else btflite-kernel-test in the user's cache folder; it
# takes 4 GB for each series and is kept for the next run.
# A build takes about ten minutes on two idle processors.

set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

work=${BTFLITE_KERNEL_TEST:-${XDG_CACHE_HOME:-$HOME/.cache}/btflite-kernel-test}
jobs=${JOBS:-2}
btflite=$(realpath -s "${BTFLITE:-./btflite}")
cc=${RECORDS:+$btflite cc }gcc
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }
pass() { echo "ok   $*"; }

# build PAHOLE TARGET...: make the targets in $out.
build() {
	local pahole=$1
	shift
	make -s -C "$src" -j"$jobs" ARCH=x86_64 O="$out" PAHOLE="$pahole" CC="$cc" "$@" > "$out/build.log" 2>&1 ||
		die "make $* with PAHOLE=$pahole: $(tail -n 20 "$out/build.log")"
	grep -iE 'btf|pahole' "$out/build.log" | sed "s/^/     build: /" || true
}

# unlink_kernel: have make link vmlinux and modules again, which encodes them.
unlink_kernel() {
	rm -f "$out"/vmlinux "$out"/vmlinux.unstripped "$out"/.tmp_vmlinux*
	(cd "$out" && modules | xargs -r rm -f)
}

# save FOLDER: copy vmlinux and modules, and their BTF, to $out/FOLDER.
save() {
	local dir=$out/$1 file
	rm -rf "$dir"
	mkdir -p "$dir"
	for file in vmlinux $(modules); do
		cp "$out/$file" "$dir/"
		objcopy --dump-section ".BTF=$dir/${file##*/}.BTF" "$out/$file" /dev/null || die "$file has no .BTF"
	done
}

# modules: the modules that make has left in $out.
modules() {
	(cd "$out" && find . -name '*.ko' -not -path './btflite/*' -not -path './pahole/*' -not -path './guest/*')
}

# same FILE FILE WHAT: check that the files are the same.
same() {
	if cmp -s "$1" "$2"; then
		pass "$series: $3 is the same as with pahole 1.32, $(wc -c < "$1") bytes"
	else
		fail "$series: $3 differs from that of pahole 1.32"
	fi
}

# recorder: write $out/recorder, a pahole that keeps its options and a copy of
# its input, as it was before, in $out/recorded.
recorder() {
	rm -rf "$out/recorded"
	mkdir -p "$out/recorded"
	cat > "$out/recorder" <<-END
		#!/bin/bash
		if [ "\$1" = -J ]; then
			dir=\$(mktemp -d "$out/recorded/XXXXXX")
			printf '%s\n' "\$@" > "\$dir/options"
			cp "\${!#}" "\$dir/input"
		fi
		exec "$pahole" "\$@"
	END
	chmod +x "$out/recorder"
}

# encode PROGRAM RECORD OUT OPTION...: let the program encode the kept input
# with the kept options, in place or detached as these say, and save its BTF.
encode() {
	local program=$1 record=$2 btf=$3 word
	local -a options=("${@:4}")
	while read -r word; do
		case $word in
		--btf_encode_detached=*) options+=("--btf_encode_detached=$btf") ;;
		*) options+=("$word") ;;
		esac
	done < <(head -n -1 "$record/options")
	rm -f "$btf"
	cp "$record/input" "$btf.elf"
	(cd "$out" && "$program" "${options[@]}" "$btf.elf") || die "$program ${options[*]} has failed"
	[ -e "$btf" ] || objcopy --dump-section ".BTF=$btf" "$btf.elf" /dev/null
	rm "$btf.elf"
}

# replay: check that both programs make the same of all that was kept.
replay() {
	local record name
	for record in "$out"/recorded/*/; do
		name=$(tail -n 1 "$record/options")
		encode "$btflite" "$record" "$out/btflite.btf" --btf_compat=libbpf-1.7
		encode "$pahole" "$record" "$out/pahole.btf"
		same "$out/btflite.btf" "$out/pahole.btf" "${name##*/} encoded with $(head -n -1 "$record/options" | paste -s -d ' ')"
	done
}

# guest: write the initial RAM disk.
guest() {
	local root=$out/guest libc lib
	rm -rf "$root"
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,modules,bpftool}
	cp "$(command -v busybox)" "$root/bin/"
	cp scripts/kernel-test/init "$root/init"
	cp "$out"/btflite/*.ko "$root/modules/" 2> /dev/null || true
	[ ! -e "$mod/events" ] || cp "$mod/inlined.ko" "$root/modules/"
	[ ! -e "$mod/events" ] || cp "$mod/events" "$root/events"
	# bpftool as kernels.sh has fetched it, with its own loader and libraries.
	cp "$corpus/sid/usr/sbin/bpftool" "$root/bpftool/"
	cp "$(find "$corpus/sid/usr/lib" -name 'ld-linux*.so*' | head -n 1)" "$root/bpftool/ld.so"
	libc=$(find "$corpus/sid/usr/lib" -name libc.so.6 | head -n 1)
	for lib in $("$root/bpftool/ld.so" --library-path "${libc%/*}" --list "$root/bpftool/bpftool" | awk '$3 ~ /^\// { print $3 }'); do
		[ "${lib##*/}" = ld.so ] || cp -L "$lib" "$root/bpftool/"
	done
	printf '#!/bin/busybox sh\nexec /bpftool/ld.so --library-path /bpftool /bpftool/bpftool "$@"\n' > "$root/bpftool/run"
	chmod +x "$root/init" "$root/bpftool/run"
	"$corpus/bin/bpftool" btf dump file "$out/btflite/vmlinux" format c > "$out/vmlinux.h"
	clang -O2 -g -Wno-missing-declarations -target bpf -D__TARGET_ARCH_x86 -I"$out" -c scripts/kernel-test/count.bpf.c -o "$root/count.bpf.o"
	gcc -O2 -static -o "$root/count" scripts/kernel-test/count.c -lbpf -lelf -lz
	(cd "$root" && find . | cpio -o -H newc 2> /dev/null | gzip) > "$out/initrd.gz"
}

# boot: run the guest, leave its console in $out/console.log.
boot() {
	timeout 600 qemu-system-x86_64 -accel tcg -cpu max -m 1G -nographic -no-reboot -kernel "$out/arch/x86/boot/bzImage" \
		-initrd "$out/initrd.gz" -append 'console=ttyS0 noapic panic=-1 loglevel=7' < /dev/null > "$out/console.log" 2>&1 || true
	tr -d '\r' < "$out/console.log" | sed -n 's/^.*RESULT //p' > "$out/results"
	grep -q '^end$' "$out/results" || die "the guest has not come to its end: $(tail -n 20 "$out/console.log")"
}

# has PATTERN: check for a line of the results.
has() {
	if grep -qE "^$1\$" "$out/results"; then
		pass "$series: $(grep -m 1 -E "^$1\$" "$out/results")"
	else
		fail "$series: no result '$1'"
	fi
}

sum() { sha256sum < "$1" | cut -d ' ' -f 1; }

# configure: make the configuration of the test in $out.
configure() {
	mkdir -p "$out"
	make -s -C "$src" ARCH=x86_64 O="$out" PAHOLE="$btflite" CC="$cc" KCONFIG_ALLCONFIG="$here/scripts/kernel-test/config" allnoconfig
	grep '^CONFIG' scripts/kernel-test/config | while read -r line; do
		grep -qx "$line" "$out/.config" || die "$series: the configuration has not taken $line"
	done
}

# inlined: build the module of inlined functions against vmlinux with our BTF, and
# make kprobe events of what its BTF says of them.
inlined() {
	rm -rf "$mod"
	cp -r scripts/kernel-test/inlined "$mod"
	build "$btflite" M="$mod" modules
	"$btflite" -J --btf_features=default --btf_base="$out/btflite/vmlinux" \
		--btf_encode_detached="$mod/main.btf" --inline="$mod/inline.btf" "$mod/inlined.ko" || die "$series: inlined.ko: no BTF"
	"$btflite" inline --json --btf_base="$out/btflite/vmlinux" --btf_base="$mod/main.btf" --elf="$mod/inlined.ko" \
		site_{constant,negative,register,pointee,sum,spilled,pair,outer,inner} "$mod/inline.btf" > "$mod/sites.json" || die "$series: inlined.ko: no sites"
	awk -v MODULE=inlined -f scripts/kernel-test/inlined/events.awk "$mod/sites.json" > "$mod/events"
}

# read_right: check what the kprobes on inlined functions have read.
read_right() {
	local n
	for n in 100 30064771072; do # more than 32 bits
		has "site $n site_constant: .* constant=0x1234567"
		has "site $n site_negative: .* negative=0xfffb"
		has "$(printf 'site %d site_register: .* reg=0x%x' "$n" $((n + 1)))"
		has "$(printf 'site %d site_pointee: .* pointee=0x%x' "$n" $((n + 2)))"
		has "$(printf 'site %d site_sum: .* sum_reg=0x[0-9a-f]+ sum_add=0xc at_sum=0x%x' "$n" $(((n + 3) & 0xffffffff)))"
		has "$(printf 'site %d site_spilled: .* spilled=0x%x' "$n" $((n + 4)))"
		has "$(printf 'site %d site_pair: .* pair_0=0x%x pair_1=0x%x' "$n" $((n + 5)) $((n + 6)))"
		has "$(printf 'site %d site_outer: .* outer=0x%x' "$n" $((n + 6)))"
		has "$(printf 'site %d site_inner: .* inner_reg=0x%x inner_add=0x1 .*' "$n" $((n + 6)))"
	done
}

# against_pahole: link again with pahole 1.32, and compare.
against_pahole() {
	say "$series: linking again with PAHOLE=$pahole"
	unlink_kernel
	recorder
	build "$out/recorder" vmlinux modules
	objcopy --dump-section ".BTF=$out/pahole.btf" "$out/vmlinux" /dev/null
	if grep -qx -e --btf_features=layout "$out"/recorded/*/options; then
		[ "$(od -An -j4 -N1 -tu1 "$out/btflite/vmlinux.BTF" | tr -d ' ')" = 32 ] || fail "$series: the build asks for layout, and there is none"
		"$btflite" dump "$out/btflite/vmlinux.BTF" > "$out/btflite.txt"
		"$btflite" dump "$out/pahole.btf" > "$out/pahole.txt"
		same "$out/btflite.txt" "$out/pahole.txt" "the text of the section .BTF of vmlinux"
	else
		same "$out/btflite/vmlinux.BTF" "$out/pahole.btf" "the section .BTF of vmlinux"
	fi
	[ "$(find "$out/recorded" -name input | wc -l)" -ge 2 ] || fail "$series: the build has not called pahole for vmlinux and module"
	replay
}

# against_dwarf: compile everything with gcc alone, as a run without RECORDS does and
# may have done, and compare.
against_dwarf() {
	local records=$out file name cc=gcc
	out=$work/build-$series
	say "$series: building with DWARF"
	configure
	unlink_kernel
	build "$btflite" vmlinux modules
	save btflite
	for file in vmlinux $(modules); do
		name=${file##*/}
		if cmp -s "$records/btflite/$name.BTF" "$out/btflite/$name.BTF"; then
			pass "$series: the BTF of $name is the same as from DWARF, $(wc -c < "$out/btflite/$name.BTF") bytes"
		else
			fail "$series: the BTF of $name differs from that from DWARF"
		fi
		pass "$series: $name has $(stat -c %s "$records/$file") bytes, $(stat -c %s "$out/$file") with DWARF"
	done
	pass "$series: vmlinux.o has $(stat -c %s "$records/vmlinux.o") bytes, $(stat -c %s "$out/vmlinux.o") with DWARF"
	out=$records
}

run() {
	series=$1 out=$work/build-$1${RECORDS:+-records} mod=$work/inlined-$1${RECORDS:+-records}
	linux_source "$work" "$series"
	say "$series: building with CC=\"$cc\" PAHOLE=$btflite"
	configure
	unlink_kernel
	build "$btflite" vmlinux bzImage modules
	save btflite
	if [ -n "${RECORDS:-}" ]; then
		against_dwarf
	else
		inlined # unit records say nothing of inlined functions
		against_pahole
	fi
	say "$series: booting"
	guest
	boot
	has "release .*"
	has "vmlinux $(sum "$out/btflite/vmlinux.BTF")  -"
	has "vmlinux-types $("$corpus/bin/bpftool" btf dump file "$out/btflite/vmlinux" | grep -c '^\[')"
	has "insmod overlay"
	has "module overlay $(sum "$out/btflite/overlay.ko.BTF")  -"
	has "module-types overlay [1-9][0-9]*"
	has "count: kernel 14 module 7 name bytes [1-9][0-9]*" # an overlay asks the file system below
	[ ! -e "$mod/events" ] || read_right
	if grep -iE '^log .*(btf.*(fail|invalid|mismatch|error|unsupported)|failed to validate)' "$out/results"; then
		fail "$series: the kernel complains about BTF"
	else
		pass "$series: no complaint about BTF in the log"
	fi
}

[ -x "$btflite" ] || die "no $btflite: run make build first"
mkdir -p "$work"
scripts/kernels.sh pahole
pahole=$(realpath "$corpus/bin/pahole")
[ $# -gt 0 ] || set -- 7.2 6.1
for series in "$@"; do
	run "$series"
done
[ "$failures" = 0 ] || die "$failures checks have failed"
say "all checks have passed"
