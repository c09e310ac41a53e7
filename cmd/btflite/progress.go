package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/btflite/btflite/internal/message"
)

// Progress appears after progressDelay and changes every progressStep.
const (
	progressDelay = time.Second
	progressStep  = 200 * time.Millisecond
)

// progress is one line on a terminal that shows how far the work is. A nil *progress does
// nothing.
type progress struct {
	w           io.Writer
	text        progressText
	columns     func() int // of the terminal
	began       time.Time
	done, total atomic.Uint64

	mu    sync.Mutex // held while writing
	drawn bool
	ended bool
	quit  chan struct{}
	g     *guard
}

// progressText makes the line from the finished and the total amount and the time left,
// which is "" if unknown. It returns several lines, shorter and shorter: the first one
// that fits is shown.
type progressText func(done, total uint64, left string) []string

// startProgress starts the line if stderr is a terminal, or returns nil. It shows none
// for pipes, under make -s, if silent is set, as with -q, and with -V, whose lines show
// enough.
func (c *cli) startProgress(silent bool, text progressText) *progress {
	f, ok := fileOf(c.stderr)
	makeflags, _ := c.lookupEnv("MAKEFLAGS")
	term, _ := c.lookupEnv("TERM")
	if !ok || silent || term == "dumb" || silentMake(makeflags) || !isTerminal(f) {
		return nil
	}
	p := newProgress(f, text, c.guard) // not c.stderr, which calls the guard
	c.guard.meter.Store(p)
	p.columns = func() int { return width(f) }
	go p.loop(progressDelay, progressStep)
	return p
}

func newProgress(w io.Writer, text progressText, g *guard) *progress {
	p := &progress{w: w, text: text, columns: func() int { return usualWidth }, began: time.Now(), quit: make(chan struct{}), g: g}
	g.setOnDeath(func(os.Signal) { p.clear() })
	return p
}

// fileProgress is the text for the encoding of one file, in bytes of
// .debug_info.
func fileProgress(path string) progressText {
	name := shortName(path)
	const mib = 1 << 20
	return func(done, total uint64, left string) []string {
		part := fmt.Sprintf("%3.0f%%", 100*float64(done)/float64(total))
		amount := fmt.Sprintf("%s  %d of %d MiB", part, done/mib, total/mib)
		return []string{name + ": " + amount + left, name + ": " + part + left, amount + left, amount, part}
	}
}

// countProgress is the text for a run over many things.
func countProgress(things string) progressText {
	return func(done, total uint64, left string) []string {
		part := fmt.Sprintf("%3.0f%%", 100*float64(done)/float64(total))
		count := fmt.Sprintf("%s  %s of %s %s", part, grouped(done), grouped(total), things)
		return []string{count + left, count, part}
	}
}

// shortName returns the name of a file without folders, cut to leave room on a line.
func shortName(path string) string {
	name := []rune(message.OneLine(filepath.Base(path)))
	const widest = 30
	if len(name) > widest {
		name = append(name[:widest-1], '…')
	}
	return string(name)
}

// leftText says how long the remaining work takes at the speed so far; "" if too little
// is finished to tell. It cannot include later work, such as writing.
func leftText(done, total uint64, so time.Duration) string {
	const least = 50 // 1/50 of the work must be finished
	if done == 0 || done < total/least {
		return ""
	}
	if done >= total {
		return ", finishing"
	}
	left := time.Duration(float64(so) * float64(total-done) / float64(done)).Round(time.Second)
	switch {
	case left < 2*time.Minute:
		return fmt.Sprintf(", %d s left", max(int(left.Seconds()), 1))
	case left < 2*time.Hour:
		return fmt.Sprintf(", %d min left", int(left.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf(", %d h left", int(left.Round(time.Hour).Hours()))
}

// fitting returns the first line that leaves the last column free, because some terminals
// start a new line when that column is written. It returns "" if none fits.
func fitting(lines []string, columns int) string {
	for _, l := range lines {
		if utf8.RuneCountInString(l) < columns {
			return l
		}
	}
	return ""
}

// update notes the finished and the total amount. Any goroutine may call it.
func (p *progress) update(done, total uint64) {
	if p == nil {
		return
	}
	p.done.Store(done)
	p.total.Store(total)
}

func (p *progress) loop(delay, step time.Duration) {
	wait := time.NewTimer(delay)
	defer wait.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-wait.C:
			p.draw()
			wait.Reset(step)
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := p.total.Load()
	if p.ended || total == 0 {
		return
	}
	done := min(p.done.Load(), total)
	io.WriteString(p.w, "\r\x1b[K"+fitting(p.text(done, total, leftText(done, total, time.Since(p.began))), p.columns()))
	p.drawn = true
}

// clear removes the line for good.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.hide()
}

// hide removes the line until it is drawn again: something else is to be printed.
func (p *progress) hide() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		p.drawn = false
		io.WriteString(p.w, "\r\x1b[K")
	}
}

// stop ends the progress and clears its line. It may be called twice.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.g.setOnDeath(nil)
	p.clear()
	select {
	case <-p.quit:
	default:
		close(p.quit)
	}
}

// silentMake reports whether MAKEFLAGS says that this runs under make -s: its first word
// has the one-letter options, without a dash.
func silentMake(makeflags string) bool {
	first, _, _ := strings.Cut(makeflags, " ")
	return !strings.HasPrefix(first, "-") && !strings.Contains(first, "=") && strings.Contains(first, "s")
}
