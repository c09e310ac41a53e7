#!/bin/sh
# Make btflite an alternative for /usr/bin/pahole. A file of that name that no package owns
# stays: update-alternatives replaces only links that it made, and says so.
set -e
case ${1-} in
abort-*) ;;
*) update-alternatives --install /usr/bin/pahole pahole /usr/bin/btflite 10 ;;
esac
