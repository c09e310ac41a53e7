# Copyright 2026 The btflite authors
# Distributed under the terms of the MIT License

EAPI=8

inherit go-module shell-completion

DESCRIPTION="BTF from DWARF, with little memory"
HOMEPAGE="@HOMEPAGE@"
SRC_URI="@URL@/${P}.tar.gz"

LICENSE="Apache-2.0 BSD MIT"
SLOT="0"
KEYWORDS="~amd64 ~arm64 ~riscv"
IUSE="pahole"

BDEPEND=">=dev-lang/go-1.26"
RDEPEND="pahole? ( !dev-util/pahole )"

src_compile() {
	emake VERSION="v${PV}"
}

src_test() {
	emake test
}

src_install() {
	emake install DESTDIR="${D}" PREFIX="${EPREFIX}/usr" VERSION="v${PV}" \
		DOCDIR="${EPREFIX}/usr/share/doc/${PF}"
	use pahole && dosym btflite /usr/bin/pahole
}
