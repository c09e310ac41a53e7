#!/usr/bin/env bash
#
# package-check.sh [FOLDER] [KIND...]
#
# Install the packages of a release (FOLDER, or build/release) where nothing else is, and use them:
# encode a kernel, read a manual page, complete an option, and take the place of pahole.
#
#   archive  the .tar.gz, unpacked over /usr/local in an empty root
#   deb      a bare Debian (debootstrap): the commands of README.md, then dpkg, and lintian over the packages
#   rpm      rpm in a scratch root
#   arch     pacman in a scratch root
#   apk      unpacked into an empty root: apk itself is not in Debian
#   container  the image of contrib/container by buildah, and its program in another image
#   kernel   scripts/kernel-test.sh with the installed packages as pahole: takes half an hour
#
# Without KIND all of them but kernel. It needs root, and Debian's packages debootstrap, lintian, rpm,
# buildah, crun, busybox-static, pacman-package-manager, man-db and bash-completion; a kind whose tools are
# missing is left out, and the last line says so. The kernel is v612-amd64 of scripts/kernels.sh, or else
# the small program of the repository. Nothing is changed outside of a temporary folder, but kernel
# keeps the folder of kernel-test.sh. SERIES="7.2 6.1" are the series of Linux that kernel builds.

set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/debian.sh
. scripts/debian.sh

release=build/release
[ ! -d "${1-}" ] || { release=$1; shift; }
release=$(realpath "$release")
[ $# -gt 0 ] || set -- archive deb rpm arch apk container
[ "$(id -u)" = 0 ] || die "this needs root, for chroot and for the tools that install packages"

kernel=$corpus/v612-amd64
[ -r "$kernel" ] || kernel=testdata/small/small
scratch=$(mktemp -d)
trap 'umount -R -q "$scratch"/*/proc || true; rm -rf --one-file-system "$scratch"' EXIT
left_out=

# file PATTERN: the one file of the release with that name.
file() {
	local found
	# shellcheck disable=SC2206 # a pattern
	found=("$release"/$1)
	[ -e "${found[0]}" ] || die "$release has no $1: make release VERSION=... writes it"
	[ ${#found[@]} = 1 ] || die "$release has several $1: remove old ones"
	echo "${found[0]}"
}

# has PROGRAM...: are the tools of a kind there?
has() {
	local program
	for program; do
		command -v "$program" > /dev/null || { left_out="$left_out $kind (no $program)"; return 1; }
	done
}

# encodes ROOT PROGRAM: encode the kernel inside of the root, check the BTF, and tell the version.
encodes() {
	cp --reflink=auto "$(realpath "$kernel")" "$1/vmlinux"
	chroot "$1" "$2" -J --btf_features=default --btf_encode_detached=/vmlinux.btf /vmlinux
	rm "$1/vmlinux"
	chroot "$1" "${2%/*}/btflite" verify /vmlinux.btf
	chroot "$1" "${2%/*}/btflite" version
}

# page FOLDER COMMAND...: the manual page of diff, as man shows it, names that command and its date.
page() {
	local folder=$1 text
	shift
	text=$(MANPAGER=cat MANWIDTH=100 LC_ALL=C "$@" man -M "$folder" btflite-diff)
	grep -q -- '--structs' <<< "$text" || die "$kind: the manual page of diff does not have its options"
	tail -n 1 <<< "$text" | grep -E 'btflite v?[0-9.]+.* [0-9]{4}-[0-9]{2}-[0-9]{2} ' || die "$kind: no version or no date at the foot of the manual page"
}

# completes SCRIPT BIN COMMAND...: bash completes "btflite diff --struc" by that script.
completes() {
	local script=$1 bin=$2 got
	shift 2
	# shellcheck disable=SC2016 # for the inner bash
	got=$("$@" bash -c '
		compopt() { :; } # it works only while bash completes
		. /usr/share/bash-completion/bash_completion
		. "$1"
		PATH=$2:$PATH
		COMP_WORDS=(btflite diff --struc) COMP_CWORD=2 COMP_LINE="btflite diff --struc" COMP_POINT=20 COMP_TYPE=9
		__start_btflite
		echo "${COMPREPLY[@]}"' bash "$script" "$bin")
	[ "${got%% *}" = --structs ] || die "$kind: --struc was completed to \"$got\""
}

# links ROOT: the command pahole is btflite, and encodes.
links() {
	[ "$(chroot "$1" /usr/bin/pahole --version)" = v1.32 ] || die "$kind: /usr/bin/pahole is not btflite"
	encodes "$1" /usr/bin/pahole
}

# block FILE LINE: print the block of code that follows the line in a document.
block() {
	awk -v line="$2" '$0 == line { found = 1 } found && /^```/ { if (inside) exit; inside = 1; next } inside' "$1"
}

# as_readme_says ROOT: run in the root what README.md says of a release, where "or:" starts another
# way, with the version of this release and as the user root, who needs no sudo.
as_readme_says() {
	local root=$1 program version commands
	program=$(file 'btflite-*-linux-amd64')
	version=${program##*/btflite-}
	version=${version%-linux-amd64}
	# Debian has 1.0.0~rc.1 for 1.0.0-rc.1, so that 1.0.0 is newer.
	commands=$(block README.md '<!-- not run: needs a release -->' |
		sed "s/1\.0\.0/$version/g; s/_$version-/_${version/-/\~}-/; s/ *# or: /\n/; s/sudo //g")
	[ "$(wc -l <<< "$commands")" = 3 ] || die "README.md has other commands for a release: $commands"
	mkdir "$root/download"
	cp "$program" "$(file 'btflite_*_amd64.deb')" "$release/SHA256SUMS" "$root/download/"
	chroot "$root" sh -exc "cd /download; $commands"
	encodes "$root" /usr/local/bin/btflite
	rm -r "$root/download" "$root/usr/local/bin/btflite"
}

# try_archive: the folders of a prefix.
try_archive() {
	local root=$scratch/archive
	mkdir -p "$root/usr/local"
	(cd "$release" && sha256sum --quiet --ignore-missing -c SHA256SUMS)
	tar -xzf "$(file 'btflite-*-linux-amd64.tar.gz')" -C "$root/usr/local" --strip-components=1
	encodes "$root" /usr/local/bin/btflite
	page "$root/usr/local/share/man"
	completes "$root/usr/local/share/bash-completion/completions/btflite" "$root/usr/local/bin"
}

# upgrades ROOT: the package replaces an older one, whose files go, and the link to btflite stays.
upgrades() {
	local root=$1 older=$scratch/older
	dpkg-deb -R "$(file 'btflite_*_amd64.deb')" "$older"
	sed -i 's/^Version: .*/Version: 0.9-1/' "$older/DEBIAN/control"
	touch "$older/usr/share/doc/btflite/old"
	dpkg-deb -b "$older" "$root/older.deb"
	chroot "$root" sh -exc 'dpkg -i /older.deb; [ -e /usr/share/doc/btflite/old ]; dpkg -i /btflite_*.deb; [ ! -e /usr/share/doc/btflite/old ]; dpkg -V btflite'
	links "$root"
}

# try_deb: all of it inside of a bare Debian.
try_deb() {
	local root=$scratch/debian mirror
	has debootstrap lintian || return 0
	lintian --allow-root --no-cfg --fail-on error,warning "$(file 'btflite_*_amd64.deb')" "$(file 'btflite-pahole_*_all.deb')"
	mirror=$(awk '$1 == "URIs:" { print $2; exit }' /etc/apt/sources.list.d/debian.sources)
	debootstrap --variant=minbase --include=man-db,bash-completion stable "$root" "$mirror" > "$scratch/log" || { tail "$scratch/log"; die "debootstrap failed"; }
	# bash reads the output of completions from /dev/fd.
	mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
	ln -sfn /proc/self/fd "$root/dev/fd"
	cp "$(file 'btflite_*_amd64.deb')" "$(file 'btflite-pahole_*_all.deb')" "$root/"
	as_readme_says "$root"
	encodes "$root" /usr/bin/btflite
	page /usr/share/man chroot "$root"
	completes /usr/share/bash-completion/completions/btflite /usr/bin chroot "$root"
	chroot "$root" sh -c 'dpkg -i /btflite-pahole_*.deb && update-alternatives --query pahole'
	links "$root"
	upgrades "$root"
	chroot "$root" dpkg -P btflite-pahole btflite
	[ -z "$(find "$root/etc" "$root/usr" "$root/var" -name pahole -o -name '*btflite*')" ] || die "the removed packages leave files"
	# A pahole that somebody copied there stays.
	echo '#!/bin/sh' > "$root/usr/bin/pahole"
	chroot "$root" sh -c 'dpkg -i /btflite_*.deb /btflite-pahole_*.deb; dpkg -P btflite-pahole btflite'
	[ "$(cat "$root/usr/bin/pahole")" = '#!/bin/sh' ] || die "the package replaced a pahole that is not its own"
}

# try_rpm: the scripts of a package run in the root, so the second package gets the root of a Debian,
# which has a shell and update-alternatives.
try_rpm() {
	local root=$scratch/rpm
	has rpm || return 0
	mkdir -p "$root/usr"
	rpm --root "$root" --dbpath /var/lib/rpm -i "$(file 'btflite-[0-9]*.x86_64.rpm')"
	rpm --root "$root" --dbpath /var/lib/rpm -V btflite
	encodes "$root" /usr/bin/btflite
	page "$root/usr/share/man"
	completes "$root/usr/share/bash-completion/completions/btflite" "$root/usr/bin"
	[ -d "$scratch/debian" ] || { left_out="$left_out rpm's btflite-pahole (it needs the root of deb)"; return 0; }
	root=$scratch/debian
	rm -f "$root/usr/bin/pahole"
	rpm --root "$root" --dbpath /var/lib/rpm -i --nodeps "$(file 'btflite-[0-9]*.x86_64.rpm')" "$(file 'btflite-pahole-*.rpm')"
	links "$root"
	rpm --root "$root" --dbpath /var/lib/rpm -e --nodeps btflite-pahole
	[ ! -L "$root/usr/bin/pahole" ] || die "the removed .rpm leaves /usr/bin/pahole"
}

try_arch() {
	local root=$scratch/arch
	has pacman || return 0
	mkdir -p "$root/var/lib/pacman" "$root/var/cache/pacman/pkg" "$root/etc"
	printf '[options]\nArchitecture = x86_64\nSigLevel = Never\nLocalFileSigLevel = Never\n' > "$root/etc/pacman.conf"
	pacman --root "$root" --config "$root/etc/pacman.conf" --cachedir "$root/var/cache/pacman/pkg" --noconfirm -U \
		"$(file 'btflite-[0-9]*-x86_64.pkg.tar.zst')" "$(file 'btflite-pahole-*.pkg.tar.zst')"
	encodes "$root" /usr/bin/btflite
	links "$root"
	page "$root/usr/share/man"
	completes "$root/usr/share/bash-completion/completions/btflite" "$root/usr/bin"
}

try_apk() {
	local root=$scratch/apk package
	mkdir -p "$root"
	for package in "$(file 'btflite_*_x86_64.apk')" "$(file 'btflite-pahole_*.apk')"; do
		tar --warning=no-unknown-keyword -xzf "$package" -C "$root"
		grep -q '^pkgname = btflite' "$root/.PKGINFO" || die "apk: $package has no .PKGINFO"
	done
	encodes "$root" /usr/bin/btflite
	links "$root"
	page "$root/usr/share/man"
	completes "$root/usr/share/bash-completion/completions/btflite" "$root/usr/bin"
}

# try_container: without a registry, and with storage of its own. The image of somebody else has a
# shell, and gets the program by the lines that contrib/container/README.md has for that.
try_container() {
	local context=$scratch/context image program version
	has buildah crun busybox || return 0
	in_storage() { buildah --root "$scratch/storage" --runroot "$scratch/running" --storage-driver vfs "$@"; }
	in_image() { in_storage run --isolation chroot -v "$(realpath "$kernel"):/vmlinux:ro" "$image" -- "$@"; }
	mkdir "$context"
	program=$(file 'btflite-*-linux-amd64')
	version=${program##*/btflite-}
	cp "$program" "$(command -v busybox)" "$context"
	in_storage build --quiet --isolation chroot --build-arg VERSION="${version%-linux-amd64}" -f contrib/container/Containerfile -t btflite "$context"
	{
		printf 'FROM scratch\nCOPY busybox /bin/sh\nCOPY busybox /bin/ln\n'
		block contrib/container/README.md '```dockerfile'
	} > "$context/other"
	in_storage build --quiet --isolation chroot -f "$context/other" -t other "$context"
	image=$(in_storage from btflite)
	in_image /usr/bin/btflite -J --btf_features=default --btf_encode_detached=/vmlinux.btf /vmlinux
	in_image /usr/bin/btflite verify /vmlinux.btf
	[ "$(in_storage inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' btflite)" = '[/usr/bin/btflite]' ] || die "the image does not start btflite"
	image=$(in_storage from other)
	[ "$(in_image /usr/bin/pahole --version)" = v1.32 ] || die "/usr/bin/pahole of the other image is not btflite"
	in_image /usr/bin/pahole -J --btf_features=default --btf_encode_detached=/vmlinux.btf /vmlinux
	in_image /usr/bin/btflite verify /vmlinux.btf
}

# try_kernel: the packages are installed over this system, but in layers that only this command sees.
try_kernel() {
	local layers=$scratch/layers
	has dpkg unshare update-alternatives || return 0
	mkdir "$layers"
	# shellcheck disable=SC2016 # for the inner bash
	unshare -m bash -euo pipefail -c '
		for folder in usr etc var; do
			mkdir "$1/$folder" "$1/$folder.work"
			mount -t overlay -o "lowerdir=/$folder,upperdir=$1/$folder,workdir=$1/$folder.work" overlay "/$folder"
		done
		dpkg -i "${@:2}"
		update-alternatives --query pahole
		[ "$(realpath "$(command -v pahole)")" = /usr/bin/btflite ]
		# shellcheck disable=SC2086 # a list
		BTFLITE=/usr/bin/pahole scripts/kernel-test.sh ${SERIES-}
	' bash "$layers" "$(file 'btflite_*_amd64.deb')" "$(file 'btflite-pahole_*_all.deb')"
}

for kind; do
	echo "== $kind"
	"try_$kind"
done
say "installed and used: $*${left_out:+; left out:$left_out}"
