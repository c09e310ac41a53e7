package funcs

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// TestSpellingOfPfunct: the table says what pfunct 1.32 prints.
func TestSpellingOfPfunct(t *testing.T) {
	pfunct := corpus.Need(t, "pfunct")
	file := filepath.Join(t.TempDir(), "f.btf")
	for _, tt := range spellings {
		b := newBuilder()
		b.function("f", 0, tt.words, tt.words)
		testfile.Write(t, file, b.set(t).v.Blob().Encode())
		want := tt.want
		if tt.pfunct != "" {
			want = tt.pfunct
		}
		var lines []string
		for _, args := range [][]string{{"-A"}, {"-A", "--no_parm_names"}} {
			out, err := exec.Command(pfunct, append(args, file)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.TrimSuffix(string(out), "\n"))
		}
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("%s: pfunct prints %s\nnot %s", tt.words, got, want)
		}
	}
}
