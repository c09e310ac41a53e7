#!/usr/bin/env bash
# fuzz.sh TIME [FILE]: run every fuzz target for TIME. With FILE, write what each
# did into it: the CPU time says how much of TIME a busy machine gave to it.
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1 file=${2-}
run() {
	local module package target log TIMEFORMAT='%U %S'
	module=$(go list -m)
	printf '\n| package | target | CPU seconds | inputs |\n|---|---|--:|--:|\n' >> "$table"
	for package in $(go list ./...); do
		for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
			echo "$package $target"
			log=$(mktemp)
			{ time go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5x "$package" | tee "$log" >&3; } 2> "$log.time" ||
				{ cat "$log.time" >&2; exit 1; }
			printf '| %s | %s | %.0f | %s |\n' "${package#"$module"/}" "$target" "$(awk '{ s = $1 + $2 } END { print s }' "$log.time")" \
				"$(sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$log" | tail -n 1)" >> "$table"
			rm -f "$log" "$log.time"
		done
	done
} 3>&1
table=$(mktemp)
trap 'rm -f "$table"' EXIT
run
[ -z "$file" ] || scripts/result.sh "$file" "make fuzz" cat "$table"
