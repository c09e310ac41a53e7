# shellcheck shell=bash
# The programs of others that scripts run by "go run", each at a fixed version. To be sourced.
# This is the only place that names their versions.
# shellcheck disable=SC2034 # used by the scripts that source this file

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.8.0
vale=github.com/vale-cli/vale/v3/cmd/vale@v3.22.0
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
cyclonedx=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
