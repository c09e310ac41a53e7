#!/usr/bin/env bash
# Static checks, each of a fixed version: go vet, staticcheck, vale, govulncheck.
# govulncheck needs the Go vulnerability database (vuln.go.dev, or $GOVULNDB); where
# that does not answer, it is left out and the last line says so.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/tools.sh
. scripts/tools.sh

echo "go vet"
go vet ./...
echo "staticcheck"
go run "$staticcheck" ./...
# Markdown, and comments and messages of the packages that .vale.ini names. vale is
# compiled with cgo, which takes four minutes once. A CI machine would do so each time.
echo "vale"
if [ "${CI:-}" = true ]; then
	echo "left out: vale, because CI=true"
elif command -v "$(go env CC)" > /dev/null; then
	git ls-files -z '*.md' '*.go' ':!BENCHMARKS.md' ':!docs/results' ':!*testdata*' |
		CGO_ENABLED=1 xargs -0 go run "$vale" --no-global --output=line
else
	echo "left out: vale, because there is no C compiler"
fi
echo "govulncheck"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go run "$govulncheck" ${GOVULNDB:+-db="$GOVULNDB"} ./... >"$log" 2>&1; then
	cat "$log"
	# Findings are printed on standard output; this is what it says when it has
	# no database to compare with.
	grep -q '^govulncheck: fetching vulnerabilities: ' "$log" || exit 1
	echo "left out: govulncheck, because the vulnerability database does not answer"
fi
