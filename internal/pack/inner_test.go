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

// expanded reads all files of a package as Expand gives them. What is wrong with a file alone is listed.
func expanded(p *Package) (text string, err error) {
	err = p.Each(func(f *File) error {
		done, err := f.Expand()
		if err == nil {
			defer done()
			var n int64
			n, err = io.Copy(io.Discard, f)
			text += fmt.Sprintf("%s %d\n", f.Name, n)
		}
		damage := new(FileDamage)
		if errors.As(err, &damage) {
			text += fmt.Sprintf("%s: %v\n", f.Name, err)
			return nil
		}
		return err
	})
	return text, err
}

// TestExpand: files that are compressed by themselves, and what is wrong with them, alone.
func TestExpand(t *testing.T) {
	zeros := make([]byte, 1<<20+1)
	row := func(name string, data []byte) at.Entry { return at.Entry{Name: name, Data: data} }
	for _, format := range at.Compressions[1:] {
		whole := at.Compress(format, long)
		list := []at.Entry{row("plain", long), row("whole", whole), row("empty", nil), row("nothing", at.Compress(format, nil)),
			row("cut", whole[:len(whole)/2]), row("magic", whole[:6]), row("damaged", patched(whole, len(whole)/2, "\xff\x00\xff\x00\xff\x00\xff\x00")),
			row("bomb", at.Compress(format, zeros[:1<<20])), row("large", at.Compress(format, zeros)), row("twice", at.Compress(format, whole)), row("last", whole)}
		want := []string{fmt.Sprintf("plain %d", len(long)), fmt.Sprintf("whole %d", len(long)), "empty 0", "nothing 0", "cut: ", "magic: ", "damaged: ",
			"bomb 1048576", "large: ", fmt.Sprintf("twice %d", len(whole)), fmt.Sprintf("last %d", len(long))}
		for kind, data := range map[string][]byte{"tar": at.Tar(list...), "deb": at.Deb("xz", list...), "rpm": at.RPM(at.Cpio(list...))} {
			got, err := expanded(Stream("in", bytes.NewReader(data), small))
			if err != nil {
				t.Errorf("%s %s: %v", format, kind, err)
			}
			lines := strings.Split(got, "\n")
			at := 0
			for _, line := range lines {
				if at < len(want) && (line == want[at] || strings.HasSuffix(want[at], ": ") && strings.HasPrefix(line, want[at])) {
					at++
				}
			}
			if at != len(want) {
				t.Errorf("%s %s: %q, want %q next", format, kind, got, want[at])
			}
		}
	}
}

// TestExpandTotal: files that are compressed by themselves count together.
func TestExpandTotal(t *testing.T) {
	var list []at.Entry
	for i := range 10 {
		list = append(list, at.Entry{Name: fmt.Sprint(i), Data: at.Compress("gz", make([]byte, 1<<20))})
	}
	limits := small
	limits.Ratio, limits.Total = 2000, 5<<20
	got, err := expanded(Stream("in", bytes.NewReader(at.Tar(list...)), limits))
	if err != nil || strings.Count(got, " 1048576\n") != 5 || !strings.Contains(got, "9: gzip: compressed files of the package expand to more than 5.0 MiB") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestExpandCutPackage: the end of the package within a file is damage of the package.
func TestExpandCutPackage(t *testing.T) {
	for _, format := range at.Compressions[1:] {
		whole := at.Tar(at.Entry{Name: "x", Data: at.Compress(format, long)})
		got, err := expanded(Stream("in", bytes.NewReader(whole[:5000]), small))
		if err == nil || !strings.Contains(err.Error(), "cut short") || strings.Contains(got, ": ") {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
}

// FuzzExpand reads anything as a file that is compressed by itself.
func FuzzExpand(f *testing.F) {
	for _, format := range at.Compressions {
		f.Add(at.Compress(format, long[:1000]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := small
		limits.File = 1 << 16
		if got, err := expanded(Stream("in", bytes.NewReader(at.Tar(at.Entry{Name: "x", Data: data[:min(len(data), 1<<16)]})), limits)); err != nil || strings.Count(got, "\n") > 2 {
			t.Errorf("%q, %v", got, err)
		}
	})
}
