package page

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/test/browser"
	"github.com/btflite/btflite/test/testfile"
)

// long has structs whose names and types are long. In second, members have come, gone,
// moved, grown, shrunk, changed their type and their order.
func long(t *testing.T, second bool) *view.View {
	t.Helper()
	b := btftest.New()
	name := func(s string) uint32 { return b.Str(s + strings.Repeat("_of_a_member_with_a_long_name", 3)) }
	i := b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	l := b.Add("long unsigned int", btf.Info(btf.KindInt, 0, false), 8, 64)
	inner := b.Add(strings.Repeat("a_type_with_a_long_name_", 5), btf.Info(btf.KindStruct, 2, false), 16, name("in"), l, 0, name("out"), l, 64)
	ptr := b.Add("", btf.Info(btf.KindPtr, 0, false), inner)
	proto := b.Add("", btf.Info(btf.KindFuncProto, 4, false), ptr, name("p1"), ptr, name("p2"), ptr, name("p3"), ptr, name("p4"), ptr)
	fn := b.Add("", btf.Info(btf.KindPtr, 0, false), proto)
	arr := func(n uint32) uint32 { return b.Add("", btf.Info(btf.KindArray, 0, false), 0, l, i, n) }
	grows, shrinks := arr(100), arr(9)
	if second {
		grows, shrinks = arr(120), arr(3)
	}
	first := []uint32{name("same"), fn, name("gone"), l, name("grows"), grows, name("shrinks"), shrinks, name("other"), l, name("x"), inner, name("y"), fn}
	if second {
		first = []uint32{name("same"), fn, name("new"), l, name("newer"), l, name("grows"), grows, name("shrinks"), shrinks, name("other"), fn, name("y"), fn, name("x"), inner}
	}
	var members []uint32
	at := uint32(0)
	for k := 0; k < len(first); k += 2 {
		members = append(members, first[k], first[k+1], at)
		switch first[k+1] {
		case grows:
			at += 64 * map[bool]uint32{false: 100, true: 120}[second]
		case shrinks:
			at += 64 * map[bool]uint32{false: 9, true: 3}[second]
		case inner:
			at += 128
		default:
			at += 64
		}
	}
	b.Add("a_struct"+strings.Repeat("_with_a_long_name", 6), btf.Info(btf.KindStruct, uint32(len(members)/3), false), at/8+24, members...)
	return view.New(b.Blob(t))
}

// TestBrowserFits: at any width, light and dark, nothing is wider than the page, no column
// of a table is cut, and text can be read on what is behind it.
func TestBrowserFits(t *testing.T) {
	b := browser.Start(t)
	dir := t.TempDir()
	pages := []string{"one", "two", "none"}
	for i, write := range []func(w *bytes.Buffer) error{
		func(w *bytes.Buffer) error {
			v := long(t, false)
			return Write(w, v, ids(v), Options{Title: strings.Repeat("folder/", 20) + "vmlinux"})
		},
		func(w *bytes.Buffer) error {
			name := strings.Repeat("folder/", 20)
			_, err := Compare(w, long(t, false), long(t, true), [2]string{name + "old", name + "new"}, Options{})
			return err
		},
		func(w *bytes.Buffer) error {
			_, err := Compare(w, long(t, false), long(t, false), [2]string{"old", "new"}, Options{})
			return err
		},
	} {
		var html bytes.Buffer
		if err := write(&html); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, pages[i]+".html"), html.Bytes())
	}
	const wide = `[document.documentElement, $("main"), $("list"), document.querySelector("header")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.tagName + " " + e.scrollWidth + " in " + e.clientWidth).join(", ")`
	const outside = `[...document.querySelectorAll("main *, header *, #keys *")].filter(e => e.tagName !== "OPTION" && e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + .5).map(e => e.tagName + "." + e.className).join(", ")`
	const cut = `[...document.querySelectorAll("td, th, .legend li, .facts, h2, h3")].filter(e => e.getClientRects().length && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent).join(", ")`
	// The cells of a member have one height on both sides, and so do the bars of a line.
	const level = `[...document.querySelectorAll("table.both tbody tr")].every(r => new Set([...r.children].map(c => c.getBoundingClientRect().top)).size === 1) &&
		[...document.querySelectorAll(".picture.both .at")].every(e => e.nextElementSibling.getBoundingClientRect().top === e.nextElementSibling.nextElementSibling.getBoundingClientRect().top)`
	// The contrast of text and back, as WCAG computes it.
	const contrast = `(() => {
		const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgb = css => { c.clearRect(0, 0, 1, 1); c.fillStyle = css; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
		const light = css => { const [r, g, b] = rgb(css).slice(0, 3).map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
		const back = e => { for (; e; e = e.parentElement) { const s = getComputedStyle(e); if (rgb(s.backgroundColor)[3] === 255) return s.backgroundColor; } return "white"; };
		const bad = new Set();
		for (const e of document.querySelectorAll("main *, header *, #keys, #list .name, #list .size")) {
			if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
			const a = light(getComputedStyle(e).color), b = light(back(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
			if (ratio < 4.5) bad.add(e.className + " " + e.textContent.slice(0, 20) + " " + ratio.toFixed(2));
		}
		return [...bad].join(", ");
	})()`
	for _, width := range []int{1600, 1201, 701, 400} {
		for _, scheme := range []string{"light", "dark"} {
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
			b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			for _, page := range pages {
				b.Open("file://" + dir + "/" + page + ".html")
				at := page + " at " + strconv.Itoa(width) + ", " + scheme
				b.Check(at+": too wide", wide, "")
				b.Check(at+": outside", outside, "")
				b.Check(at+": cut", cut, "")
				b.Check(at+": hard to read", contrast, "")
				if width > 1200 {
					b.Check(at+": both sides are level", level, "true")
				}
				if page == "two" {
					b.Check(at+": a list of one is not there", `getComputedStyle($("list")).display + " " + ($("main").getBoundingClientRect().left < 20)`, "none true")
					b.Check(at+": the rows of one side", `getComputedStyle(document.querySelector(".picture .at"), "::before").content`, map[bool]string{true: "none", false: `"A"`}[width > 1200])
					want := "− + ↑ ↓ ≠ →"
					b.Check(at+": the marks", `["gone", "new", "grows", "shrinks", "other", "moved"].map(m => [...new Set([...document.querySelectorAll(".picture .block." + m)].map(e => e.textContent[0]))].join("")).join(" ")`, want)
				}
				b.Screenshot(page + "-" + strconv.Itoa(width) + "-" + scheme)
			}
		}
	}
	if len(b.Faults) > 0 {
		t.Errorf("the console says:\n%s", strings.Join(b.Faults, "\n"))
	}
}

// TestBrowserShowsPictures: a picture follows the scheme of the reader.
func TestBrowserShowsPictures(t *testing.T) {
	b := browser.Start(t)
	dir := t.TempDir()
	v := sample(t, false)
	var svg bytes.Buffer
	if err := SVG(&svg, v, v.Named("item")[0], Options{}); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "item.svg"), svg.Bytes())
	for scheme, want := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"} {
		b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		b.Open("file://" + dir + "/item.svg")
		b.Check(scheme, `getComputedStyle(document.querySelector(".back")).fill`, want)
		b.Check(scheme+": the boxes hold their text", `[...document.querySelectorAll("text")].every(e => e.getBBox().x >= 0 && e.getBBox().x + e.getBBox().width <= document.documentElement.viewBox.baseVal.width)`, "true")
		b.Screenshot("item-svg-" + scheme)
	}
}
