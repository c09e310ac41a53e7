#!/usr/bin/env bash
# result.sh FILE NAME COMMAND...: put what COMMAND prints behind the line of FILE
# that says that NAME writes it. What is before that line stays.
set -euo pipefail
file=$1 marker="<!-- What follows is written by $2. -->"
shift 2
grep -qxF -- "$marker" "$file" || { echo "$file has no line '$marker'" >&2; exit 1; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v marker="$marker" '{ print } $0 == marker { exit }' "$file" > "$new"
"$@" | tee -a "$new"
cat "$new" > "$file"
