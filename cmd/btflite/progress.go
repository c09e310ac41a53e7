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

// progress is one line on a terminal that tells how far the work is. A nil
// *progress does nothing.
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

// progressText makes the line of how much is done, what there is in all, and how long the
// rest may take, "" if that is not known. It returns lines that say less and less: the
// first that fits is shown.
type progressText func(done, total uint64, left string) []string

// startProgress starts the line if stderr is a terminal, or returns nil: for
// pipes, under make -s, and if it is to be silent, as with -q, and with -V, whose
// lines are progress enough.
func (c *cli) startProgress(silent bool, text progressText) *progress {
	f, ok := c.stderr.(*os.File)
	makeflags, _ := c.lookupEnv("MAKEFLAGS")
	term, _ := c.lookupEnv("TERM")
	if !ok || silent || term == "dumb" || silentMake(makeflags) || !isTerminal(f) {
		return nil
	}
	p := newProgress(c.stderr, text, c.guard)
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

// shortName is the name of a file without folders, cut so that it leaves room on a line.
func shortName(path string) string {
	name := []rune(message.OneLine(filepath.Base(path)))
	const widest = 30
	if len(name) > widest {
		name = append(name[:widest-1], '…')
	}
	return string(name)
}

// leftText says how long the rest takes, if it goes on as fast as so far; "" if too little
// is done to tell. What comes when all is done, such as writing, cannot be told.
func leftText(done, total uint64, so time.Duration) string {
	const least = 50 // one part in so many must be done
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

// fitting is the first of lines that leaves the last column free: some terminals go to a
// new line as soon as that is written. If none does, it is "".
func fitting(lines []string, columns int) string {
	for _, l := range lines {
		if utf8.RuneCountInString(l) < columns {
			return l
		}
	}
	return ""
}

// update notes how much is done and what there is in all. It may be called from
// any goroutine.
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
	defer p.mu.Unlock()
	p.ended = true
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

// silentMake tells from MAKEFLAGS whether we run under make -s: the first
// word holds the one-letter options, without a dash.
func silentMake(makeflags string) bool {
	first, _, _ := strings.Cut(makeflags, " ")
	return !strings.HasPrefix(first, "-") && !strings.Contains(first, "=") && strings.Contains(first, "s")
}
