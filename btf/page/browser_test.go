package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// browser is a headless Chromium that is asked over pipes: its descriptors 3 and 4
// take and give messages of the DevTools protocol, each with a NUL behind it.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	id      int
	faults  []string // what the console and uncaught errors said
}

func startBrowser(t *testing.T) *browser {
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
	b := &browser{t: t, in: toBrowser, out: bufio.NewReader(fromBrowser)}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call asks the browser for something and waits for the answer. What it says
// meanwhile about errors is kept.
func (b *browser) call(method string, params any, result any) {
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
			b.faults = append(b.faults, string(text))
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

// open shows a page and waits until its script has run.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	for range 200 {
		if b.eval(`document.readyState + " " + location.href`) == "complete "+url {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("%s does not load", url)
}

// eval is the text of a JavaScript expression's value.
func (b *browser) eval(expr string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": "String(" + expr + ")", "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expr, r.ExceptionDetails)
	}
	return r.Result.Value.(string)
}

// key presses a key; text types.
func (b *browser) key(name string) {
	b.t.Helper()
	k := map[string]any{"type": "keyDown", "key": name, "code": name}
	if len(name) == 1 {
		k["text"] = name
	}
	b.call("Input.dispatchKeyEvent", k, nil)
	k["type"] = "keyUp"
	delete(k, "text")
	b.call("Input.dispatchKeyEvent", k, nil)
}

func (b *browser) text(s string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": s}, nil)
}

// check compares the value of an expression.
func (b *browser) check(what, expr, want string) {
	b.t.Helper()
	got := b.eval(expr)
	for range 50 { // what follows an event may take a moment
		if got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
		got = b.eval(expr)
	}
	b.t.Errorf("%s: %q, want %q", what, got, want)
}

// screenshot is kept where BTFLITE_SCREENSHOTS names a folder.
func (b *browser) screenshot(name string) {
	dir := os.Getenv("BTFLITE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", nil, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestBrowser uses a page as a reader does: it searches, opens, unfolds and
// follows a link, by keys and by the mouse.
func TestBrowser(t *testing.T) {
	b := startBrowser(t)
	v := sample(t, false)
	dir := t.TempDir()
	var html bytes.Buffer
	if err := Write(&html, v, ids(v), Options{Title: "sample"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page.html"), html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + dir + "/page.html")
	rows := `[...document.querySelectorAll("#list .row .name")].map(e => e.textContent).join(" ")`
	title, table := `document.querySelector("h2").textContent`, `document.querySelectorAll("tbody tr").length`

	b.check("the list", rows, `</script><b>&"' big item list_head`)
	b.key("/")
	b.text("item")
	b.check("a search", rows, "item")
	b.key("Enter")
	b.check("Enter", title, "struct item")
	b.check("its members, and the members of its union without a name", table, "10")
	b.check("its holes", `document.querySelector(".waste").textContent`, "1 hole, 14 bytes unused")
	b.check("bits have no room for letters", `[...document.querySelectorAll(".block.tiny")].map(e => e.textContent + e.title.split(":")[0]).join(" ")`, "kind low")
	b.check("hatched blocks", `document.querySelectorAll(".picture .block.h, .picture .block.p").length`, "2")
	b.check("the legend", `[...document.querySelectorAll(".legend li")].map(e => e.textContent).join(", ")`,
		"integer, pointer, pointer to a function, struct, hole, padding")
	b.check("colours are the classes' colours", `[...document.querySelectorAll(".picture button.block")].every(e => D.classes.some(c => e.style.getPropertyValue("--hue") == c[1]))`, "true")
	b.screenshot("item")

	// The page shows the struct again when the browser tells of the new address, which may be late.
	unfold := `document.querySelector('button.fold[aria-expanded="false"]')?.click(), `
	b.check("unfolding", `(`+unfold+table+`)`, "12")
	titles := `[...document.querySelectorAll(".picture .block")].map(e => e.title.split(",")[0]).join(" | ")`
	b.check("the picture unfolds", `(`+unfold+titles+`)`,
		"kind: int:3 | low: int:5 | hole | next: struct list_head * | prev: struct list_head * | ptr: struct list_head * | cb: void (*)(struct list_head * | last: char | padding | small: int")
	b.check("what a union has at one place lies below each other", `[...document.querySelectorAll(".picture .at")].map(e => e.textContent).join(" ")`, "0 or")
	b.check("folding", `(document.querySelector("button.fold").click(), `+table+`)`, "10")
	b.key("Escape")
	b.key("u")
	b.check("u unfolds all", table, "12")
	b.screenshot("unfolded")
	b.key("u")
	b.check("u folds all but what has no name", table, "10")
	for _, k := range []string{"/", "↑", "↓", "u", "s", "t", "Esc"} {
		b.check("the page names the key "+k, `[...document.querySelectorAll("#keys kbd")].some(e => e.textContent === "`+k+`") && $("keys").getBoundingClientRect().bottom <= innerHeight`, "true")
	}

	b.check("a link", `(document.querySelector("tbody a").click(), "")`, "")
	b.check("where it leads", title, "struct list_head")
	b.key("Escape")
	b.key("Escape")
	b.text("")
	b.check("no search", `($("search").value = "", search(""), document.querySelectorAll("#list .row").length)`, "4")
	b.key("ArrowDown")
	b.check("an arrow opens", title, "struct big")
	b.key("ArrowDown")
	b.check("arrows open", title, "struct item")
	b.check("and the address follows", `location.hash`, "#item")
	b.key("ArrowUp")
	b.check("up", title, "struct big")
	b.check("a long member has its name on each row", `[...document.querySelectorAll(".picture .block")].map(e => e.textContent).join(" ")`, "head buf buf buf buf")
	b.check("numbers have separators", `document.querySelector(".facts").textContent`, "4,112 bytes, 2 members, 65 cache lines")
	b.key("s")
	b.check("s sorts by size", rows, `big item list_head </script><b>&"'`)
	b.key("s")
	b.check("and by holes", rows, `item </script><b>&"' big list_head`)
	b.check("and says how many", `document.querySelector("#list .size").textContent`, "1 hole, 14 B")
	b.key("s")
	b.check("and by name again", rows, `</script><b>&"' big item list_head`)
	b.check("which keeps what is open", title, "struct big")
	b.check("members are searched", `(search(".prev"), `+rows+`)`, "list_head")
	b.check("a name that is not a type", `(location.hash = "#nothing", "")`, "")
	b.check("says so", `$("main").textContent`, "No type is called nothing.")
	b.check("names are text", `(location.hash = "#" + encodeURIComponent("</script><b>&\"'"), document.querySelectorAll("img, main b b, script").length)`, "2")
	b.check("light or dark", `(theme(), document.documentElement.dataset.theme)`, "dark")
	b.screenshot("dark")

	html.Reset()
	if err := Write(&html, v, ids(v), Options{Open: v.Named("list_head", btf.KindStruct)[0]}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "named.html"), html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + dir + "/named.html")
	b.check("what was asked for", title, "struct list_head")
	b.check("nothing is drawn behind its end", `[...document.querySelectorAll(".bar")].map(e => e.className + " " + getComputedStyle(e).borderTopColor).join(", ")`, "bar end rgba(0, 0, 0, 0)")
	b.check("its place in the list", `document.querySelector("#list [aria-selected=true] .name").textContent`, "list_head")

	var pair bytes.Buffer
	if _, err := Compare(&pair, v, sample(t, true), [2]string{"old.btf", "new.btf"}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pair.html"), pair.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + dir + "/pair.html")
	b.check("a comparison", title, "struct item")
	b.check("both sides", `[...document.querySelectorAll(".picture h3, th.side")].map(e => e.textContent).join(" ")`, "old.btf new.btf  old.btf new.btf")
	b.check("what moved", `[...document.querySelectorAll("tr.moved")].map(e => e.children[0].textContent + " " + e.children[3].textContent + " " + e.children[7].textContent).join(", ")`, "moved last last")
	b.check("the drawing says so", `[...document.querySelectorAll(".picture .block.moved")].map(e => e.textContent + ", " + e.getAttribute("aria-label")).join(" | ")`,
		"→last, last: char, at 40, 1 byte, moved | →last, last: char, at 48, 1 byte, moved")
	b.check("and the legend", `[...document.querySelectorAll(".legend li")].map(e => e.textContent).slice(-1)[0]`, "→ moved")
	b.check("and the list, in short", `[...document.querySelectorAll("#list .size")].map(e => e.textContent + (e.scrollWidth > e.clientWidth ? " is cut" : "")).join(", ")`, "+8 B →1, new")
	b.check("gaps before a member, and at the end, are level", `[...document.querySelectorAll("tr.hole, tr.pad")].map(e => [1, 2, 5, 6].map(k => e.children[k].textContent).join(" ")).join(", ")`, "1 7 1 7,   40 8, 41 7 49 7")
	b.screenshot("compare")
	b.key("ArrowDown")
	b.check("what is new", title, "struct only_here")
	b.check("is on one side", `document.querySelector("main .empty").textContent`, "old.btf: not there")
	b.check("all of it", `[...document.querySelectorAll(".picture .block.new, tr.new td.name.b")].map(e => e.textContent).join(" ")`, "+a a")

	if len(b.faults) > 0 {
		t.Errorf("the console says:\n%s", strings.Join(b.faults, "\n"))
	}
}

// TestBrowserOpensKernel: a page with all types of a kernel is small, and opens
// quickly. BTFLITE_BTF names the file with the kernel's BTF.
func TestBrowserOpensKernel(t *testing.T) {
	path := os.Getenv("BTFLITE_BTF")
	if path == "" {
		t.Skip("BTFLITE_BTF names no file")
	}
	v := view.New(btftest.Read(t, path, nil))
	dir := t.TempDir()
	var html bytes.Buffer
	if err := Write(&html, v, ids(v), Options{Title: filepath.Base(path)}); err != nil {
		t.Fatal(err)
	}
	if html.Len() > 15<<20 {
		t.Errorf("the page has %d bytes", html.Len())
	}
	if err := os.WriteFile(filepath.Join(dir, "all.html"), html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	open := time.Hour
	for range 3 { // the best of three: the machine may have other work
		b.open("about:blank")
		b.open("file://" + dir + "/all.html#task_struct")
		b.check("the struct", `document.querySelector("h2").textContent`, "struct task_struct")
		ms, err := strconv.ParseFloat(b.eval(`performance.getEntriesByType("navigation")[0].domComplete`), 64)
		if err != nil {
			t.Fatal(err)
		}
		open = min(open, time.Duration(ms*float64(time.Millisecond)))
	}
	b.screenshot("task_struct")
	start := time.Now()
	b.check("a search", `(search("task_struct"), document.querySelector("#list .row .name").textContent)`, "task_struct")
	t.Logf("%d types, %d bytes, open in %v, search in %v", len(ids(v)), html.Len(), open, time.Since(start))
	if open > time.Second {
		t.Errorf("opens in %v", open)
	}
}
