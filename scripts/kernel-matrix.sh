#!/usr/bin/env bash
#
# Build kernels in many ways, with DWARF and with unit records, and compare their BTF
# with that of pahole 1.32.
#
#   scripts/kernel-matrix.sh [ROW...]      default: the rows that have no result yet
#   scripts/kernel-matrix.sh --list        the rows, and how each ended
#   scripts/kernel-matrix.sh --report      write docs/kernels.md from the results
#
# A row is a kernel: a source package of Debian, a compiler, a machine, and a small
# configuration (scripts/kernel-matrix). It is compiled once, with DWARF. A copy has its objects
# converted to unit records and is linked again (scripts/records-convert.sh). The BTF of vmlinux and
# of the modules must be the same bytes in three ways - pahole from DWARF, btflite from DWARF, btflite from
# records - with three sets of features: none, those of kernel builds, and all that both
# programs have. "cc" in the column "how" also compiles the row with CC="btflite cc ...". "boot" starts
# the kernel with records under qemu, in software, with test/guest as its only process:
# /sys/kernel/btf must hold what was built, the kernel must take the modules, and its log must
# have no complaint about BTF. "trace" attaches BPF programs to functions, too. "around" rows
# do what people do around a build, and have a function of that name in around.sh.
#
# The results are in $BTFLITE_KERNEL_MATRIX, or else btflite-kernel-matrix in the user's cache
# folder, with the sources: 7 GB. The folder of the row in work takes up to 3 GB; KEEP=1 keeps
# those of the last one. Needs packages: scripts/kernel-matrix.sh --packages prints them. ccache is used
# if it is there. JOBS=N builds with N jobs (default 2). BTFLITE=FILE tests another program
# than ./btflite. A row takes a few minutes on two idle processors.

set -euo pipefail
cd "$(dirname "$0")/.."

# name | series | compiler | machine | how | options of the configuration; -X takes X out
rows='
gcc12        | 6.1  | gcc-12   | x86_64  | boot cc       | DEBUG_INFO_DWARF5
clang        | 6.12 | clang-19 | x86_64  | boot          | DEBUG_INFO_DWARF5
gendwarfksyms| 7.2  | gcc-12   | x86_64  | cc            | DEBUG_INFO_DWARF5 MODVERSIONS GENDWARFKSYMS
split        | 6.1  | gcc-12   | x86_64  | cc            | DEBUG_INFO_DWARF5 DEBUG_INFO_SPLIT -DEBUG_INFO_BTF -DEBUG_INFO_BTF_MODULES
x86-trace    | 7.2  | gcc-12   | x86_64  | boot trace    | DEBUG_INFO_DWARF5
arm64        | 6.12 | gcc-12   | arm64   | boot trace    | DEBUG_INFO_DWARF5 -CC_OPTIMIZE_FOR_SIZE
s390x        | 6.12 | gcc-12   | s390x   | boot trace    | DEBUG_INFO_DWARF5
i386         | 6.1  | gcc-12   | i386    | boot          | DEBUG_INFO_DWARF4
arm          | 6.1  | gcc-12   | arm     | boot          | DEBUG_INFO_DWARF5
riscv64-dce  | 6.12 | gcc-12   | riscv64 | boot          | DEBUG_INFO_DWARF5 EXPERT LD_DEAD_CODE_DATA_ELIMINATION
ppc64le      | 6.1  | gcc-12   | ppc64le | boot          | DEBUG_INFO_DWARF5
mips64el     | 6.1  | gcc-12   | mips64el| boot cc       | DEBUG_INFO_DWARF4
old          | 5.10 | gcc-12   | x86_64  | boot cc       | DEBUG_INFO -DEBUG_INFO_BTF_MODULES
gcc16        | 7.2  | gcc-16   | x86_64  | cc            | DEBUG_INFO_DWARF5
zlib         | 6.12 | gcc-12   | x86_64  |               | DEBUG_INFO_DWARF5 DEBUG_INFO_COMPRESSED_ZLIB
zstd         | 6.12 | gcc-16   | x86_64  |               | DEBUG_INFO_DWARF5 DEBUG_INFO_COMPRESSED_ZSTD
reduced      | 6.1  | gcc-12   | x86_64  | cc            | DEBUG_INFO_DWARF4 DEBUG_INFO_REDUCED -DEBUG_INFO_BTF -DEBUG_INFO_BTF_MODULES
lto-thin     | 6.12 | clang-19 | x86_64  | boot cc       | DEBUG_INFO_DWARF5 LTO_CLANG_THIN
lto-full     | 7.2  | clang-19 | x86_64  |               | DEBUG_INFO_DWARF4 LTO_CLANG_FULL
autofdo      | 7.2  | clang-19 | x86_64  |               | DEBUG_INFO_DWARF5 AUTOFDO_CLANG PROPELLER_CLANG
kasan        | 6.12 | gcc-12   | x86_64  |               | DEBUG_INFO_DWARF5 KASAN KCOV
kcsan        | 6.12 | clang-19 | x86_64  |               | DEBUG_INFO_DWARF5 SMP KCSAN
randstruct   | 6.12 | clang-19 | x86_64  |               | DEBUG_INFO_DWARF5 RANDSTRUCT_FULL
modversions  | 6.1  | gcc-12   | x86_64  | cc            | DEBUG_INFO_DWARF4 MODVERSIONS
ftrace       | 6.1  | gcc-12   | x86_64  |               | DEBUG_INFO_DWARF5 FTRACE FUNCTION_TRACER DYNAMIC_FTRACE
rust         | 7.2  | clang-19 | x86_64  |               | DEBUG_INFO_DWARF5 RUST SAMPLES SAMPLES_RUST SAMPLE_RUST_MINIMAL=m
recipe       | 6.1  | gcc      | x86_64  | around        | DEBUG_INFO_DWARF5
ccache       | 6.1  | gcc-12   | x86_64  | around        | DEBUG_INFO_DWARF5
interrupted  | 6.1  | gcc-12   | x86_64  | around        | DEBUG_INFO_DWARF5
packages     | 6.1  | gcc-12   | x86_64  | around        | DEBUG_INFO_DWARF5
'

packages=(
	make gcc bc flex bison xz-utils libelf-dev libdw-dev libssl-dev kmod cpio rsync time ccache clang-19 lld-19 llvm-19
	gcc-aarch64-linux-gnu gcc-s390x-linux-gnu gcc-arm-linux-gnueabihf gcc-riscv64-linux-gnu gcc-powerpc64le-linux-gnu
	gcc-mips64el-linux-gnuabi64 qemu-system-x86 qemu-system-arm qemu-system-misc qemu-system-ppc qemu-system-mips rpm
)

# shellcheck source=scripts/debian.sh
. scripts/debian.sh
work=${BTFLITE_KERNEL_MATRIX:-${XDG_CACHE_HOME:-$HOME/.cache}/btflite-kernel-matrix}
jobs=${JOBS:-2}
btflite=$(realpath "${BTFLITE:-./btflite}")
pahole=$(realpath -m "${BTFLITE_PAHOLE:-$corpus/bin/pahole}")
mkdir -p "$work/results" "$work/logs"
# shellcheck source=scripts/kernel-matrix/build.sh
. scripts/kernel-matrix/build.sh
# shellcheck source=scripts/kernel-matrix/boot.sh
. scripts/kernel-matrix/boot.sh
# shellcheck source=scripts/kernel-matrix/around.sh
. scripts/kernel-matrix/around.sh
# shellcheck source=scripts/kernel-matrix/report.sh
. scripts/kernel-matrix/report.sh

names() { echo "$rows" | awk -F '|' 'NF > 1 { gsub(/ /, "", $1); print $1 }'; }

# row_of NAME: set $row, $series, $compiler, $machine, $how and $options.
row_of() {
	local line
	line=$(awk -F '|' -v OFS='|' -v name="$1" '{ gsub(/ *[|] */, "|") } $1 == name' <<< "$rows")
	[ -n "$line" ] || die "there is no row $1; see --list"
	IFS='|' read -r row series compiler machine how options <<< "$line"
}

# note KEY VALUE: a line of the row's result.
note() { printf '%s\t%s\n' "$1" "$2" >> "$work/results/$row.part"; }

# fault TEXT: something that should not be so. The row goes on.
fault() {
	say "$row: FAULT: $*"
	note fault "$*"
}

# stop TEXT: end the row, as it cannot go on.
stop() {
	note stopped "$*"
	die "$row: $*"
}

does() { [[ " $how " = *" $1 "* ]]; }

# run_row: everything that a row does, in a process of its own.
run_row() {
	linux_source "$work/src" "$series"
	machine_of "$machine"
	compiler_of "$compiler"
	rm -rf "$out" "$work/records" "$work/real"
	if does around; then
		"around_$row"
	else
		build_dwarf
		convert
		compare_all
		! does cc || build_real
		! does boot || boot_and_check
	fi
}

run() {
	local begin=$SECONDS status=0
	row_of "$1"
	say "$row: Linux $series, $compiler, $machine: $options"
	rm -f "$work/results/$row.part"
	# In a process of its own: "set -e" has no effect in functions whose status is asked for.
	MATRIX_ROW=$row scripts/kernel-matrix.sh > "$work/logs/$row" 2>&1 || status=$?
	[ "$status" = 0 ] || grep -q '^stopped' "$work/results/$row.part" || note stopped "$(tail -n 1 "$work/logs/$row")"
	note seconds $((SECONDS - begin))
	note program "$("$btflite" version | head -n 1)"
	mv "$work/results/$row.part" "$work/results/$row"
	say "$(state "$row") in $((SECONDS - begin)) s"
	[ -n "${KEEP:-}" ] || rm -rf "$work/o" "$work/o.dwarf" "$work/records"
}

# state ROW: how it has ended, in a line.
state() {
	local file=$work/results/$1
	if [ ! -e "$file" ]; then
		echo "$1: not run"
	elif grep -qE '^(fault|stopped)' "$file"; then
		echo "$1: $(sed -nE 's/^(fault|stopped)\t/\1: /p' "$file" | paste -sd ';')"
	else
		echo "$1: as it should be"
	fi
}

[ -x "$btflite" ] || die "no $btflite: run make build first"
out=$work/o
case ${1:-} in
--list) for name in $(names); do state "$name"; done; exit ;;
--report) report > docs/kernels.md; exit ;;
--packages) echo "${packages[*]}"; exit ;;
-*) die "unknown option $1: --list, --report or --packages" ;;
esac
if [ -n "${MATRIX_ROW:-}" ]; then
	row_of "$MATRIX_ROW"
	run_row
	exit
fi
scripts/kernels.sh pahole
if [ $# = 0 ]; then
	for name in $(names); do
		[ -e "$work/results/$name" ] || set -- "$@" "$name"
	done
fi
for name; do
	run "$name"
done
! for name; do state "$name"; done | grep -E ': (fault|stopped)' || die "not all rows are as they should be"
