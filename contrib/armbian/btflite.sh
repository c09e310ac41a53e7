#!/usr/bin/env bash
#
# An extension of Armbian's build: BTF by btflite, on machines for which pahole is switched off for
# want of memory. userpatches/extensions/btflite.sh, then ENABLE_EXTENSIONS=btflite KERNEL_BTF=yes.

# fetch_btflite: download the pinned release once, check its sum, and unpack it.
function host_dependencies_ready__fetch_btflite() {
	declare -g BTFLITE_PROGRAM="${SRC}/cache/tools/btflite-@VERSION@/bin/btflite"
	[[ -x ${BTFLITE_PROGRAM} ]] && return 0
	declare system=amd64 sum=@SUM:linux-amd64.tar.gz@ archive
	if [[ $(uname -m) == aarch64 ]]; then
		system=arm64 sum=@SUM:linux-arm64.tar.gz@
	fi
	archive=$(mktemp)
	display_alert "btflite @VERSION@" "linux-${system}" "info"
	curl -fsSL -o "${archive}" "@URL@/btflite-@VERSION@-linux-${system}.tar.gz" || exit_with_error "cannot download btflite"
	echo "${sum}  ${archive}" | sha256sum --quiet -c - || exit_with_error "the archive of btflite has another sum"
	mkdir -p "${SRC}/cache/tools/btflite-@VERSION@"
	tar -xzf "${archive}" -C "${SRC}/cache/tools/btflite-@VERSION@" --strip-components=1
	rm -f "${archive}"
}

function custom_kernel_make_params__btflite() {
	common_make_params_quoted+=("PAHOLE=${BTFLITE_PROGRAM}")
}
