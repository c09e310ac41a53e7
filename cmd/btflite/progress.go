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
	text        func(done, total uint64) string // the line
	done, total atomic.Uint64

	mu    sync.Mutex // held while writing
	drawn bool
	ended bool
	quit  chan struct{}
	g     *guard
}

// startProgress starts the line if stderr is a terminal, or returns nil: for
// pipes, under make -s, and if it is to be silent, as with -q, and with -V, whose
// lines are progress enough. text makes the line of how much is done and what there is in all.
func (c *cli) startProgress(silent bool, text func(done, total uint64) string) *progress {
	f, ok := c.stderr.(*os.File)
	makeflags, _ := c.lookupEnv("MAKEFLAGS")
	term, _ := c.lookupEnv("TERM")
	if !ok || silent || term == "dumb" || silentMake(makeflags) || !isTerminal(f) {
		return nil
	}
	p := newProgress(c.stderr, text, c.guard)
	go p.loop(progressDelay, progressStep)
	return p
}

func newProgress(w io.Writer, text func(done, total uint64) string, g *guard) *progress {
	p := &progress{w: w, text: text, quit: make(chan struct{}), g: g}
	g.setOnDeath(func(os.Signal) { p.clear() })
	return p
}

// fileProgress is the text for the encoding of one file, in bytes of
// .debug_info.
func fileProgress(path string) func(done, total uint64) string {
	name := []rune(message.OneLine(filepath.Base(path)))
	const widest = 30 // keeps the line below 80 columns
	if len(name) > widest {
		name = append(name[:widest-1], '…')
	}
	const mib = 1 << 20
	return func(done, total uint64) string {
		return fmt.Sprintf("%s: %3.0f%%  %d of %d MiB", string(name), 100*float64(done)/float64(total), done/mib, total/mib)
	}
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
	io.WriteString(p.w, "\r\x1b[K"+p.text(min(p.done.Load(), total), total))
	p.drawn = true
}

// clear removes the line for good.
func (p *progress) clear() {
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
