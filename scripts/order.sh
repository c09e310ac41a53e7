#!/usr/bin/env bash
#
# Write testdata/order again: three units, compiled by themselves and linked in
# two orders. The committed files were written by gcc 12.2.0 and ld 2.40 of
# Debian 12.

set -euo pipefail
cd "$(dirname "$0")/../testdata/order"
for unit in a b c; do
	gcc -O2 -g -gdwarf-5 -ffreestanding -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables \
		-ffile-prefix-map="$PWD"=. -c -o $unit.o $unit.c
done
ld -static --build-id=none -o abc a.o b.o c.o
ld -static --build-id=none -o cab c.o a.o b.o
chmod 644 ./*.o abc cab
