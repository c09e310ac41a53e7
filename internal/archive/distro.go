package archive

import (
	"regexp"
	"strings"
	"sync"

	"github.com/btflite/btflite/internal/pack"
)

// unknown stands for a distribution or a version that nothing shows.
const unknown = "unknown"

// distro is a distribution, and what shows it.
type distro struct {
	vendor  *regexp.Regexp // in the vendor of the package, or in the banner
	version *regexp.Regexp // its first group, in the version of the package or in the release; or nil
	name    string
}

// distros returns the distributions. Take the first one that fits. BTFHub uses the same names, from ID
// in os-release. Most runs of the program do not need them, and to compile them takes 60 µs.
var distros = sync.OnceValue(func() []distro {
	el := regexp.MustCompile(`\.el(\d+)`) // the version of Enterprise Linux in the release of an rpm
	return []distro{
		{regexp.MustCompile(`(?i)ubuntu`), regexp.MustCompile(`~(\d\d\.\d\d)`), "ubuntu"},
		{regexp.MustCompile(`(?i)debian`), regexp.MustCompile(`(?:[+~]deb|~bpo)(\d+)`), "debian"},
		{regexp.MustCompile(`(?i)opensuse`), regexp.MustCompile(`-(1\d0\d00)\.`), "opensuse-leap"},
		{regexp.MustCompile(`(?i)suse`), regexp.MustCompile(`-(1\d0\d00)\.`), "sles"},
		{regexp.MustCompile(`(?i)almalinux`), el, "almalinux"},
		{regexp.MustCompile(`(?i)rocky`), el, "rocky"},
		{regexp.MustCompile(`(?i)oracle`), el, "ol"},
		{regexp.MustCompile(`(?i)centos`), el, "centos"},
		{regexp.MustCompile(`(?i)amazon`), regexp.MustCompile(`\.amzn(\d+)`), "amzn"},
		{regexp.MustCompile(`(?i)fedora`), regexp.MustCompile(`\.fc(\d+)`), "fedora"},
		{regexp.MustCompile(`(?i)red hat`), el, "rhel"},
	}
})

// distroOf returns the distribution that a package is of, and its version, as far as the package and
// the banner of its kernel show them.
func distroOf(info pack.Info, banner, release string) (name, version string) {
	for _, d := range distros() {
		if !d.vendor.MatchString(info.Vendor + "\n" + banner) {
			continue
		}
		for _, text := range []string{info.Version, release, banner} {
			if m := d.version.FindStringSubmatch(text); m != nil {
				return d.name, suseVersion(m[1])
			}
		}
		return d.name, unknown
	}
	return unknown, unknown
}

// suseVersion turns 150300, in the release of an rpm of SUSE, into 15.3, and leaves other versions.
func suseVersion(s string) string {
	if len(s) != 6 {
		return s
	}
	return s[:2] + "." + s[3:4]
}

// CleanName makes text from outside one part of a path: letters, digits and "._+~-", not beginning
// with a dot.
func CleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._+~-", r):
			return r
		}
		return '_'
	}, s)
	const most = 200
	if s = s[:min(len(s), most)]; s == "" || s[0] == '.' {
		s = "_" + s
	}
	return s
}
