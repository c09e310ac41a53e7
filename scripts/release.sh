#!/usr/bin/env bash
#
# release.sh VERSION        write into build/release what a release has: the source with all modules,
#                           a program and an archive for each system, packages for Linux, a list of
#                           the modules (SBOM), and SHA256SUMS
# release.sh check VERSION  do that twice, in different folders and with different settings of the
#                           machine, and compare the bytes
#
# All is built from the archive of the commit, so changes that are not committed are not in it, and
# whoever has the archive and the same Go gets the same programs. The tag vVERSION need not be there
# yet. These variables shorten a trial: SYSTEMS="linux/amd64" is the list of systems, PACKAGES="deb"
# the kinds of packages ("" for none), SBOM=no leaves out the list of modules. MAINTAINER and
# HOMEPAGE are fields of the packages.

set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/tools.sh
. scripts/tools.sh
# shellcheck source=scripts/reproducible.sh
. scripts/reproducible.sh

SYSTEMS=${SYSTEMS:-linux/amd64 linux/arm64 linux/arm linux/386 linux/riscv64 linux/ppc64le linux/s390x linux/loong64
	darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64}
PACKAGES=${PACKAGES-deb rpm apk archlinux}

# shellcheck source=scripts/prerelease.sh
. scripts/prerelease.sh

fail() {
	echo "release.sh: $*" >&2
	exit 1
}

# readable VERSION: print it without a v before it, or say what is wrong with it.
readable() {
	local version=${1#v} tagged
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.?[0-9]+)?$ ]] ||
		fail "usage: make release VERSION=1.0.0; ${1:+\"$1\" }is not a version of three numbers, with -rc.1, -beta.1 or -alpha.1 behind them or without"
	if tagged=$(git rev-parse -q --verify "v$version^{commit}"); then
		[ "$tagged" = "$(git rev-parse HEAD)" ] || fail "the tag v$version is at another commit: git checkout v$version"
	else
		echo "release.sh: there is no tag v$version yet; this is a trial" >&2
	fi
	echo "$version"
}

# The settings of this machine must not change the programs.
fix_settings() {
	export GOFLAGS=-mod=vendor GOWORK=off GOEXPERIMENT='' CGO_ENABLED=0
	export GOAMD64=v1 GO386=sse2 GOARM=7 GOARM64=v8.0 GOPPC64=power8 GORISCV64=rva20u64
	unset GOOS GOARCH
}

# programs SOURCE OUT VERSION COMMIT DATE: a static program for each system. The first one is compiled
# with the cache $FRESH_CACHE, if that is set: Go's own cache knows no folders, so it would give the
# second of two builds what the first one has compiled.
programs() {
	local system cache=${FRESH_CACHE-}
	for system in $SYSTEMS; do
		echo "$system"
		(cd "$1" && { [ -z "$cache" ] || export GOCACHE=$cache; } && GOOS=${system%/*} GOARCH=${system#*/} go build -trimpath -pgo=cmd/btflite/btflite.pgo -buildvcs=false \
			-ldflags="-s -w -buildid= -X main.linkedVersion=v$3 -X main.linkedCommit=$4 -X main.linkedDate=$5" \
			-o "$2/btflite-$3-${system%/*}-${system#*/}" ./cmd/btflite)
		cache=
	done
}

# licences SOURCE: print the licences of Go and of all modules in the program.
licences() (
	local module dir
	echo "The program btflite contains code of Go's library and of the modules below, under these licences."
	printf '\n==== Go\n\n'
	cat "$(go env GOROOT)/LICENSE"
	cd "$1"
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}' ./cmd/btflite | sort -u | while read -r module; do
		dir=vendor/$module
		[ -n "$(find "$dir" -maxdepth 1 -iname 'licen[cs]e*' -o -maxdepth 1 -iname 'copying*')" ] || fail "$module has no licence"
		printf '\n==== %s\n\n' "$module"
		find "$dir" -maxdepth 1 \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) | LC_ALL=C sort | xargs cat
	done
)

# archives TREE OUT VERSION TIME: the folders bin and share of a prefix such as /usr/local, with the
# program of each system.
archives() {
	local system name
	for system in $SYSTEMS; do
		name=btflite-$3-${system%/*}-${system#*/}
		cp -a "$1" "$work/$name"
		install -m 755 "$2/$name" "$work/$name/bin/btflite"
		tarball "$work" "$name" "$4" "$2/$name.tar.gz"
		rm -rf "${work:?}/$name"
	done
}

# debian VERSION TIME: the files in $EXTRA that only Debian's packages have.
debian() {
	mkdir -p "$EXTRA"
	cat - LICENSE > "$EXTRA/copyright" <<-END
		The source of btflite is $HOMEPAGE.
		The program contains Go's library and Go modules: their licences are in
		/usr/share/doc/btflite/THIRD-PARTY-LICENCES. The text of the Apache License 2.0 is also in
		/usr/share/common-licenses/Apache-2.0.

	END
	gzip -9nc CHANGELOG.md > "$EXTRA/changelog.gz"
	gzip -9nc > "$EXTRA/changelog.Debian.gz" <<-END
		btflite (${1/-/\~}-1) unstable; urgency=medium

		  * CHANGELOG.md says what is new.

		 -- $MAINTAINER  $(LC_ALL=C date -u -d "@$2" -R)
	END
}

# packages OUT VERSION TIME: for each Linux and each kind, from one file; and the package that makes
# btflite the command pahole. Manual pages are compressed, as all four distributions do. nfpm takes
# times and modes of folders from the disk.
packages() {
	local system kind
	[ -n "$PACKAGES" ] || return 0
	mkdir -p "$work/package/usr"
	cp -a "$work/tree/." "$work/package/usr"
	gzip -9n "$work"/package/usr/share/man/man1/*.1
	export ROOT=$work/package ARCH
	for system in $SYSTEMS; do
		[ "${system%/*}" = linux ] || continue
		install -m 755 "$1/btflite-$2-linux-${system#*/}" "$ROOT/usr/bin/btflite"
		ARCH=${system#*/}
		[ "$ARCH" != arm ] || ARCH=arm7
		chmod -R u=rwX,go=rX "$ROOT"
		find "$ROOT" -exec touch -h -d "@$3" {} +
		for kind in $PACKAGES; do
			nfpm_run btflite "$kind" "$1" "$2"
		done
	done
	for kind in $PACKAGES; do
		nfpm_run btflite-pahole "$kind" "$1" "$2"
	done
}

# nfpm_run PACKAGE KIND OUT VERSION: the pinned nfpm, which reads variables of this script. It writes
# 1.0.0-rc.1 as each kind has it, but Alpine has 1.0.0_rc1, without a dot.
nfpm_run() {
	local VERSION=$4
	[ "$2" != apk ] || VERSION=$(without_dot "$4")
	export VERSION
	GOFLAGS='' go run "$nfpm" pkg -f "packaging/$1.yaml" -p "$2" -t "$3/"
}

# sbom OUT VERSION: the modules that a program says it was linked from, in CycloneDX's form. The
# list has the sum of the tool that wrote it, which must not depend on this machine either.
sbom() {
	local system
	read -r system _ <<< "$SYSTEMS"
	GOFLAGS=-trimpath go run "$cyclonedx" bin -json -noserial -notimestamp -std -version "v$2" \
		-output "$1/btflite-$2.cdx.json" "$1/btflite-$2-${system/\//-}"
}

# release VERSION OUT: all of it.
release() {
	local version=$1 out=$2 time commit source
	time=$(git log -1 --format=%ct)
	commit=$(git rev-parse HEAD)
	MAINTAINER=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
	HOMEPAGE=${HOMEPAGE:-https://$(sed -n 's/^module //p' go.mod)}
	DATE=$(date -u -d "@$time" +%F)
	EXTRA=$work/debian
	export MAINTAINER HOMEPAGE EXTRA SOURCE_DATE_EPOCH=$time
	rm -rf "$out"
	mkdir -p "$out"
	VERSION=$version scripts/dist.sh "$out" > /dev/null
	tar -xzf "$out/btflite-$version.tar.gz" -C "$work"
	source=$work/btflite-$version
	fix_settings
	programs "$source" "$out" "$version" "$commit" "$DATE"
	make -s -C "$source" install DESTDIR="$work/tree" PREFIX= VERSION="v$version" > "$work/log" || { cat "$work/log"; exit 1; }
	licences "$source" > "$work/tree/share/doc/btflite/THIRD-PARTY-LICENCES"
	chmod -R u=rwX,go=rX "$work/tree"
	archives "$work/tree" "$out" "$version" "$time"
	debian "$version" "$time"
	packages "$out" "$version" "$time"
	[ "${SBOM:-yes}" = no ] || sbom "$out" "$version"
	(cd "$out" && sha256sum -- * > SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
	chmod -R u+w "$work"
	rm -rf "${work:?}"/*
}

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
work=$scratch
case ${1-} in
check)
	version=$(readable "${2-}")
	out=$(mktemp -d)
	release "$version" "$out/one"
	mkdir "$work/elsewhere"
	work=$work/elsewhere
	(umask 077 && export TZ=Asia/Tokyo LC_ALL=C HOSTNAME=other GOFLAGS=-race GOAMD64=v3 FRESH_CACHE=$out/cache && release "$version" "$out/two")
	rm -rf "$out/cache"
	diff -r "$out/one" "$out/two" || fail "the same commit gave two releases: $out has both"
	rm -rf "$out"
	echo "release.sh: two releases of $version have the same bytes"
	;;
*)
	version=$(readable "${1-}")
	release "$version" "$PWD/build/release"
	cat build/release/SHA256SUMS
	;;
esac
