package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below a fresh folder, which becomes the working folder, and
// returns nothing: names in tests are relative. A name that ends in "->TO" is a
// symbolic link.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if link, to, ok := strings.Cut(name, "->"); ok {
			err = os.Symlink(to, link)
		} else {
			err = os.WriteFile(name, []byte(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const elfHead = "\x7fELF and more"

func TestFindModules(t *testing.T) {
	tree(t, map[string]string{
		"k/fs/b.ko":     elfHead,
		"k/fs/a.ko":     elfHead + "longer",
		"k/fs/a.o":      elfHead,
		"k/net/c.ko.xz": "\xfd7zXZ\x00",
		"k/modules.dep": "fs/b.ko: fs/a.ko",
		"k/fs/l.ko->k":  "",
		"link->k":       "",
		"one.ko":        elfHead,
		"list":          "one.ko\r\n\nk/fs/b.ko\none.ko",
		"empty":         "\n\n",
		"missing":       "one.ko\nnone.ko\nk/fs\nk/fs/b.ko\n",
		"text.ko":       "no module, but no list either",
		"binary":        "\x00\x01",
		"raw":           "\x02\x10\x7f\xff",
		"none/x":        "",
	})
	for _, tt := range []struct{ words, want, err string }{
		{words: "k", want: "k/fs/a.ko:fs/a.ko k/fs/b.ko:fs/b.ko k/net/c.ko.xz:net/c.ko.xz"},
		{words: "k/", want: "k/fs/a.ko:fs/a.ko k/fs/b.ko:fs/b.ko k/net/c.ko.xz:net/c.ko.xz"},
		{words: "link", want: "link/fs/a.ko:fs/a.ko link/fs/b.ko:fs/b.ko link/net/c.ko.xz:net/c.ko.xz"},
		{words: "one.ko k/fs/a.o", want: "one.ko:one.ko k/fs/a.o:k/fs/a.o"},
		{words: "list", want: "one.ko:one.ko k/fs/b.ko:k/fs/b.ko"},
		{words: "k/fs list ./one.ko link/fs/a.ko", want: "k/fs/a.ko:a.ko k/fs/b.ko:b.ko one.ko:one.ko"},
		{words: "none", err: "none: no modules"},
		{words: "empty", err: "empty: no modules"},
		{words: "text.ko", want: "text.ko:text.ko"},
		{words: "missing", want: "one.ko:one.ko none.ko! k/fs! k/fs/b.ko:k/fs/b.ko",
			err: "missing: none.ko: cannot open: no such file or directory; missing: k/fs: cannot open: is a directory"},
		{words: "binary one.ko", want: "binary! one.ko:one.ko", err: "binary: neither a module nor a list of modules"},
		{words: "raw one.ko", want: "raw! one.ko:one.ko", err: "raw: neither a module nor a list of modules"},
		{words: "nowhere none.ko k/fs nowhere", want: "nowhere! none.ko! k/fs/a.ko:a.ko k/fs/b.ko:b.ko",
			err: "nowhere: cannot open: no such file or directory; none.ko: cannot open: no such file or directory"},
	} {
		mods, err := findModules(strings.Fields(tt.words))
		var failed []string
		for _, m := range mods {
			if m.err != nil {
				failed = append(failed, m.err.Error())
			}
		}
		if len(failed) > 0 {
			err = errors.New(strings.Join(failed, "; "))
		}
		if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
			t.Errorf("%s: error %v, want %q", tt.words, err, tt.err)
		}
		var got []string
		for _, m := range mods {
			if m.err != nil {
				got = append(got, m.path+"!")
			} else {
				got = append(got, m.path+":"+m.rel)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.words, s, tt.want)
		}
	}
	if got := ownRel("/lib/x.ko") + " " + ownRel("../y/x.ko") + " " + ownRel("a/../b/x.ko"); got != "x.ko x.ko b/x.ko" {
		t.Errorf("places %s", got)
	}
}

func TestLargestFirst(t *testing.T) {
	mods := []module{{path: "a", size: 1}, {path: "b", size: 3}, {path: "c", size: 3}, {path: "d", size: 2}}
	largestFirst(mods)
	var got string
	for _, m := range mods {
		got += m.path
	}
	if got != "bcda" {
		t.Errorf("order %s", got)
	}
}

func TestPlaceOutputs(t *testing.T) {
	mods := []module{{path: "k/fs/a.ko", rel: "fs/a.ko"}, {path: "none.ko", rel: "b.ko", err: errors.New("missing")}, {path: "b.ko", rel: "b.ko"}}
	if err := placeOutputs(mods, "out", sideFiles{extraVars: ".v"}, nil); err != nil {
		t.Fatal(err)
	}
	if mods[0].out != "out/fs/a.ko.btf" || mods[1].out != "" || mods[2].out != "out/b.ko.btf" || mods[0].extra != "out/fs/a.ko.v" || mods[0].root != "out" {
		t.Errorf("places %+v", mods)
	}
	two := []module{{path: "/a/x.ko", rel: "x.ko"}, {path: "/b/x.ko", rel: "x.ko"}}
	err := placeOutputs(two, "out", sideFiles{}, nil)
	if err == nil || err.Error() != "out/x.ko.btf: the BTF of /b/x.ko would be written there, and it is for the BTF of /a/x.ko" {
		t.Errorf("error %v", err)
	}
}
