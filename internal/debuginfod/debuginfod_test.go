package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var id = []byte("\x01\x02\x03\x04\x05\x06\x07\x08")

const idText = "0102030405060708"

func newClient() *Client { return &Client{Getenv: os.Getenv} }

// TestServers: when servers are asked, and how messages name them.
func TestServers(t *testing.T) {
	for _, x := range []struct {
		urls, want string
		id         []byte
		asks       bool
	}{
		{"", "", id, false},
		{"  ", "", id, false},
		{"https://one.example/", "https://one.example/", id, true},
		{"https://one.example two", "https://one.example and 1 more server", id, true},
		{"https://one.example two three", "https://one.example and 2 more servers", id, true},
		{"https://me:secret@one.example/?token=secret#secret", "https://me:xxxxx@one.example/", id, true},
		{"https://[broken", "a server", id, true},
		{"one", "one", nil, false},
		{"one", "one", id[:1], false},
		{"one", "one", make([]byte, 64), true},
		{"one", "one", make([]byte, 65), false},
	} {
		c := Client{Getenv: func(name string) string { return map[string]string{URLs: x.urls}[name] }}
		if got := c.Servers(); got != x.want || c.Asks(x.id) != x.asks {
			t.Errorf("%q, id of %d bytes: %q, asks %v", x.urls, len(x.id), got, c.Asks(x.id))
		}
	}
}

// TestProgram: what the client program may do.
func TestProgram(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	defer func(saved time.Duration) { grace = saved }(grace)
	grace = 0
	for _, x := range []struct{ what, script, want, errHas string }{
		{"a path", `[ "$1 $2" = "debuginfo ` + idText + `" ] && echo /cache/file`, "/cache/file", ""},
		{"limits", `echo "/$DEBUGINFOD_MAXSIZE/$DEBUGINFOD_MAXTIME/$LC_ALL"`, "/4294967296/1/C", ""},
		{"no such file", `echo first >&2; echo "Server query failed: No such file" >&2; exit 1`, "", "debuginfod-find: Server query failed: No such file"},
		{"silence", `exit 3`, "", "debuginfod-find: exit status 3"},
		{"no path", `echo hello`, "", `debuginfod-find printed no path: "hello"`},
		{"nothing", `exit 0`, "", `debuginfod-find printed no path: ""`},
		{"two lines", `echo /a; echo /b`, "", "debuginfod-find printed no path"},
		{"control characters", `printf 'a\033[1m\n' >&2; exit 1`, "", `debuginfod-find: a\x1b[1m`},
		{"text without end", `while :; do echo "$0 $0 $0 $0 $0 $0 $0 $0"; done`, "", "no answer within 1s"},
		{"no end", `exec sleep 100`, "", "no answer within 1s"},
		{"no end of a child", `sleep 5; echo /a`, "", "no answer within 1s"},
	} {
		t.Run(x.what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+x.script+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Setenv("DEBUGINFOD_MAXTIME", "1")
			t.Setenv("DEBUGINFOD_MAXSIZE", "")
			path, err := newClient().Find(context.Background(), id)
			if path != x.want || (err == nil) != (x.errHas == "") || err != nil && !strings.Contains(err.Error(), x.errHas) {
				t.Errorf("%q, %v; want %q, %q", path, err, x.want, x.errHas)
			}
		})
	}
	t.Run("the longest time", func(t *testing.T) { // also where an int has 32 bits
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\necho /$DEBUGINFOD_MAXTIME\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		t.Setenv("DEBUGINFOD_MAXTIME", "9999999999")
		if path, err := newClient().Find(context.Background(), id); path != "/2147483647" || err != nil {
			t.Errorf("%q, %v", path, err)
		}
	})
	t.Run("a path of a relative cache", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nmkdir cache; >cache/file; echo cache/file\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		t.Chdir(dir)
		if path, err := newClient().Find(context.Background(), id); err != nil || path != filepath.Join(dir, "cache/file") {
			t.Errorf("%q, %v", path, err)
		}
	})
	t.Setenv("PATH", t.TempDir())
	if _, err := newClient().Find(context.Background(), id); !errors.Is(err, ErrNoProgram) {
		t.Errorf("no program: %v", err)
	}
}

// TestHostileServers: elfutils' client gives what a server has, and ends with servers that
// have nothing, or more than anybody can want.
func TestHostileServers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 6 seconds")
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("no debuginfod-find: Debian's package debuginfod has it")
	}
	mux := http.NewServeMux()
	serve := func(name string, h http.HandlerFunc) {
		mux.HandleFunc("/"+name+"/buildid/"+idText+"/debuginfo", h)
	}
	serve("good", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the file") })
	serve("broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	serve("circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	serve("endless", func(w http.ResponseWriter, r *http.Request) {
		for b := make([]byte, 1<<16); r.Context().Err() == nil; {
			w.Write(b)
		}
	})
	serve("lying", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		fmt.Fprint(w, "short")
	})
	serve("huge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "99999999999")
		w.Header().Set("X-DEBUGINFOD-SIZE", "99999999999")
		fmt.Fprint(w, "short")
	})
	serve("silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer server.CloseClientConnections()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Skip("no loopback, as in a network namespace that nobody has set up: ", err)
	}
	answer.Body.Close()
	for _, name := range []string{"good", "nothing", "broken", "circle", "endless", "lying", "huge", "silent"} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			for variable, value := range map[string]string{URLs: server.URL + "/" + name, "DEBUGINFOD_CACHE_PATH": cache,
				"DEBUGINFOD_MAXTIME": "2", "DEBUGINFOD_MAXSIZE": "1000000", "DEBUGINFOD_RETRY_LIMIT": "0"} {
				t.Setenv(variable, value)
			}
			began := time.Now()
			path, err := newClient().Find(context.Background(), id)
			t.Logf("%v: %q, %v", time.Since(began), path, err)
			if name == "good" {
				if got, _ := os.ReadFile(path); string(got) != "the file" || !strings.HasPrefix(path, cache) {
					t.Errorf("%q has %q: %v", path, got, err)
				}
				return
			}
			if err == nil {
				t.Errorf("found %s", path)
			}
			if name == "endless" && runtime.GOOS == "linux" && strings.Contains(err.Error(), "expired") {
				t.Errorf("the file had no limit: %v", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			filepath.Walk(cache, func(path string, info os.FileInfo, err error) error {
				if err == nil && info.Size() > 4096 {
					t.Errorf("the cache has %s with %d bytes", path, info.Size())
				}
				return err
			})
		})
	}
}
