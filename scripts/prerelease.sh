# shellcheck shell=bash
# Shared by the scripts that name packages; to be sourced.

# without_dot VERSION: print 1.0.0-rc1 for 1.0.0-rc.1, and other versions as they are. Distributions have no
# dot before the number of a release candidate.
without_dot() { sed -E 's/-(alpha|beta|rc)\./-\1/' <<< "$1"; }
