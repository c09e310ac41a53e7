#!/bin/sh
# The processors of one machine, by GNU parallel: a process for each package.
#
#   parallel.sh PACKAGES ARCHIVE
#
# Status 75 says that the disk was full or memory short: such packages are tried again. Packages
# that have no BTF, or are damaged, are in the records with the reason, and do not fail.
packages=$1 archive=$2
# -q: a shell reads the line again, and paths may have spaces.
parallel -q --halt never --retries 3 --joblog "$archive.log" \
	"${BTFLITE:-btflite}" archive -q --btf_features=default --lang_exclude=rust -o "$archive" {} ::: "$packages"/*
status=$?
"${BTFLITE:-btflite}" archive index -o "$archive" || exit
exit $status
