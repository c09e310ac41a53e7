#!/usr/bin/env bash
#
# contrib.sh [RELEASE [OUT]]  write the recipes of contrib into OUT, or build/contrib, with the version
#                             and the checksums of the release in the folder RELEASE, or build/release
#
# contrib/README.md has the words that are filled in. URL is the folder in the net with the files of
# the release, HOMEPAGE the page of the project.

set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/prerelease.sh
. scripts/prerelease.sh

release=${1:-build/release} out=${2:-build/contrib}

fail() {
	echo "contrib.sh: $*" >&2
	exit 1
}

source=$(find "$release" -maxdepth 1 -name 'btflite-[0-9]*.tar.gz' 2> /dev/null | grep -vE -- '-(linux|darwin|freebsd)-' || true)
[ -r "$source" ] || fail "$release has no source of one version: make release VERSION=... writes it"
version=${source##*/btflite-}
version=${version%.tar.gz}
HOMEPAGE=${HOMEPAGE:-https://$(sed -n 's/^module //p' go.mod)}
URL=${URL:-$HOMEPAGE/releases/download/v$version}

# sum PROGRAM END: the sum of btflite-VERSION-END, or of the source.
sum() {
	local name=btflite-$version.$2
	[ "$2" = tar.gz ] || name=btflite-$version-$2
	[ -r "$release/$name" ] || fail "$release has no $name, whose sum a recipe needs"
	"$1" "$release/$name" | cut -d ' ' -f 1
}

short=$(without_dot "$version")
script="s|@VERSION@|$version|g; s|@PV@|${short/-/_}|g; s|@PKGVER@|${short/-/}|g; s|@URL@|$URL|g; s|@HOMEPAGE@|$HOMEPAGE|g; s|@MD5:LICENSE@|$(md5sum < LICENSE | cut -d ' ' -f 1)|g"
for end in linux-amd64.tar.gz linux-arm64.tar.gz tar.gz; do
	value=$(sum sha256sum "$end")
	script="$script; s|@SUM:$end@|$value|g"
done
value=$(sum sha512sum tar.gz)
script="$script; s|@SUM512:tar.gz@|$value|g"

rm -rf "$out"
mkdir -p "$out"
find contrib -mindepth 1 -type f ! -path contrib/README.md ! -path 'contrib/container/*' | while read -r file; do
	to=$out/${file#contrib/}
	to=${to//@PV@/${short/-/_}}
	to=${to//@VERSION@/$version}
	mkdir -p "${to%/*}"
	sed "$script" "$file" > "$to"
	if grep -nE '@[A-Z0-9]+(:[^ @]*)?@' "$to"; then fail "$file: a word that is not filled in"; fi
done
echo "contrib.sh: the recipes of $version are in $out"
