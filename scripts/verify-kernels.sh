#!/usr/bin/env bash
#
# Compare the verdicts of "btflite verify --kernel" with those of real kernels.
#
#   scripts/verify-kernels.sh [SERIES...]      default: 5.10 6.1 6.12 7.2
#
# For each series the cloud kernel of Debian is fetched (5.10 of bullseye, 6.1 of
# bookworm, 6.12 of bookworm-security, 7.2 of sid, or what sid has by then) and
# booted under qemu, in software, with test/btfload as its only process. It loads
#
#   - the examples of btf/verify/releasetest: one thing in each that some release did
#     not take yet;
#   - BTF of real kernels, those that are in the folder of scripts/kernels.sh,
#     and small BTF of the repository;
#
# and runs the tests of package verify that ask the kernel: thousands of random and
# of damaged blobs. The verdict on each must be that of btflite.
#
# Needs packages: qemu-system-x86 cpio. BTFLITE=FILE tests another program than
# ./btflite. The folder is $BTFLITE_VERIFY_KERNELS or else btflite-verify-kernels
# in the user's cache folder; it takes 200 MB and is kept for the next run. A
# kernel takes about two minutes.

set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

work=${BTFLITE_VERIFY_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/btflite-verify-kernels}
btflite=$(realpath "${BTFLITE:-./btflite}")
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

suite_of() {
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo bookworm-security ;;
	7.*) echo sid ;;
	*) die "no suite is known for Linux $1" ;;
	esac
}

# image SERIES: fetch the kernel, set $vmlinuz. Newer packages have the program in
# linux-binary, older ones in linux-image.
image() {
	local series=$1 suite package
	vmlinuz=$work/vmlinuz-$series
	[ -s "$vmlinuz" ] && return
	suite=$(suite_of "$series")
	refresh "$suite" amd64
	package=$(apt_at "$suite" amd64 apt-cache pkgnames "linux-binary-$series." | grep -E 'cloud-amd64$' | sort -V | tail -n 1)
	[ -n "$package" ] ||
		package=$(apt_at "$suite" amd64 apt-cache pkgnames "linux-image-$series." | grep -E '[0-9b.+]-cloud-amd64$' | sort -V | tail -n 1)
	[ -n "$package" ] || die "no kernel $series in $suite"
	say "$series: fetching $package"
	rm -rf "$work/unpack"
	mkdir -p "$work/unpack"
	(cd "$work/unpack" && apt_at "$suite" amd64 apt-get -qq download "$package") || die "cannot fetch $package"
	dpkg-deb -x "$work"/unpack/*.deb "$work/unpack/x"
	mv "$(find "$work/unpack/x" -name 'vmlinuz*' -type f | head -n 1)" "$vmlinuz"
	rm -rf "$work/unpack"
}

# guest: write the initial RAM disk.
guest() {
	local root=$work/guest name kernel
	rm -rf "$root"
	mkdir -p "$root/btf" "$root/src/btf/verify" "$root/src/encode/testdata" "$root/src/dedup/testdata" "$root/src/testdata"
	CGO_ENABLED=0 go build -trimpath -o "$root/init" ./test/btfload
	CGO_ENABLED=0 go test -c -trimpath -o "$root/src/btf/verify/verify.test" ./btf/verify
	cp -r encode/testdata/golden "$root/src/encode/testdata/"
	cp -r dedup/testdata/vectors "$root/src/dedup/testdata/"
	cp -r testdata/small "$root/src/testdata/"
	go run ./test/btfload -write="$root/btf"
	cp testdata/small/small.btf "$root/btf/"
	for name in v612-amd64 v72-amd64 v72-arm64; do
		kernel=$corpus/$name
		[ -e "$kernel" ] || continue
		"$btflite" -J --btf_features=default --btf_encode_detached="$root/btf/$name-default.btf" "$kernel"
		"$btflite" -J --lang_exclude=rust --btf_features=var,float,decl_tag,type_tag --btf_encode_detached="$root/btf/$name-no-enum64.btf" "$kernel"
		"$btflite" -J --lang_exclude=rust --btf_features=var --btf_encode_detached="$root/btf/$name-var.btf" "$kernel"
	done
	(cd "$root" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$work/initrd.gz"
}

# boot SERIES: run the guest, leave its results in $work/results-SERIES.
boot() {
	local series=$1 console=$work/console-$1.log
	timeout 900 nice qemu-system-x86_64 -accel tcg -cpu max -m 1536M -nographic -no-reboot -kernel "$vmlinuz" \
		-initrd "$work/initrd.gz" -append 'console=ttyS0 noapic panic=-1 loglevel=3 mitigations=off' \
		< /dev/null > "$console" 2>&1 || true
	tr -d '\r' < "$console" | sed -n 's/^.*RESULT //p' > "$work/results-$series"
	grep -q '^end$' "$work/results-$series" || die "$series: the guest has not come to its end: $(tail -n 20 "$console")"
}

# compare SERIES: each verdict of the guest with that of btflite.
compare() {
	local series=$1 results=$work/results-$1 release word name n=0 refused=0 status ours
	# Debian's releases end in .0; the version has the patch level.
	release=$(sed -n 's/^version .* Debian \([0-9.]*\)-.*/\1/p' "$results")
	[ -n "$release" ] || release=$(sed -n 's/^release //p' "$results")
	while read -r word name; do
		name=${name%%: *}
		status=0
		ours=$("$btflite" verify --kernel="$release" "$work/guest/btf/$name" 2>&1) || status=$?
		n=$((n + 1))
		[ "$word" = ok ] || refused=$((refused + 1))
		case $word$status in
		ok0 | refused1) ;;
		*) fail "$series: $name: the kernel says $(grep -m 1 -F "$word $name" "$results"); btflite: $ours" ;;
		esac
	done < <(grep -E '^(ok|refused) ' "$results")
	[ $((n - refused)) -ge 10 ] && [ "$refused" -ge 1 ] || fail "$series: only $n files were judged, $refused of them refused"
	! grep '^error' "$results" || fail "$series: files were not judged"
	if grep -q '^tests passed$' "$results"; then
		echo "ok   $series: $release: $n files, $refused refused by both; tests: $(grep -c '^test --- PASS' "$results") passed"
		! grep '^test --- SKIP' "$results" || fail "$series: tests were skipped"
	else
		grep -E '^test(s failed|.*_test.go)' "$results" | head -n 20
		fail "$series: tests of package verify that ask the kernel"
	fi
}

[ -x "$btflite" ] || die "no $btflite: run make build first"
mkdir -p "$work"
guest
[ $# -gt 0 ] || set -- 5.10 6.1 6.12 7.2
for series in "$@"; do
	image "$series"
	boot "$series"
	compare "$series"
done
[ "$failures" = 0 ] || die "$failures verdicts differ"
say "all verdicts are the same"
