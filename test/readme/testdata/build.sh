#!/bin/sh
# Write 6.12.btf and 7.2.btf again. Needs gcc and btflite; the committed files
# were written with gcc 12.2.0 of Debian 12.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for release in 6.12 7.2; do
	gcc -g -O0 -ffile-prefix-map="$PWD"=. -c -o "$tmp/object.o" "$release.c"
	btflite -J --btf_features=default --btf_encode_detached="$release.btf" "$tmp/object.o"
done
