package verify

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/btflite/btflite/btf"
)

// Release is a release of Linux: 6.12 is {6, 12, 0}, 5.10.223 is {5, 10, 223}.
// The zero value stands for the newest one known.
type Release struct{ Major, Minor, Patch int }

// series are the releases that the table of features covers: for each major
// number the first and the last minor number.
var series = []struct{ major, first, last int }{{5, 2, 19}, {6, 0, 19}, {7, 0, 2}}

// Oldest and Newest are the first and the last release known.
var (
	Oldest = Release{series[0].major, series[0].first, 0}
	Newest = Release{series[len(series)-1].major, series[len(series)-1].last, 0}
)

// releaseForm is a release as people write it and as uname -r prints it. What
// follows the numbers is the distributor's.
var releaseForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,4}))?(?:[-+~_. ].*)?$`)
})

// ParseRelease reads a release such as 6.12, 5.10.223 or 6.1.0-50-amd64. It is an
// error if the table of features does not know the release.
func ParseRelease(s string) (Release, error) {
	m := releaseForm().FindStringSubmatch(s)
	if m == nil {
		return Release{}, fmt.Errorf("'%s' is not a release such as 6.12 or 5.10.223", s)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // digits, by releaseForm
	r := Release{number(m[1]), number(m[2]), number(m[3])}
	for _, s := range series {
		if r.Major == s.major && r.Minor >= s.first && r.Minor <= s.last {
			return r, nil
		}
	}
	return Release{}, fmt.Errorf("'%s' is not a release that is known; known are %s to %s", s, Oldest, Newest)
}

// Releases are the names of all releases known, the oldest first, without
// patch levels.
func Releases() []string {
	var names []string
	for _, s := range series {
		for minor := s.first; minor <= s.last; minor++ {
			names = append(names, Release{s.major, minor, 0}.String())
		}
	}
	return names
}

// String is the release as people write it.
func (r Release) String() string {
	r = r.orNewest()
	if r.Patch == 0 {
		return fmt.Sprintf("%d.%d", r.Major, r.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", r.Major, r.Minor, r.Patch)
}

// Compare is negative if r came before s, positive if after it.
func (r Release) Compare(s Release) int {
	r, s = r.orNewest(), s.orNewest()
	return cmp.Or(cmp.Compare(r.Major, s.Major), cmp.Compare(r.Minor, s.Minor), cmp.Compare(r.Patch, s.Patch))
}

func (r Release) before(s Release) bool { return r.Compare(s) < 0 }

// orNewest replaces the zero value.
func (r Release) orNewest() Release {
	if r == (Release{}) {
		return Newest
	}
	return r
}

// Feature is a part of BTF that some releases do not accept.
type Feature struct {
	// What it is, for messages: it is followed by "needs Linux 6.0". Empty for a
	// kind, whose name stands in the message anyway.
	What string
	// Kind is the kind that came with the release Since, or KindVoid.
	Kind  btf.Kind
	Since Release
	// Releases from Known on, but before Lost, accepted the feature too; then it was removed until
	// Since. Both are zero for most features.
	Known, Lost Release
	// Backports are stable releases of older series. Each is the first of its series that accepts
	// the feature.
	Backports []Release
	// Loader tells that libbpf rewrites BTF of BPF objects for kernels without it.
	Loader bool
	// Form says that the feature changes the format of records or of the file. Programs that read
	// BTF had to learn it. Without Form, only kernels refuse the feature.
	Form bool
	// Source is the kernel's commit. Note has further facts, and says if one is
	// uncertain.
	Source, Note string
}

// Takes reports whether the release accepts the feature. The zero Release stands for a kernel that
// accepts all known features.
func (r Release) Takes(id FeatureID) bool {
	f := &features[id]
	if r == (Release{}) || !r.before(f.Since) {
		return true
	}
	if f.Lost != (Release{}) && !r.before(f.Known) && r.before(f.Lost) {
		return true
	}
	return slices.ContainsFunc(f.Backports, func(b Release) bool {
		return r.Major == b.Major && r.Minor == b.Minor && r.Patch >= b.Patch
	})
}

// needs says which release accepts the feature, for someone who uses r.
func (f *Feature) needs(r Release) string {
	for _, b := range f.Backports {
		if r.Major == b.Major && r.Minor == b.Minor {
			return fmt.Sprintf("needs Linux %s or %s", f.Since, b)
		}
	}
	return fmt.Sprintf("needs Linux %s", f.Since)
}

// FeatureID is the index of a Feature in the table.
type FeatureID uint8

// The features, in the order of Features; Feature.What says what each is.
const (
	EnumSize FeatureID = iota
	ManyTypes
	ManyNames
	GlobalFunc
	SplitBTF
	EmptySection
	Float
	DeclTag
	TypeTag
	Enum64
	LocParam
	LocProto
	Locsec
	SignedEnum
	LongName
	DottedName
	SectionName
	DistilledBase
	Attribute
	LayoutSection
	LongVlen
	TagBehindModifier
	NumFeatures
)

// Features is the table of features that Linux 5.2 did not accept and a later release
// does, in the order of releases. It serves the documentation too
// (docs/results/kernel-releases.md).
func Features() []Feature { return slices.Clone(features[:]) }

var features = [NumFeatures]Feature{
	EnumSize: {What: "an ENUM of a size other than 4", Since: Release{5, 3, 0},
		Source: `9eea98497951 "bpf: fix BTF verification of enums"`,
		Note:   "a member of such a type that ends with its struct: 5.6 (da6c7faeb103), not checked"},
	ManyTypes: {What: "a type id above 65,535", Since: Release{5, 5, 0},
		Source: `a0791f0df7d2 "bpf: fix BTF limits"`},
	ManyNames: {What: "more than 64 KiB of strings", Since: Release{5, 5, 0},
		Source: `a0791f0df7d2 "bpf: fix BTF limits"`},
	GlobalFunc: {What: "linkage global", Since: Release{5, 6, 0}, Loader: true,
		Source: `51c39bb1d5d1 "bpf: Introduce function-by-function verification"`},
	SplitBTF: {What: "split BTF", Since: Release{5, 11, 0}, Form: true,
		Source: `951bb64621b8 "bpf: Add in-kernel split BTF support"`,
		Note:   "modules only, at no release for BPF_BTF_LOAD"},
	EmptySection: {What: "a DATASEC without entries", Since: Release{5, 12, 0},
		Source: `13ca51d5eb35 "bpf: Permit size-0 datasec"`},
	Float: {Kind: btf.KindFloat, Since: Release{5, 13, 0}, Form: true, Loader: true,
		Source: `b1828f0b0482 "bpf: Add BTF_KIND_FLOAT support"`},
	DeclTag: {Kind: btf.KindDeclTag, Since: Release{5, 16, 0}, Form: true, Loader: true,
		Source: `b5ea834dde6b "bpf: Support for new btf kind BTF_KIND_TAG"`,
		Note:   "renamed by 223f903e9c83 in the same release"},
	TypeTag: {Kind: btf.KindTypeTag, Since: Release{5, 17, 0}, Form: true, Loader: true,
		Source: `8c42d2fa4eea "bpf: Support BTF_KIND_TYPE_TAG for btf_type_tag attributes"`},
	Enum64: {Kind: btf.KindEnum64, Since: Release{6, 0, 0}, Form: true, Loader: true,
		Source: `6089fb325cf7 "bpf: Add btf enum64 support"`},
	SignedEnum: {What: "kind_flag (signed values)", Since: Release{6, 0, 0}, Form: true, Loader: true,
		Source: `6089fb325cf7 "bpf: Add btf enum64 support"`},
	LongName: {What: "a name of more than 128 bytes", Since: Release{6, 1, 0},
		Source: `b8a94bfb3395 "kallsyms: increase maximum kernel symbol length to 512"`,
		Note:   "512 bytes since then; not the text of tags, nor names of INT and FLOAT"},
	DottedName: {What: "'.' in a name", Since: Release{6, 4, 0},
		Backports: []Release{{5, 10, 186}, {5, 15, 119}, {6, 1, 36}, {6, 3, 10}},
		Source:    `9724160b3942 "bpf/btf: Accept function names that contain dots"`,
		Note: "names of VAR and DATASEC always; seen in Debian's 5.10.223 and 6.1.176; " +
			"the patch levels of 5.15, 6.1 and 6.3 are not certain"},
	SectionName: {What: "a section name that is not an identifier", Since: Release{6, 9, 0},
		Source: `bd70a8fb7ca4 "bpf: Allow all printable characters in BTF DATASEC names"`,
		Note:   "libbpf rewrites a leading '?' only"},
	DistilledBase: {What: "a distilled base (.BTF.base)", Since: Release{6, 11, 0}, Form: true,
		Source: `8646db238997 "libbpf,bpf: Share BTF relocate-related code with kernel"`,
		Note:   "older kernels read .BTF over vmlinux, whose ids it does not have"},
	Attribute: {What: "kind_flag (an attribute)", Since: Release{6, 15, 0}, Form: true,
		Source: `53ee0d66d7a6 "bpf: Allow kind_flag for BTF type and decl tags"`},
	LayoutSection: {What: "a layout section", Since: Release{7, 1, 0}, Form: true, Loader: true,
		Source: `222edc84 of the series "add BTF layout to BTF" (March 2026)`,
		Note:   "so too strings that are not last; older kernels take a longer header of zeros"},
	LongVlen: {What: "more than 65,535 elements", Since: Release{7, 2, 0}, Form: true,
		Source: `f7a6b9eaff3e "bpf: Extend BTF UAPI vlen, kinds to use unused bits"`},
	LocParam: {Kind: btf.KindLocParam, Since: inlined, Form: true, Source: inlinedSource, Note: inlinedNote},
	LocProto: {Kind: btf.KindLocProto, Since: inlined, Form: true, Source: inlinedSource, Note: inlinedNote},
	Locsec:   {Kind: btf.KindLocsec, Since: inlined, Form: true, Source: inlinedSource, Note: inlinedNote},
	TagBehindModifier: {What: "a TYPE_TAG behind another modifier", Since: Release{7, 2, 0},
		Known: Release{5, 17, 0}, Lost: Release{5, 19, 0},
		Source: `39799c63578e "bpf: Allow type tag BTF records to succeed other modifier records"`,
		Note:   `5.17 and 5.18 did not look at the order; eb596b090558 "bpf: Ensure type tags precede modifiers in BTF" forbade it in 5.19 (release by date, not certain)`},
}

// What is known of the kinds of inlined functions. They are in bpf-next since
// 2026-09-24 and in no release.
const (
	inlinedSource = `33c5a327 of the series "Support inline functions in BTF" (September 2026)`
	inlinedNote   = "in bpf-next only; the release is not certain"
)

var inlined = Release{7, 4, 0}

// kindFeature is the feature that a kind is, or NumFeatures.
var kindFeature = func() (t [btf.NumKinds]FeatureID) {
	for k := range t {
		t[k] = NumFeatures
	}
	for f := range features {
		if k := features[f].Kind; k != btf.KindVoid {
			t[k] = FeatureID(f)
		}
	}
	return t
}()

// FeatureOf is the feature that records of a kind are. It is not ok for kinds that all releases
// known take.
func FeatureOf(k btf.Kind) (f FeatureID, ok bool) {
	f = kindFeature[k]
	return f, f != NumFeatures
}

// Form tells whether the feature is in the form of records and files; see Feature.Form.
func (f FeatureID) Form() bool { return features[f].Form }

// set is a set of features, a bit for each.
type set uint32

func (s set) has(f FeatureID) bool { return s>>f&1 != 0 }

// add adds a feature if it is needed.
func (s *set) add(f FeatureID, needed bool) {
	if needed {
		*s |= 1 << f
	}
}

// lacking are the features that a release does not take.
func lacking(r Release) (s set) {
	for f := range NumFeatures {
		s.add(f, !r.Takes(f))
	}
	return s
}

// byLoader are the features that libbpf rewrites, and forms those that readers had to learn.
var (
	byLoader = having(func(f *Feature) bool { return f.Loader })
	forms    = having(func(f *Feature) bool { return f.Form })
)

// having are the features for which is says true.
func having(is func(*Feature) bool) (s set) {
	for f := range features {
		s.add(FeatureID(f), is(&features[f]))
	}
	return s
}
