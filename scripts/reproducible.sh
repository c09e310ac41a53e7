# shellcheck shell=bash
# Shared by the scripts that write archives; to be sourced.

# tarball DIR NAME TIME FILE: write the folder DIR/NAME into FILE, a .tar.gz. Order, times, owners
# and modes do not depend on the machine, so the same content gives the same bytes. TIME is in seconds.
tarball() {
	tar -c --format=gnu --sort=name --mtime="@$3" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		-C "$1" "$2" | gzip -9n > "$4.new"
	mv "$4.new" "$4"
}
