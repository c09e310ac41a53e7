// Package browser asks a headless Chromium about pages, for tests.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Browser is a headless Chromium that is asked over pipes: its descriptors 3 and 4
// take and give messages of the DevTools protocol, each with a NUL behind it.
type Browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	id      int
	Faults  []string // what the console and uncaught errors said
}

// Start starts a browser that ends with the test. Without Chromium, and in a short run, the test is
// skipped.
func Start(t *testing.T) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium here (Debian's package chromium)")
	}
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: processes of the browser may write there until after its end.
	profile, err := os.MkdirTemp("", "btflite-browser")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+profile, "--window-size=1200,800", "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{in, out}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	t.Cleanup(func() {
		toBrowser.Close()
		cmd.Process.Kill()
		cmd.Wait()
		fromBrowser.Close()
		for range 50 {
			if os.RemoveAll(profile) == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	fromBrowser.SetReadDeadline(time.Now().Add(5 * time.Minute))
	b := &Browser{t: t, in: toBrowser, out: bufio.NewReader(fromBrowser)}
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

// Call asks the browser for something and waits for the answer. What it says
// meanwhile about errors is kept.
func (b *Browser) Call(method string, params any, result any) {
	b.t.Helper()
	b.id++
	msg, err := json.Marshal(map[string]any{"id": b.id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		msg, err = json.Marshal(map[string]any{"id": b.id, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(msg, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
			b.t.Fatal(err)
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			b.Faults = append(b.Faults, string(text))
		}
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// Open shows a page and waits until its script has run.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
	if !b.wait(func() bool { return b.Eval(`document.readyState + " " + location.href`) == "complete "+url }) {
		b.t.Fatalf("%s does not load", url)
	}
}

// Eval is the text of a JavaScript expression's value.
func (b *Browser) Eval(expr string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": "String(" + expr + ")", "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expr, r.ExceptionDetails)
	}
	return r.Result.Value.(string)
}

// Key presses a key.
func (b *Browser) Key(name string) {
	b.t.Helper()
	k := map[string]any{"type": "keyDown", "key": name, "code": name}
	if len(name) == 1 {
		k["text"] = name
	}
	b.Call("Input.dispatchKeyEvent", k, nil)
	k["type"] = "keyUp"
	delete(k, "text")
	b.Call("Input.dispatchKeyEvent", k, nil)
}

// Text types a text.
func (b *Browser) Text(s string) {
	b.t.Helper()
	b.Call("Input.insertText", map[string]any{"text": s}, nil)
}

// Check waits until an expression has a value. It may evaluate it often: what changes the page, and
// not to the same each time, is for Eval.
func (b *Browser) Check(what, expr, want string) {
	b.t.Helper()
	got := ""
	if !b.wait(func() bool { got = b.Eval(expr); return got == want }) {
		b.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// patience is how long a busy machine may take for what follows an event.
const patience = 30 * time.Second

// wait waits until a condition holds. After a failure it does not wait long for others.
func (b *Browser) wait(holds func() bool) bool {
	most := patience
	if b.t.Failed() {
		most = time.Second
	}
	for end := time.Now().Add(most); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Screenshot is kept where BTFLITE_SCREENSHOTS names a folder.
func (b *Browser) Screenshot(name string) {
	dir := os.Getenv("BTFLITE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.Call("Page.captureScreenshot", nil, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
