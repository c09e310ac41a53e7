# Copyright 2026 The btflite authors
# Distributed under the terms of the MIT License

EAPI=8

inherit go-module shell-completion

DESCRIPTION="BTF from DWARF, with little memory"
HOMEPAGE="@HOMEPAGE@"
MY_PV="@VERSION@"
SRC_URI="@URL@/${PN}-${MY_PV}.tar.gz"
S="${WORKDIR}/${PN}-${MY_PV}"

LICENSE="Apache-2.0 BSD MIT"
SLOT="0"
KEYWORDS="~amd64 ~arm64 ~riscv"
IUSE="pahole"

BDEPEND=">=dev-lang/go-1.26"
RDEPEND="pahole? ( !dev-util/pahole )"

src_compile() {
	emake VERSION="v${MY_PV}"
}

src_test() {
	emake test
}

src_install() {
	emake install DESTDIR="${D}" PREFIX="${EPREFIX}/usr" VERSION="v${MY_PV}" \
		DOCDIR="${EPREFIX}/usr/share/doc/${PF}"
	use pahole && dosym btflite /usr/bin/pahole
}
