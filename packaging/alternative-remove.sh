#!/bin/sh
# Take the alternative back when the package goes, not when a newer one replaces it. dpkg says
# "remove" or "deconfigure", rpm says how many versions stay.
set -e
case ${1-} in
remove | deconfigure | 0) update-alternatives --remove pahole /usr/bin/btflite ;;
esac
