#!/usr/bin/env bash
#
# Compare the BTF of all kernels of the corpus, and of their modules, with that of pahole. Print
# which packages the kernels are from, and a table.
#
#   BTFLITE_CORPUS=FOLDER scripts/machines.sh
#
# make machines calls it, with the kernels of "scripts/kernels.sh machines".
set -euo pipefail
cd "$(dirname "$0")/.."

echo
for kernel in "$BTFLITE_CORPUS"/v*-*; do
	package=$(readlink "$kernel")
	echo "- ${package#k/}"
done
echo

# The benchmark writes the table into a report, which is not kept.
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
mkdir -p "$to/bench/plots"
cp README.md "$to"
go run ./bench -only=modules -all_modules -to "$to" >&2
sed -n '/^| kernel | set/,/^$/p' "$to/BENCHMARKS.md"
