package main

import (
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
		"missing":       "one.ko\nnone.ko\n",
		"binary":        "\x00\x01",
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
		{words: "missing", err: "missing: none.ko: cannot open: no such file or directory"},
		{words: "binary", err: "binary: neither a module nor a list of modules"},
		{words: "nowhere", err: "nowhere: cannot open: no such file or directory"},
	} {
		mods, err := findModules(strings.Fields(tt.words))
		if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
			t.Errorf("%s: error %v, want %q", tt.words, err, tt.err)
		}
		var got []string
		for _, m := range mods {
			got = append(got, m.path+":"+m.rel)
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

func TestPlaceDetached(t *testing.T) {
	tree(t, map[string]string{"out/keep": "", "file": ""})
	mods := []module{{path: "k/fs/a.ko", rel: "fs/a.ko"}, {path: "b.ko", rel: "b.ko"}}
	if err := placeDetached(mods, "out"); err != nil {
		t.Fatal(err)
	}
	if mods[0].out != "out/fs/a.ko.btf" || mods[1].out != "out/b.ko.btf" {
		t.Errorf("places %+v", mods)
	}
	if info, err := os.Stat("out/fs"); err != nil || !info.IsDir() {
		t.Errorf("no folder out/fs: %v", err)
	}
	for dir, want := range map[string]string{
		"none": "none: cannot write: no such file or directory",
		"file": "file: cannot write: is not a directory",
	} {
		if err := placeDetached(mods, dir); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	two := []module{{path: "/a/x.ko", rel: "x.ko"}, {path: "/b/x.ko", rel: "x.ko"}}
	if err := placeDetached(two, "out"); err == nil || err.Error() != "out/x.ko.btf: would be written for /a/x.ko and for /b/x.ko" {
		t.Errorf("error %v", err)
	}
}
