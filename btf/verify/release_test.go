package verify

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify/releasetest"
)

func release(t *testing.T, s string) Release {
	t.Helper()
	r, err := ParseRelease(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReleases: each example is taken by the releases that it names, and by no
// other, at both levels. Every feature of the table has an example.
func TestReleases(t *testing.T) {
	smallChunks(t, 1000)
	seen := map[string]bool{}
	for _, e := range releasetest.Examples() {
		var base *btf.Blob
		if e.Base != nil {
			var err error
			if base, err = btf.Parse(e.Base, nil); err != nil {
				t.Fatal(err)
			}
		}
		since := release(t, e.Since)
		known, lost := since, since
		if e.Known != "" {
			known, lost = release(t, e.Known), release(t, e.Lost)
		}
		for _, name := range Releases() {
			r := release(t, name)
			want := !r.before(since) || !r.before(known) && r.before(lost)
			for _, level := range []Level{Load, Boot} {
				for _, workers := range []int{1, 3} {
					rules := Rules{Level: level, Kernel: r, Workers: workers, Distilled: e.Distilled}
					_, err := Check(e.Data, base, rules)
					if (err == nil) != want {
						t.Errorf("%s, Linux %s, level %d, %d workers: %v", e.Name, name, level, workers, err)
					}
					if f, ok := err.(*Fault); ok && (e.Known == "" || !r.before(known)) && (f.Needs != since || !strings.HasSuffix(err.Error(), "needs Linux "+e.Since)) {
						if !strings.Contains(err.Error(), "needs Linux "+e.Since+" or ") {
							t.Errorf("%s, Linux %s: %v; should need %s", e.Name, name, err, e.Since)
						}
					}
				}
			}
		}
		v, err := Judge(e.Data, base, Rules{Distilled: e.Distilled})
		if err != nil || v.Since != since || (v.Why == nil) != (since == Oldest) {
			t.Errorf("%s: %+v, %v; want from %s on", e.Name, v, err, e.Since)
		}
		rules := Rules{Distilled: e.Distilled}
		x, err := enter(e.Data, base, rules)
		if err != nil {
			t.Fatal(err)
		}
		for f, id := range x.find(1<<NumFeatures-1, rules).needs {
			if id != nobody {
				seen[fmt.Sprint(f)] = true
			}
		}
	}
	for _, f := range []FeatureID{LocParam, LocProto, Locsec} {
		seen[fmt.Sprint(f)] = true // not in a known release: TestLocations
	}
	if len(seen) != int(NumFeatures) {
		t.Errorf("examples of features %v only, there are %d", seen, NumFeatures)
	}
}

// sinceAgrees fails unless Judge and Check say the same of all releases: from Since
// on they take the data, and the release before it does not.
func sinceAgrees(t *testing.T, data []byte, what string) (since Release) {
	t.Helper()
	v, err := Judge(data, nil, Rules{})
	if err != nil {
		return Oldest
	}
	if len(v.Skipped) > 0 {
		return v.Since // no release takes these
	}
	before := Release{}
	for _, name := range Releases() {
		r := release(t, name)
		_, err := Check(data, nil, Rules{Kernel: r})
		if !r.before(v.Since) && err != nil {
			t.Errorf("%s: from %s on, but %s: %v", what, v.Since, r, err)
		}
		if r == v.Since && before != (Release{}) {
			if _, err := Check(data, nil, Rules{Kernel: before}); err == nil {
				t.Errorf("%s: from %s on, but %s takes it", what, v.Since, before)
			}
		}
		before = r
	}
	return v.Since
}

// TestSince: of random types, and of what compilers and tools write.
func TestSince(t *testing.T) {
	seen := map[Release]int{}
	for i := range 3000 {
		data := randomBlob(rand.New(rand.NewPCG(3, uint64(i))))
		seen[sinceAgrees(t, data, fmt.Sprintf("blob %d", i))]++
	}
	eachFile(t, func(name string, data []byte) { seen[sinceAgrees(t, data, name)]++ })
	if len(seen) < 6 {
		t.Errorf("few releases: %v", seen)
	}
	t.Log(seen)
}

// TestBackports: stable releases that took a feature over from a later one.
func TestBackports(t *testing.T) {
	b := start()
	b.add("f.part", btf.KindFunc, 0, false, tProto)
	for r, ok := range map[string]bool{"5.10": false, "5.10.185": false, "5.10.186": true, "5.10.223": true,
		"5.11.200": false, "6.1": false, "6.1.176": true, "6.2.16": false, "6.4": true} {
		_, err := Check(b.Encode(false), nil, Rules{Kernel: release(t, r)})
		if (err == nil) != ok {
			t.Errorf("%s: %v", r, err)
		}
		want := `BTF type [4] FUNC "f.part": '.' in a name needs Linux 6.4`
		if r == "5.10.185" {
			want += " or 5.10.186"
		}
		if !ok && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", r, err, want)
		}
	}
}

// TestNeedMessages: the message names the refused type, and its element if that is at
// fault.
func TestNeedMessages(t *testing.T) {
	for _, c := range []struct {
		kernel string
		add    func(b *blob)
		want   string
	}{
		{"5.10", func(b *blob) { b.add("x", btf.KindEnum64, 0, false, 8) }, `BTF type [4] ENUM64 "x" needs Linux 6.0`},
		{"5.10", func(b *blob) { b.add("", btf.KindEnum64, 0, false, 8) }, `BTF type [4] ENUM64 (anon) needs Linux 6.0`},
		{"6.3", func(b *blob) { members(b, 4, b.Str("x"), tInt, 0, b.Str("a.b"), tInt, 0) },
			`BTF type [4] STRUCT "s": element 1 "a.b": '.' in a name needs Linux 6.4 or 6.3.10`},
		{"6.14", func(b *blob) { b.add("a", btf.KindTypeTag, 0, true, tInt) },
			`BTF type [4] TYPE_TAG "a": kind_flag (an attribute) needs Linux 6.15`},
		// What no kernel takes comes first: no release helps.
		{"5.10", func(b *blob) {
			b.add("x", btf.KindEnum64, 0, false, 8)
			b.add("a b", btf.KindFwd, 0, false, 0)
		}, `BTF type [5] FWD "a b": name is not a C identifier`},
	} {
		b := start()
		c.add(b)
		if _, err := Check(b.Encode(false), nil, Rules{Kernel: release(t, c.kernel)}); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for s, want := range map[string]Release{
		"5.2": {5, 2, 0}, "6.12": {6, 12, 0}, "v6.12": {6, 12, 0}, "6.12.117": {6, 12, 117}, "7.2.13+deb14-amd64": {7, 2, 13},
		"5.10.0-32-cloud-amd64": {5, 10, 0}, "6.18.44-fc-v657": {6, 18, 44}, "7.2-rc3": {7, 2, 0}, "5.14.0-503.el9.x86_64": {5, 14, 0},
		"6.12.x": {6, 12, 0}, "5.15.167.4-microsoft-standard-WSL2": {5, 15, 167},
	} {
		if r, err := ParseRelease(s); err != nil || r != want {
			t.Errorf("%s: %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "foo", "6", "6.", "6.x", "4.4", "5.1", "5.20", "6.20", "7.3", "9.9", "6.12x", "-6.12", "99999.1", " 6.12"} {
		if r, err := ParseRelease(s); err == nil {
			t.Errorf("%q: %v", s, r)
		}
	}
	if _, err := ParseRelease("9.9"); err == nil || !strings.Contains(err.Error(), "5.2 to 7.2") {
		t.Errorf("%v: no range", err)
	}
	names := Releases()
	if names[0] != "5.2" || names[len(names)-1] != "7.2" || len(names) != 18+20+3 {
		t.Errorf("%d releases: %v", len(names), names)
	}
}

var update = flag.Bool("update", false, "write the table of docs/results/kernel-releases.md again")

const (
	docCommand = "go test ./btf/verify -run TestReleaseDoc -update"
	docBegin   = "<!-- table: " + docCommand + " -->\n"
	docEnd     = "<!-- end of table -->\n"
)

// TestReleaseDoc: the documentation has the table.
func TestReleaseDoc(t *testing.T) {
	var table strings.Builder
	table.WriteString("| Linux | takes | commit | note |\n|---|---|---|---|\n")
	for _, f := range Features() {
		what := f.What
		if f.Kind != btf.KindVoid {
			what = "kind " + f.Kind.String()
		}
		var notes []string
		if len(f.Backports) > 0 {
			also := "also from"
			for i, b := range f.Backports {
				also += []string{" ", ", "}[min(i, 1)] + b.String()
			}
			notes = append(notes, also)
		}
		if f.Note != "" {
			notes = append(notes, f.Note)
		}
		if f.Loader {
			notes = append(notes, "BPF objects: libbpf rewrites it")
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", f.Since, what, f.Source, strings.Join(notes, "; "))
	}
	releasetest.CheckTable(t, docBegin, table.String(), docEnd, *update, docCommand)
}
