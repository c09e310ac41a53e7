package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/test/testfile"
)

// TestPathsStayInside: no record, of a package, a kernel, modules or all kernels, makes a run read or write outside of
// the archive. The error names the record.
func TestPathsStayInside(t *testing.T) {
	for _, outside := range []string{"../", "/", "debian/../../"} {
		for _, record := range []string{"packages/a.tar.json", kernelName + ".json", kernelName + "/modules.json", "index.json"} {
			dir, a := packages(t, map[string][]byte{"a.tar": threeModules(), "b.tar": threeModules()}), moduleArchive(t)
			a.Dir = filepath.Join(dir, "deep/archive")
			if err := os.MkdirAll(a.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			add(t, a, filepath.Join(dir, "a.tar"))
			x, err := Merge(a.Dir)
			if err == nil {
				err = x.Write(a.Dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(a.Dir, record)
			data := bytes.Replace(testfile.Read(t, file), []byte(`"btf": "`), []byte(`"btf": "`+outside), 1)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, file, data)
			if record == kernelName+"/modules.json" {
				if err := os.Remove(filepath.Join(a.Dir, kernelName, "a.btf")); err != nil { // else the record is not read
					t.Fatal(err)
				}
			}
			before := len(files(t, dir))
			errs := []error{}
			for _, name := range []string{"a.tar", "b.tar"} {
				_, err := a.Done(filepath.Join(dir, name))
				errs = append(errs, err)
				pkg, err := pack.Open(filepath.Join(dir, name), a.Limits)
				if err != nil {
					t.Fatal(err)
				}
				_, err = a.Add(pkg)
				errs = append(errs, err)
				pkg.Close()
			}
			_, err = Merge(a.Dir)
			errs = append(errs, err)
			for _, id := range []string{at.BuildID, "61020304"} { // of the kernel and of a module
				_, err = Find(a.Dir, id)
				errs = append(errs, err)
			}
			found := false
			for _, err := range errs {
				found = found || err != nil && strings.HasPrefix(err.Error(), file+": ") && strings.Contains(err.Error(), "leads out of the archive")
			}
			if !found {
				t.Errorf("%s, %s: %v", outside, record, errs)
			}
			for _, name := range files(t, dir) {
				if !strings.HasPrefix(name, "deep/archive/") && name != "a.tar" && name != "b.tar" {
					t.Errorf("%s, %s: wrote %s (%d files before)", outside, record, name, before)
				}
			}
		}
	}
}

// TestIndexFollowsLinks: a folder of an archive that is a link to another disk is in the index, at each depth, and a link
// that leads nowhere is an error: the disk may not be mounted.
func TestIndexFollowsLinks(t *testing.T) {
	for _, moved := range []string{"debian", "debian/12", "debian/12/x86_64"} {
		dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), moduleArchive(t)
		add(t, a, filepath.Join(dir, "a.tar"))
		want, err := Merge(a.Dir)
		if err != nil {
			t.Fatal(err)
		}
		from, to := filepath.Join(a.Dir, moved), filepath.Join(dir, "disk")
		if err = os.Rename(from, to); err == nil {
			err = os.Symlink(to, from)
		}
		if err != nil {
			t.Skip(err)
		}
		got, err := Merge(a.Dir)
		if err != nil || len(got.Kernels) != 1 || !equalRecords(&got.Kernels[0], &want.Kernels[0]) {
			t.Errorf("%s: %+v, %v", moved, got, err)
		}
		if err := os.Remove(from); err == nil {
			err = os.Symlink(to+"/nothing", from)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Merge(a.Dir); err == nil || !strings.HasPrefix(err.Error(), from+": ") {
			t.Errorf("%s: %v", moved, err)
		}
	}
}
