package elfwrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// setTwo sets .BTF and .BTF.base together.
func setTwo(path, text, base string) error {
	return Set(path, nil, nil, textSection(".BTF", text), textSection(".BTF.base", base))
}

// TestSetTwoSections: both are there, nothing else has changed, and neither the
// history of the file nor a second run shows.
func TestSetTwoSections(t *testing.T) {
	other := elftest.Section{Name: ".BTF.base", Data: []byte("an old base")}
	starts := map[string][]elftest.Section{
		"absent":         plain,
		"one is there":   withBTF(elftest.Section{Data: []byte("old")}),
		"the other":      append(plain[:len(plain):len(plain)], other),
		"both":           append(withBTF(elftest.Section{Data: []byte("old")}), other),
		"base in front":  append([]elftest.Section{other}, withBTF(elftest.Section{Data: []byte("old")})...),
		"both not there": append(withBTF(elftest.Section{Type: elftest.Nobits, Size: 1 << 20}), elftest.Section{Type: elftest.Nobits, Name: ".BTF.base"}),
	}
	for name, parts := range starts {
		for i, fm := range []elftest.Image{{}, {Linked: true, Extended: true}, {Names: ".rel.BTF.base\x00"}, {Tail: "signature"}} {
			t.Run(fmt.Sprintf("%s %+v", name, fm), func(t *testing.T) {
				l := elftest.Layouts[i]
				start := build(l, fm, parts...)
				path := file(t, start)
				text, base := "the new contents", "the new base, odd"
				if err := setTwo(path, text, base); err != nil {
					t.Fatal(err)
				}
				once := testfile.Read(t, path)
				checkTwo(t, start, once, text, base)
				if err := setTwo(path, text, base); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(testfile.Read(t, path), once) {
					t.Error("a second run changed the file")
				}
				for _, sizes := range [][2]int{{1, 2}, {900, 0}, {0, 900}, {333, 334}} {
					text, base := strings.Repeat("x", sizes[0]), strings.Repeat("y", sizes[1])
					if err := setTwo(path, text, base); err != nil {
						t.Fatal(err)
					}
					checkTwo(t, start, testfile.Read(t, path), text, base)
				}
				if n := len(testfile.Read(t, path)); n > len(start)+2*900+400 {
					t.Errorf("%d bytes became %d", len(start), n)
				}
			})
		}
	}
}

func checkTwo(t *testing.T, start, after []byte, text, base string) {
	t.Helper()
	if got, _ := contents(t, after, ".BTF"); got != text {
		t.Errorf(".BTF is %q, want %q", got, text)
	}
	if got, _ := contents(t, after, ".BTF.base"); got != base {
		t.Errorf(".BTF.base is %q, want %q", got, base)
	}
	want, _ := sections(t, start, ".shstrtab", ".BTF", ".BTF.base")
	if got, _ := sections(t, after, ".shstrtab", ".BTF", ".BTF.base"); got != want {
		t.Errorf("other sections changed: (-want +got)\n%s", cmp.Diff(want, got))
	}
}

// TestSetTwoAfterOne: a .BTF that an earlier run added does not stay behind.
func TestSetTwoAfterOne(t *testing.T) {
	for _, l := range elftest.Layouts {
		start := build(l, elftest.Image{}, plain...)
		direct := file(t, start)
		if err := setTwo(direct, "contents", "base"); err != nil {
			t.Fatal(err)
		}
		path := file(t, start)
		for _, text := range []string{"an earlier run had more to say", "contents"} {
			if err := setText(path, ".BTF", text); err != nil {
				t.Fatal(err)
			}
		}
		if err := setTwo(path, "contents", "base"); err != nil {
			t.Fatal(err)
		}
		a, b := testfile.Read(t, direct), testfile.Read(t, path)
		if len(a) != len(b) {
			t.Errorf("the file has %d bytes, %d after an earlier run", len(a), len(b))
		}
		checkTwo(t, start, b, "contents", "base")
	}
}

func TestSetTwoErrors(t *testing.T) {
	start := build(elftest.Little64, elftest.Image{}, plain...)
	path := file(t, start)
	fail := errors.New("no base")
	for name, set := range map[string][]Section{
		"given twice":        {textSection(".BTF", "a"), textSection(".BTF", "b")},
		"no base":            {textSection(".BTF", "a"), {Name: ".BTF.base", Size: 3, Write: func(io.Writer) error { return fail }}},
		"2 were announced":   {textSection(".BTF", "a"), {Name: ".BTF.base", Size: 2, Write: textSection("", "b").Write}},
		"cannot be replaced": {textSection(".BTF", "a"), textSection(".shstrtab", "b")},
	} {
		if err := Set(path, nil, nil, set...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
		if !bytes.Equal(testfile.Read(t, path), start) {
			t.Errorf("%s: file changed", name)
		}
		onlyFile(t, path)
	}
}
