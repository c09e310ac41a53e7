package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// given reads the files of a package to its end, or up to the first file. It returns the names and contents that
// were read without an error.
func given(data []byte, first bool) (texts []string, err error) {
	err = Stream("in", bytes.NewReader(data), UsualLimits).Each(func(f *File) error {
		data, err := io.ReadAll(f)
		if damage := new(FileDamage); errors.As(err, &damage) {
			return nil
		}
		texts = append(texts, fmt.Sprintf("%s %x", f.Name, data))
		if err == nil && first {
			err = ErrStop
		}
		return err
	})
	return texts, err
}

// TestSums: a package that lists the checksums of its files gives no file with other contents, whatever bit has
// flipped, though nothing else has a checksum or nobody reads up to it.
func TestSums(t *testing.T) {
	files := []at.Entry{{Name: "./usr/a", Data: noise(1500)}, {Name: "./usr/lib/b", Data: noise(2500)}, {Name: "./c"}}
	want := map[string]bool{}
	for _, e := range files {
		want[fmt.Sprintf("%s %x", e.Name[2:], e.Data)] = true
	}
	type source struct {
		kind, format string
	}
	for _, s := range []source{{"deb", ""}, {"deb", "gz"}, {"deb", "zst"}, {"deb", "bare zst"}, {"rpm", ""}, {"rpm", "gz"}, {"rpm", "bare zst"}} {
		pkg := map[string]func(string, ...at.Entry) []byte{"deb": at.SummedDeb, "rpm": at.SummedRPM}[s.kind](s.format, files...)
		for _, first := range []bool{false, true} {
			if got, err := given(pkg, first); err != nil || len(got) != len(files) && !first {
				t.Fatalf("%v: %d files, %v", s, len(got), err)
			}
			wrong, refused := 0, 0
			for i := 0; i < len(pkg); i += 7 {
				data := bytes.Clone(pkg)
				data[i] ^= 1 << (i / 7 % 8)
				got, err := given(data, first)
				if err != nil {
					refused++
					continue
				}
				for _, text := range got {
					if !want[text] {
						wrong++
					}
				}
			}
			if wrong > 0 || refused == 0 {
				t.Errorf("%v, to the first file only %v: %d flipped bits give other contents, %d are refused", s, first, wrong, refused)
			}
		}
	}
}

// TestSumsOfRPMs: an rpm whose tags about files do not fit together, or that has digests of an unknown kind, is read
// as one without.
func TestSumsOfRPMs(t *testing.T) {
	for _, c := range []struct {
		algorithm      uint32
		names, digests []string
		checked        bool
	}{
		{8, []string{"/a"}, []string{"00"}, false},
		{8, []string{"/a", "/b"}, []string{"00"}, false},
		{99, []string{"/a"}, []string{"d41d8cd98f00b204e9800998ecf8427e"}, false},
		{1, nil, nil, false},
		{1, []string{"/a"}, []string{"d41d8cd98f00b204e9800998ecf8427e"}, true}, // of no bytes
	} {
		s := new(sums)
		s.setDigests(c.algorithm, c.names, c.digests)
		data, err := io.ReadAll(s.check("a", bytes.NewReader([]byte("text"))))
		if damage := new(FileDamage); errors.As(err, &damage) != c.checked || string(data) != "text" {
			t.Errorf("%+v: %q, %v", c, data, err)
		}
	}
	for name, tags := range map[string]*rpmTags{
		"too few folders": {lists: map[uint32][]string{tagBaseNames: {"a"}, tagDirNames: {"/"}}, numbers: map[uint32][]uint32{tagDirIndexes: {1}}},
		"too few indexes": {lists: map[uint32][]string{tagBaseNames: {"a", "b"}, tagDirNames: {"/"}}, numbers: map[uint32][]uint32{tagDirIndexes: {0}}},
	} {
		if got := tags.files(); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLongFolder: an rpm whose files are all in one folder with a long name has no list of files, which would take a
// thousand times as much memory as the header.
func TestLongFolder(t *testing.T) {
	for _, c := range []struct{ files, folder int }{{8, 4000}, {maxListed, 4000}, {maxListed, 100}} {
		tags := &rpmTags{lists: map[uint32][]string{tagBaseNames: make([]string, c.files), tagDirNames: {strings.Repeat("d", c.folder)}}, numbers: map[uint32][]uint32{tagDirIndexes: make([]uint32, c.files)}}
		want := c.files
		if c.files*c.folder > maxSums {
			want = 0
		}
		if got := tags.files(); len(got) != want {
			t.Errorf("%+v: %d names", c, len(got))
		}
	}
}
