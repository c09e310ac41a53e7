package man

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pageNames are the files of all pages.
func pageNames(t *testing.T) (names []string) {
	t.Helper()
	entries, err := pages.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestPlain: each page has the same words as man shows, in lines that fit.
func TestPlain(t *testing.T) {
	compared := []string{"btflite.1", "btflite-show.1", "btflite-cc.1"} // with man, which takes long
	requests := regexp.MustCompile(`(?m)^\.(TH|SH|SS|PP|TP|EX|EE|nh)\b|^[^.]|^$`)
	_, noMan := exec.LookPath("man")
	if noMan != nil {
		t.Log("no man to compare with")
	}
	for _, name := range pageNames(t) {
		page, err := pages.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(page)) {
			if !requests.MatchString(line) {
				t.Errorf("%s: Plain does not know %q", name, line)
			}
		}
		for _, columns := range []int{40, 80, 132} {
			text := string(Plain(page, columns, false))
			for line := range strings.Lines(text) {
				if n := width(strings.TrimSuffix(line, "\n")); n > columns && strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(line, "       ") {
					t.Errorf("%s: %d columns of %d: %q", name, n, columns, line)
				}
			}
			if strings.Contains(text, `\f`) || strings.Contains(text, "\x1b") || strings.Contains(text, "\n.") {
				t.Errorf("%s: troff or sequences are left", name)
			}
			if noMan != nil || columns != 80 || !slices.Contains(compared, name) {
				continue
			}
			cmd := exec.Command("man", "-l", name)
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat", "MANROFFOPT=-c", "MANWIDTH="+strconv.Itoa(columns))
			shown, err := cmd.Output()
			if err != nil {
				t.Skip("man does not show pages here: ", err)
			}
			if got, want := words(text), strings.ReplaceAll(words(overstruck.ReplaceAllString(string(shown), "")), "‐ ", ""); got != want {
				n := 0
				for n < min(len(got), len(want)) && got[n] == want[n] {
					n++
				}
				t.Errorf("%s: the words differ from man's behind %q: %.60q, want %.60q", name, got[max(n-40, 0):n], got[n:], want[n:])
			}
		}
		if styled := string(Plain(page, 80, true)); unstyled(styled) != string(Plain(page, 80, false)) || !strings.Contains(styled, styles['B']) {
			t.Errorf("%s: the styles change the text", name)
		}
	}
}

// overstruck is how man marks bold text where there is no terminal.
var overstruck = regexp.MustCompile(".\b")

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

func unstyled(text string) string {
	return strings.NewReplacer(styles['B'], "", styles['I'], "", styleEnd, "").Replace(text)
}

// TestPlainLayout: indents, tags and examples are where man has them.
func TestPlainLayout(t *testing.T) {
	const page = ".TH \"X\\-Y\" \"1\" \"2026-11-25\" \"btflite v1\" \"User Commands\"\n.nh\n\n.SH NAME\nx\\-y \\- do it\n\n.SH OPTIONS\n.SS Output\n.TP\n\\fB\\-j\\fP, \\fB\\-\\-jobs\\fP=\\fIN\\fP\nuse N workers, as many as there are processors in the machine\n\n.SH EXIT STATUS\n.TP\n0\nDone, and all that was asked for is written.\n.TP\n\\fBTMPDIR\\fP\nA folder.\n.SH EXAMPLES\n.EX\nx   \\-j4\n.EE\n"
	const want = `X-Y(1)     User Commands      X-Y(1)

NAME
       x-y - do it

OPTIONS
   Output
       -j, --jobs=N
              use N workers, as many
              as there are
              processors in the
              machine

EXIT STATUS
       0      Done, and all that was
              asked for is written.

       TMPDIR A folder.

EXAMPLES
       x   -j4

btflite v1   2026-11-25       X-Y(1)
`
	if got := string(Plain([]byte(page), 36, false)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for columns, want := range map[int]string{24: "X-Y(1)            X-Y(1)\n", 20: "X-Y(1)        X-Y(1)\n"} {
		if got := string(Plain([]byte(page), columns, false)); !strings.HasPrefix(got, want) {
			t.Errorf("%d columns: %q, want %q", columns, got[:40], want)
		}
	}
	if got := string(Plain([]byte(page), 36, true)); !strings.Contains(got, "\x1b[1m-j\x1b[m, \x1b[1m--jobs\x1b[m=\x1b[4mN\x1b[m\n") {
		t.Errorf("%q", got)
	}
}

// TestPage: a page has the version and the date at its end.
func TestPage(t *testing.T) {
	for _, name := range pageNames(t) {
		command := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(name, ".1"), "btflite"), "-")
		page, err := Page(command, "v1.2", "2026-11-25")
		if err != nil || !strings.Contains(string(page), ` "1" "2026-11-25" "btflite v1.2" "User Commands"`+"\n") {
			t.Errorf("%s: %v, %.60q", name, err, page)
		}
	}
}
