#!/usr/bin/env bash
#
# Install the Debian packages that the whole test suite needs: compilers for the
# machines that the tests build objects for, tools that change objects, shells
# that read the completions, a browser that reads the pages, a server of debug files, emulators of other
# machines, and the tools of scripts/kernels.sh. Needs root when something is missing.

set -euo pipefail

packages=(
	gcc g++ libc6-dev clang lld gcc-aarch64-linux-gnu gcc-s390x-linux-gnu gcc-arm-linux-gnueabihf
	gcc-riscv64-linux-gnu chromium debuginfod qemu-user dwz valgrind git man-db zsh fish csmith libcsmith-dev
	xz-utils ca-certificates
)

missing=()
for package in "${packages[@]}"; do
	dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
	echo "packages.sh: all packages are installed"
	exit 0
fi

echo "packages.sh: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq -y --no-install-recommends install "${missing[@]}" > /dev/null
