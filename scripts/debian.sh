# Shared by the scripts that fetch packages of Debian; to be sourced. The mirror
# is the one that this machine's apt uses; a suite or architecture other than
# its own gets a package list of its own in $corpus/apt, so nothing of the
# system's apt state is read or changed and root is not needed.

corpus=${BTFLITE_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/btflite-corpus}
host_arch=$(dpkg --print-architecture)

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { say "$*" >&2; exit 1; }

# sources SUITE: the apt sources of this machine, in deb822 form, turned
# towards SUITE. The first stanza is the archive, the one that names a
# -security suite is the security archive.
sources() {
	local suite=$1 list=/etc/apt/sources.list.d/debian.sources
	[ -r "$list" ] || die "no $list: this script needs a Debian with deb822 sources"
	awk -v suite="$suite" '
		function flush() {
			security = stanza ~ /Suites:[^\n]*-security/
			if (stanza ~ /Types:/ && !done && security == (suite ~ /-security$/)) {
				sub(/Suites:[^\n]*/, "Suites: " suite, stanza)
				sub(/Components:[^\n]*/, "Components: main", stanza)
				printf "%s", stanza
				done = 1
			}
			stanza = ""
		}
		/^[ \t]*$/ { flush(); next }
		/^#/ { next }
		{ stanza = stanza $0 "\n" }
		END { flush() }' "$list"
}

# apt_at SUITE ARCH PROGRAM ARG...: an apt program with a state of its own.
apt_at() {
	local suite=$1 arch=$2 program=$3 state
	shift 3
	state=$corpus/apt/$suite-$arch
	"$program" \
		-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/parts" \
		-o Dir::State="$state" -o Dir::State::lists="$state/lists" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}

# refresh SUITE ARCH: read the package lists once in a run of this script.
refreshed=' '
refresh() {
	local suite=$1 arch=$2 state=$corpus/apt/$1-$2
	case $refreshed in *" $suite-$arch "*) return ;; esac
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts"
	: > "$state/status"
	sources "$suite" > "$state/parts/x.sources"
	[ -s "$state/parts/x.sources" ] || die "the apt sources of this machine have no archive for $suite"
	say "reading the package lists of $suite for $arch"
	apt_at "$suite" "$arch" apt-get -qq update || die "cannot read the package lists of $suite for $arch"
	refreshed="$refreshed$suite-$arch "
}

# linux_source FOLDER SERIES: fetch the source of Linux and unpack it in FOLDER, set $src.
linux_source() {
	local folder=$1 series=$2 suite package=linux-source-$2 deb
	src=$folder/$package
	[ -e "$src/Makefile" ] && return
	case $series in
	5.10) suite=bullseye-security ;;
	6.*) suite=bookworm-security ;;
	*) suite=sid ;;
	esac
	refresh "$suite" "$host_arch"
	say "fetching $package from $suite"
	mkdir -p "$folder"
	(cd "$folder" && apt_at "$suite" "$host_arch" apt-get -qq download "$package") || die "cannot fetch $package"
	deb=$(find "$folder" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
	rm -rf "$folder/unpack"
	dpkg-deb -x "$deb" "$folder/unpack"
	tar -C "$folder" -xf "$folder/unpack/usr/src/$package.tar.xz"
	rm -rf "$folder/unpack" "$deb"
}
