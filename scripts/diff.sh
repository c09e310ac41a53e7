#!/usr/bin/env bash
#
# Write the BTF of testdata/diff again: NAME/a.btf and NAME/b.btf of the
# sources a.c and b.c beside them.
#
#   scripts/diff.sh    needs clang, gcc and go
#
# The committed files were written by gcc 12.2.0, those with tags and
# compilers/b.btf by clang 14.0.6, of Debian 12. What "btflite diff" says of them
# is in NAME/diff.txt, diff.json and diff.md, with --abi in abi.txt;
# `go test ./cmd/btflite -run Diff -update` writes those.

set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/btflite" ./cmd/btflite

for source in testdata/diff/*/[ab].c; do
	cc=gcc
	[[ $source == */tags/* || $source == */compilers/b.c ]] && cc=clang
	"$cc" -g -O0 -w -ffile-prefix-map="$PWD/$(dirname "$source")"=. -c -o "$tmp/object.o" "$source"
	"$tmp/btflite" -J --btf_features=default,global_var --btf_encode_detached="${source%.c}.btf" "$tmp/object.o"
done
