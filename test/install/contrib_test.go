package install

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/sourcetree"
	"github.com/btflite/btflite/test/testfile"
)

// TestContrib: scripts/contrib.sh fills in version, address and sums, and a shell can read the recipes
// that are for one.
func TestContrib(t *testing.T) {
	corpus.Installed(t, "bash", "sha256sum", "sha512sum", "md5sum")
	release, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	fill := func() (string, error) {
		return sourcetree.Try(filepath.Join("..", ".."), "env", "URL=https://example.org/files", "scripts/contrib.sh", release, out)
	}
	sums := make(map[string]string)
	for _, name := range []string{"btflite-1.2.3-rc.1.tar.gz", "btflite-1.2.3-rc.1-linux-amd64.tar.gz"} {
		testfile.Write(t, filepath.Join(release, name), name)
		sum := sha256.Sum256([]byte(name))
		sums[name] = hex.EncodeToString(sum[:])
	}
	if text, err := fill(); err == nil || !strings.Contains(text, "has no btflite-1.2.3-rc.1-linux-arm64.tar.gz, whose sum a recipe needs") {
		t.Errorf("without arm64: %v, %s", err, text)
	}
	testfile.Write(t, filepath.Join(release, "btflite-1.2.3-rc.1-linux-arm64.tar.gz"), "")
	if text, err := fill(); err != nil {
		t.Fatalf("%v, %s", err, text)
	}
	for name, want := range map[string][]string{
		"buildroot/package/btflite/btflite.mk":                        {"BTFLITE_VERSION = 1.2.3-rc.1\n", "BTFLITE_SITE = https://example.org/files\n"},
		"buildroot/package/btflite/btflite.hash":                      {sums["btflite-1.2.3-rc.1-linux-amd64.tar.gz"]},
		"openwrt/tools/btflite/Makefile":                              {sums["btflite-1.2.3-rc.1-linux-amd64.tar.gz"]},
		"yocto/recipes-devtools/btflite/btflite-native_1.2.3-rc.1.bb": {sums["btflite-1.2.3-rc.1-linux-amd64.tar.gz"]},
		"gentoo/dev-util/btflite/btflite-1.2.3_rc1.ebuild":            {"https://example.org/files/${PN}-${MY_PV}.tar.gz", "MY_PV=\"1.2.3-rc.1\"\n"},
		"arch/PKGBUILD":      {"pkgver=1.2.3rc1\n", "_version=1.2.3-rc.1\n", sums["btflite-1.2.3-rc.1.tar.gz"]},
		"nixos/overlay.nix":  {sums["btflite-1.2.3-rc.1.tar.gz"]},
		"armbian/btflite.sh": {sums["btflite-1.2.3-rc.1-linux-amd64.tar.gz"]},
		"alpine/APKBUILD":    {"pkgver=1.2.3_rc1\n", "_version=1.2.3-rc.1\n"},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s: no %s", name, w)
			}
		}
		if left := regexp.MustCompile(`@[A-Z]+(:|@)`).Find(text); left != nil {
			t.Errorf("%s: %s is not filled in", name, left)
		}
		if strings.HasSuffix(name, "BUILD") || strings.HasSuffix(name, ".ebuild") || strings.HasSuffix(name, ".sh") {
			if text, err := exec.Command("bash", "-n", filepath.Join(out, name)).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// TestContribSaysWhatWasTried: each folder has a README of some ten lines that says so.
func TestContribSaysWhatWasTried(t *testing.T) {
	entries, err := os.ReadDir("../../contrib")
	if err != nil || len(entries) < 10 {
		t.Fatalf("%q, %v", entries, err)
	}
	for _, folder := range entries {
		if !folder.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../../contrib", folder.Name(), "README.md"))
		if err != nil {
			t.Error(err)
		}
		if n := strings.Count(string(text), "\n"); n > 22 || !regexp.MustCompile(`(?m)^(Tried|Not tried)\b`).Match(text) {
			t.Errorf("%s: %d lines; it must say what was tried", folder.Name(), n)
		}
	}
}
