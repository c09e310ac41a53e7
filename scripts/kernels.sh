#!/usr/bin/env bash
#
# Fetch real kernels with debug information, and the pahole to compare with,
# from Debian packages.
#
#   scripts/kernels.sh [NAME...]        default: pahole v72-amd64
#
#   pahole      pahole 1.32, pfunct and bpftool from sid, with the libraries they need
#   v612-amd64  kernel 6.12 of bookworm-security
#   v72-amd64   the kernel of sid (7.2 when this was written), with Rust units
#   v72-arm64   the same, cloud flavour, AArch64
#   v72-s390x   the same, big-endian
#   v72-armmp   the same, 32-bit
#   all         all of the above
#   machines    kernels of more machines and releases, each with the modules in some-modules
#               whose names begin with q or z; also one by one: see machines below
#   modules:NAME  the modules of kernel NAME, in modules/NAME (6 GB for v612-amd64)
#   some-modules:NAME  six of them, in some-modules/NAME (0.2 GB); with a kernel
#               for amd64 they come by themselves
#   shipped-modules:NAME  fifty modules as they are installed, without DWARF, whose BTF is
#               split over that of kernel NAME, in shipped-modules/NAME (10 MB); v72-armmp has no BTF
#
# The result is a folder, $BTFLITE_CORPUS or else btflite-corpus in the user's
# cache folder: NAME is a link to the vmlinux of that name, bin/pahole, bin/pfunct
# and bin/bpftool run the packaged programs with their own loader and libraries.
# What is there already is kept. A kernel takes about 1 GB of download, which
# is deleted afterwards, and 0.4 to 0.6 GB in the folder.
#
# Packages come from the mirror that this machine's apt uses (debian.sh).

set -euo pipefail

# shellcheck source=scripts/debian.sh
. "$(dirname "$0")/debian.sh"

# launcher PROGRAM NAME: write bin/NAME, which runs PROGRAM of the unpacked
# packages. The folder may be moved: paths are relative to the launcher.
launcher() {
	local program=$1 name=$2 loader dir
	loader=$(cd "$corpus/sid" && find usr/lib -name 'ld-linux*.so*' | head -n 1)
	dir=$(cd "$corpus/sid" && dirname "$(find usr/lib -name libc.so.6 | head -n 1)")
	[ -n "$loader" ] || die "no loader in the C library package"
	mkdir -p "$corpus/bin"
	cat > "$corpus/bin/$name" <<-END
		#!/bin/sh
		sid=\${0%/*}/../sid
		exec "\$sid/$loader" --library-path "\$sid/$dir" "\$sid/$program" "\$@"
	END
	chmod +x "$corpus/bin/$name"
}

get_pahole() {
	local state=$corpus/apt/sid-$host_arch deb version
	if [ -x "$corpus/bin/pahole" ] && [ -x "$corpus/bin/bpftool" ]; then
		[ -x "$corpus/bin/pfunct" ] || launcher usr/bin/pfunct pfunct
		say "pahole: there already, $("$corpus/bin/pahole" --version)"
		return
	fi
	refresh sid "$host_arch"
	say "fetching pahole, bpftool and their libraries"
	apt_at sid "$host_arch" apt-get -qq -y --no-install-recommends --download-only \
		install pahole bpftool > /dev/null || die "cannot fetch pahole"
	for deb in "$state"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$corpus/sid"
		rm "$deb"
	done
	launcher usr/bin/pahole pahole
	launcher usr/sbin/bpftool bpftool
	launcher usr/bin/pfunct pfunct
	version=$("$corpus/bin/pahole" --version)
	say "pahole: $version"
	[ "$version" = v1.32 ] || say "warning: btflite follows v1.32; output may differ from $version's" >&2
}

# The modules of some-modules: a tiny one, small ones, large ones.
some=(crc16 veth overlay ext4 xfs btrfs)

# keep_some NAME FOLDER ln|mv: some-modules/NAME from a folder of modules.
keep_some() {
	local to=$corpus/some-modules/$1 module file
	local -a how=(mv) files=()
	[ "$3" = mv ] || how=(ln -s)
	if [ -n "${machines[$1]-}" ]; then
		mapfile -t files < <(find "$2/" -name '[qz]*.ko' -type f)
	else
		for module in "${some[@]}"; do
			file=$(find "$2/" -name "$module.ko" -type f | head -n 1)
			[ -n "$file" ] || die "$1: no module $module"
			files+=("$file")
		done
	fi
	rm -rf "$to.part"
	mkdir -p "$to.part"
	"${how[@]}" -t "$to.part" "${files[@]}"
	rm -rf "$to"
	mv "$to.part" "$to"
	say "$1: ${#files[@]} modules in some-modules/$1"
}

# The kernels: suite, architecture, and the meta package of the debug package.
declare -A kernels=(
	[v612-amd64]="bookworm-security amd64 linux-image-6.12-amd64-dbg"
	[v72-amd64]="sid amd64 linux-image-amd64-dbg"
	[v72-arm64]="sid arm64 linux-image-cloud-arm64-dbg"
	[v72-s390x]="sid s390x linux-image-s390x-dbg"
	[v72-armmp]="sid armhf linux-image-armmp-dbg"
)
declare -A machines=(
	[v72-ppc64el]="sid ppc64el linux-image-powerpc64le-dbg"
	[v72-riscv64]="sid riscv64 linux-image-riscv64-dbg"
	[v72-loong64]="sid loong64 linux-image-loong64-dbg"
	[v612-arm64]="trixie arm64 linux-image-arm64-dbg"
	[v61-amd64]="bookworm-security amd64 linux-image-amd64-dbg"
	[v61-i386]="bookworm i386 linux-image-686-pae-dbg"
	[v61-armel]="bookworm armel linux-image-rpi-dbg"
	[v61-mips64el]="bookworm mips64el linux-image-loongson-3-dbg"
	[v61-mipsel]="bookworm mipsel linux-image-4kc-malta-dbg"
	[v510-amd64]="bullseye-security amd64 linux-image-amd64-dbg"
)

# get_kernel NAME SUITE ARCH PACKAGE: the vmlinux of the debug package that the
# meta package PACKAGE stands for today, with some modules, or what want says of it:
# modules or some-modules.
want=
get_kernel() {
	local name=$1 suite=$2 arch=$3 meta=$4 package deb dir vmlinux module
	local -a patterns=()
	if [ -e "$corpus/${want:+$want/}$name" ]; then
		say "$name: ${want:+$want }there already"
		return
	fi
	if [ "$want" = some-modules ] && [ -d "$corpus/modules/$name" ]; then
		keep_some "$name" "$corpus/modules/$name" ln
		return
	fi
	refresh "$suite" "$arch"
	package=$(apt_at "$suite" "$arch" apt-cache depends "$meta" |
		awk '$1 == "Depends:" && /-dbg$/ { print $2; exit }')
	[ -n "$package" ] || die "$name: no $meta in $suite for $arch"
	say "$name: fetching $package"
	dir=$corpus/dl/$name
	rm -rf "$dir"
	mkdir -p "$dir"
	(cd "$dir" && apt_at "$suite" "$arch" apt-get -qq download "$package") || die "$name: cannot fetch $package"
	deb=$(find "$dir" -name '*.deb' | head -n 1)
	[ -n "$deb" ] || die "$name: $package was not fetched"
	if [ -n "${machines[$name]-}" ]; then
		patterns+=('usr/lib/debug/lib/modules/*/kernel/*/[qz]*.ko')
	else
		for module in "${some[@]}"; do
			patterns+=("usr/lib/debug/lib/modules/*/$module.ko")
		done
	fi
	if [ "$want" = some-modules ]; then
		mkdir -p "$dir/x"
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir/x" -xf - --wildcards --wildcards-match-slash \
			--no-anchored "${patterns[@]}" ||
			die "$name: cannot unpack the modules of $package"
		keep_some "$name" "$dir/x" mv
		rm -rf "$dir"
		return
	fi
	if [ "$want" = modules ]; then
		[ "$(readlink "$corpus/$name")" = "k/$name-$package" ] ||
			say "warning: the modules of $package do not belong to the $name that is there" >&2
		mkdir -p "$corpus/modules" "$dir/x"
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir/x" -xf - --wildcards --wildcards-match-slash \
			--no-anchored 'usr/lib/debug/lib/modules/*/kernel/*.ko' || die "$name: cannot unpack the modules of $package"
		mv "$dir"/x/usr/lib/debug/lib/modules/*/kernel "$corpus/modules/$name"
		rm -rf "$dir"
		say "$name: $(find "$corpus/modules/$name" -name '*.ko' | wc -l) modules of $package"
		return
	fi
	# Old packages hold boot/vmlinux-VERSION, new ones lib/modules/VERSION/vmlinux.
	mkdir -p "$dir/x"
	dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir/x" -xf - --wildcards --wildcards-match-slash \
		--no-anchored 'usr/lib/debug/boot/vmlinux-*' 'usr/lib/debug/lib/modules/*/vmlinux' "${patterns[@]}" 2> "$dir/tar.log" || true
	vmlinux=$(find "$dir/x" -name 'vmlinux*' -type f -size +50M | head -n 1)
	[ -n "$vmlinux" ] || die "$name: no vmlinux in $package: $(cat "$dir/tar.log")"
	mkdir -p "$corpus/k"
	mv "$vmlinux" "$corpus/k/$name.part"
	mv "$corpus/k/$name.part" "$corpus/k/$name-$package"
	ln -sfn "k/$name-$package" "$corpus/$name"
	if [ -n "${machines[$name]-}" ] || [ "$arch" = amd64 ]; then
		keep_some "$name" "$dir/x" mv
	fi
	rm -rf "$dir"
	say "$name: $package, $(du -Lh "$corpus/$name" | cut -f 1)"
}

# get_shipped NAME SUITE ARCH: some modules of the package that belongs to the debug package
# that NAME is from.
shipped=50
get_shipped() {
	local name=$1 suite=$2 arch=$3 to=$corpus/shipped-modules/$1 dir=$corpus/dl/$1-shipped version package module
	local -a all
	if [ -d "$to" ]; then
		say "$name: shipped-modules there already"
		return
	fi
	version=$(readlink "$corpus/$name") || die "$name: shipped modules need the kernel itself: $name"
	version=${version#"k/$name-linux-image-"}
	version=${version%-dbg}
	refresh "$suite" "$arch"
	rm -rf "$dir"
	mkdir -p "$dir/x" "$dir/modules"
	# Old packages of images have the modules, of new ones packages of their own.
	for package in "linux-modules-$version" "linux-image-$version"; do
		(cd "$dir" && apt_at "$suite" "$arch" apt-get -qq download "$package" 2> /dev/null) && break
	done
	dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -C "$dir/x" -xf - --wildcards --no-anchored '*.ko' '*.ko.xz' 2> /dev/null || true
	mapfile -t all < <(cd "$dir/x" && find . -name '*.ko*' -type f | LC_ALL=C sort)
	[ "${#all[@]}" -ge "$shipped" ] || die "$name: $package has ${#all[@]} modules"
	for ((i = 0; i < shipped; i++)); do
		module=${all[i * ${#all[@]} / shipped]}
		case $module in
		*.xz) xz -dc "$dir/x/$module" > "$dir/modules/$(basename "$module" .xz)" ;;
		*) mv "$dir/x/$module" "$dir/modules/" ;;
		esac
	done
	mkdir -p "$corpus/shipped-modules"
	mv "$dir/modules" "$to"
	rm -rf "$dir"
	say "$name: $shipped modules of $package"
}

names() { printf '%s\n' "$@" | LC_ALL=C sort | paste -sd ' '; }

get() {
	case $1 in
	pahole) get_pahole ;;
	modules:*) want=modules get "${1#modules:}" ;;
	some-modules:*) want=some-modules get "${1#some-modules:}" ;;
	shipped-modules:v612-amd64 | shipped-modules:v72-amd64 | shipped-modules:v72-arm64 | shipped-modules:v72-s390x)
		# shellcheck disable=SC2086 # three words
		get_shipped "${1#*:}" ${kernels[${1#*:}]}
		;;
	all) for name in pahole $(names "${!kernels[@]}"); do get "$name"; done ;;
	machines) for name in $(names "${!machines[@]}"); do get "$name"; done ;;
	*)
		[ -n "${kernels[$1]-}${machines[$1]-}" ] || die "unknown name $1: pahole, all, machines, $(names "${!kernels[@]}" "${!machines[@]}")"
		# shellcheck disable=SC2086 # three words
		get_kernel "$1" ${kernels[$1]-}${machines[$1]-}
		;;
	esac
}

mkdir -p "$corpus"
[ $# -gt 0 ] || set -- pahole v72-amd64
for name in "$@"; do
	get "$name"
done
say "in $corpus: $(cd "$corpus" && ls -d bin/pahole v*-* 2>/dev/null | tr '\n' ' ')"
