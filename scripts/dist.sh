#!/usr/bin/env bash
#
# dist.sh [FOLDER]  write btflite-VERSION.tar.gz into FOLDER, or into build/dist with
#                   a .sha256 file: the source of HEAD and of all modules that it
#                   needs, to build and test without a network. The same commit gives
#                   the same bytes. VERSION is the variable of that name, or the tag.
# dist.sh check     build, test and install such an archive where there is no
#                   network, no module cache and no git checkout. Needs root, or
#                   user namespaces, for unshare.

set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/reproducible.sh
. scripts/reproducible.sh

fail() {
	echo "dist.sh: $*" >&2
	exit 1
}

# dist DIR: make the archive in DIR and print its path.
dist() {
	local dir=$1 version name tree time
	version=$(scripts/version.sh)
	[ -n "$version" ] || fail "an archive is made of a git checkout, and this is none"
	[ "${version%-dirty}" = "$version" ] || echo "dist.sh: changes that are not committed are left out" >&2
	version=${VERSION:+v}${VERSION:-${version%-dirty}}
	name=btflite-${version#v}
	time=$(git log -1 --format=%ct)
	tree=$(mktemp -d)
	git archive --prefix="$name/" HEAD | tar -x -C "$tree"
	[ -z "${VERSION:-}" ] || sed -i "1s/.*/$version/" "$tree/$name/cmd/btflite/version.txt"
	(cd "$tree/$name" && GOFLAGS='' GOWORK=off go mod vendor)
	mkdir -p "$dir"
	tarball "$tree" "$name" "$time" "$dir/$name.tar.gz"
	rm -rf "$tree"
	echo "$dir/$name.tar.gz"
}

# offline COMMAND...: run it without a network.
offline() {
	local unshare=(unshare -n)
	[ "$(id -u)" = 0 ] || unshare=(unshare -rn)
	"${unshare[@]}" true || fail "the check needs unshare -n, to be root or user namespaces"
	"${unshare[@]}" sh -c '
		if grep -v "^ *lo:" /proc/self/net/dev | grep -q :; then echo "there is a network" >&2; exit 1; fi
		exec "$@"' sh "$@"
}

check() {
	work=$(mktemp -d)
	trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
	local archive again name version
	archive=$(dist "$work/one")
	again=$(umask 077 && dist "$work/two")
	cmp "$archive" "$again" || fail "the same commit gave two archives"
	name=$(basename "$archive" .tar.gz)
	version=v${name#btflite-}
	tar -xzf "$archive" -C "$work"
	cd "$work/$name"
	# A stranger's environment: nothing but a path, and caches that are empty.
	local env=(env -i PATH="$PATH" HOME="$work" GOMODCACHE="$work/modules" GOCACHE="$work/cache" GOFLAGS=-mod=vendor
		GOPROXY=off GOTOOLCHAIN=local)
	offline "${env[@]}" make
	offline "${env[@]}" make test
	offline "${env[@]}" make install DESTDIR="$work/root" PREFIX=/usr
	"$work/root/usr/bin/btflite" version
	"$work/root/usr/bin/btflite" version | grep -qF "btflite $version, commit " || fail "it does not say that it is $version"
	echo "dist.sh: $name.tar.gz builds, passes its tests and is installed without a network"
}

case ${1-} in
'')
	archive=$(dist build/dist)
	(cd build/dist && sha256sum "${archive##*/}" | tee "${archive##*/}.sha256")
	;;
check) check ;;
-*) fail "usage: scripts/dist.sh [FOLDER | check]" ;;
*) dist "$1" ;;
esac
