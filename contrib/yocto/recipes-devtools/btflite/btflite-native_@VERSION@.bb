SUMMARY = "BTF from DWARF, with little memory"
HOMEPAGE = "@HOMEPAGE@"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://share/doc/btflite/LICENSE;md5=@MD5:LICENSE@"

# The archive has the static program: no Go is needed, and nothing is built.
BTFLITE_SYSTEM = "linux-${@'arm64' if d.getVar('BUILD_ARCH') == 'aarch64' else 'amd64'}"
SRC_URI = "@URL@/btflite-${PV}-${BTFLITE_SYSTEM}.tar.gz;name=${BTFLITE_SYSTEM}"
SRC_URI[linux-amd64.sha256sum] = "@SUM:linux-amd64.tar.gz@"
SRC_URI[linux-arm64.sha256sum] = "@SUM:linux-arm64.tar.gz@"
S = "${WORKDIR}/btflite-${PV}-${BTFLITE_SYSTEM}"

inherit native

INHIBIT_DEFAULT_DEPS = "1"
do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -D -m 0755 ${S}/bin/btflite ${D}${bindir}/btflite
}
