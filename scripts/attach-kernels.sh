#!/usr/bin/env bash
#
# Compare what "btflite why" advises to attach to with what real kernels accept.
#
#   scripts/attach-kernels.sh [NAME...]      default: v612-amd64 v72-amd64
#
# NAME is a kernel of scripts/kernels.sh, with its some-modules. The package that has the
# same kernel to boot is fetched, and booted under qemu, in software, with test/attach as
# its only process. Functions are drawn from all that btflite encodes or leaves out:
# anywhere, among functions without a symbol of exactly their name, among functions that
# are left out, in modules, and twelve for each reason that the advice gives (NOKPROBE_SYMBOL,
# a struct by value, code that is gone, ...). For each one fentry, fexit and a kprobe of its
# name are tried, with all other kprobes of the advice. The kernel must accept what is
# advised, and refuse what is not. There must be ten functions of each kind at least.
# The script lists apart what cannot be compared: a function that btflite leaves out, and
# that the BTF in the kernel, which an older pahole wrote, has.
#
# Needs packages: qemu-system-x86 cpio jq. BTFLITE=FILE tests another program than
# ./btflite, SEED=N draws other functions, COUNT=N so many. The folder is
# $BTFLITE_ATTACH_KERNELS or else btflite-attach-kernels in the user's cache folder; it
# takes 100 MB and is kept for the next run. A kernel takes about five minutes on an idle machine.

set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

work=${BTFLITE_ATTACH_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/btflite-attach-kernels}
btflite=$(realpath "${BTFLITE:-./btflite}")
seed=${SEED:-1}
count=${COUNT:-300}
modules=(veth overlay)
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

suite_of() {
	case $1 in
	v612-*) echo bookworm-security ;;
	v72-*) echo sid ;;
	*) die "no suite is known for $1" ;;
	esac
}

# image NAME: fetch the kernel and its modules to $dir. New packages of images have
# neither.
image() {
	local name=$1 suite version package module file
	dir=$work/$name
	[ -s "$dir/vmlinuz" ] && return
	version=$(readlink "$corpus/$name") || die "no $corpus/$name: run scripts/kernels.sh $name"
	version=${version#"k/$name-linux-image-"}
	version=${version%-dbg}
	suite=$(suite_of "$name")
	refresh "$suite" amd64
	rm -rf "$dir"
	mkdir -p "$dir/x"
	for package in "linux-image-$version" "linux-binary-$version" "linux-modules-$version"; do
		say "$name: fetching $package"
		(cd "$dir" && apt_at "$suite" amd64 apt-get -qq download "$package" 2> /dev/null) || continue
		dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -C "$dir/x" -xf -
		rm "$dir"/*.deb
	done
	for module in "${modules[@]}"; do
		file=$(find "$dir/x" -name "$module.ko*" -type f | head -n 1)
		case $file in
		*.xz) xz -dc "$file" > "$dir/$module.ko" ;;
		?*) cp "$file" "$dir/$module.ko" ;;
		*) die "$name: no module $module in the packages" ;;
		esac
	done
	file=$(find "$dir/x" -name 'vmlinuz*' -type f | head -n 1)
	[ -n "$file" ] || die "$name: no kernel in the packages"
	mv "$file" "$dir/vmlinuz"
	rm -rf "$dir/x"
}

# draw N: so many of the lines of the input.
draw() {
	awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | LC_ALL=C sort | awk -F '\t' -v n="$1" 'NR <= n { print $2 }'
}

# choose FILE N [BASE]: names of functions of FILE.
choose() {
	local file=$1 n=$2 base=()
	[ $# -lt 3 ] || base=(--btf_base="$3")
	"$btflite" -q -J --btf_features=default --lang_exclude=rust "${base[@]}" --btf_encode_detached="$work/encoded" --report="$work/report" "$file"
	{
		"$btflite" funcs "${base[@]}" "$work/encoded" | LC_ALL=C sort | draw "$n"
		jq -r '.functions_without_own_symbol // [] | .[].name' "$work/report" | draw $((n / 5))
		jq -r '.left_out_functions[].name' "$work/report" | draw $((n / 5))
	} | sort -u
}

# why FILE < NAMES: what "btflite why" says of them.
why() {
	# shellcheck disable=SC2016 # sh expands it: the file comes behind the names
	xargs -n 4000 sh -c 'file=$0 program=$1; shift; exec "$program" why "$@" "$file"' "$1" "$btflite"
}

# reasons N: the names of N functions for each reason in the text of why.
reasons() {
	awk -v n="$1" '
		/^[^ ]/ { name = $1; sub(/:$/, "", name) }
		/^    (no |there is nothing|fentry and fexit attach)/ {
			reason = $0
			gsub(/by the name [^:]*/, "by the name", reason)
			gsub(/0x[0-9a-f]+|[0-9]+/, "N", reason)
			if (count[reason]++ < n) print name
		}
		END { for (reason in count) printf "%6d functions of the sample:%s\n", count[reason], reason > "/dev/stderr" }'
}

# guest NAME: write the initial RAM disk.
guest() {
	local name=$1 root=$work/guest module
	rm -rf "$root"
	mkdir -p "$root/modules"
	CGO_ENABLED=0 go build -trimpath -o "$root/init" ./test/attach
	choose "$corpus/$name" "$count" > "$work/names"
	"$btflite" funcs "$work/encoded" | LC_ALL=C sort | draw 8000 | why "$corpus/$name" | reasons 12 >> "$work/names"
	sort -u "$work/names" | why "$corpus/$name" > "$work/why"
	"$root/init" - < "$work/why" > "$root/lines"
	for module in "${modules[@]}"; do
		cp "$dir/$module.ko" "$root/modules/"
		choose "$corpus/some-modules/$name/$module.ko" 40 "$corpus/$name" |
			why "$corpus/some-modules/$name/$module.ko" > "$work/why"
		"$root/init" "$module" < "$work/why" >> "$root/lines"
	done
	(cd "$root" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$work/initrd.gz"
}

# boot NAME: run the guest, leave its results in $work/results-NAME.
boot() {
	local console=$work/console-$1.log
	timeout 3600 nice qemu-system-x86_64 -accel tcg -cpu max -m 1536M -nographic -no-reboot -kernel "$dir/vmlinuz" \
		-initrd "$work/initrd.gz" -append 'console=ttyS0 noapic panic=-1 loglevel=3 mitigations=off' \
		< /dev/null > "$console" 2>&1 || true
	tr -d '\r' < "$console" | sed -n 's/^.*RESULT //p' > "$work/results-$1"
	grep -q '^end$' "$work/results-$1" || die "$1: the guest has not come to its end: $(tail -n 20 "$console")"
}

# compare NAME: judge the results.
compare() {
	local results=$work/results-$1 kind n
	! grep '^error' "$results" || fail "$1: not all was tried"
	! grep '^wrong ' "$results" || fail "$1: $(grep -c '^wrong ' "$results") lines of advice are wrong"
	for kind in all entry probe other nothing; do
		n=$(awk -v kind="$kind" '{ sub(/:$/, "", $6) } $1 == "right" && $6 == kind { print $5 }' "$results" | sort -u | wc -l)
		echo "ok   $1: $(sed -n 's/^release //p' "$results"): advice of the kind $kind: $n names as the kernel has it"
		case $kind$n in
		all?|other?|nothing?) fail "$1: too few of the kind $kind" ;;
		esac
	done
	n=$(grep -c '^other ' "$results" || true)
	echo "ok   $1: $(grep -c '^right ' "$results") lines are right; $n cannot be compared: the kernel's BTF has a function that is left out here"
	[ $((n + $(grep -c '^right ' "$results"))) = "$(wc -l < "$work/guest/lines")" ] || fail "$1: not all lines are right"
}

[ -x "$btflite" ] || die "no $btflite: run make build first"
mkdir -p "$work"
[ $# -gt 0 ] || set -- v612-amd64 v72-amd64
for name in "$@"; do
	image "$name"
	guest "$name"
	boot "$name"
	compare "$name"
done
[ "$failures" = 0 ] || die "$failures checks have failed"
say "the kernels accept what is advised, and nothing else"
