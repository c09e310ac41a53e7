#!/bin/sh
#
# version.sh             print the version of this checkout: the tag, or the tag
#                        before it, the commits since and the commit; without a
#                        tag the name that Go gives to a commit
# version.sh --ldflags [VERSION]
#                        print the options of the Go linker that make it (or
#                        VERSION) the version that "btflite version" shows
#
# Outside of a checkout it prints nothing. So it does in an unpacked source
# archive, even if that lies in somebody's repository: the version of an archive
# is in cmd/btflite/version.txt.

cd "$(dirname "$0")/.." || exit 1

in_checkout() {
	at_top=$(git rev-parse --show-prefix 2> /dev/null) && [ -z "$at_top" ] && grep -q '^\$Format' cmd/btflite/version.txt
}

version() {
	dirty=
	[ -z "$(git status --porcelain --untracked-files=no)" ] || dirty=-dirty
	if tag=$(git describe --tags --match='v[0-9]*' 2> /dev/null); then
		echo "$tag$dirty"
	else
		TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --abbrev=12 --format="v0.0.0-%cd-%h$dirty" 2> /dev/null
	fi
}

case $1 in
'') ! in_checkout || version ;;
--ldflags)
	# An archive has its commit and its day in version.txt.
	if ! in_checkout; then
		[ -z "$2" ] || echo "-X main.linkedVersion=$2"
	else
		echo "-X main.linkedVersion=${2:-$(version)} -X main.linkedCommit=$(git rev-parse HEAD)" \
			"-X main.linkedDate=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%d --format=%cd)"
	fi
	;;
*)
	echo "usage: scripts/version.sh [--ldflags [VERSION]]" >&2
	exit 64
	;;
esac
