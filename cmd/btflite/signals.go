package main

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// guard makes a signal leave no temporary file behind. SIGINT, SIGTERM and
// SIGHUP remove the files registered with it and then end the process by the
// same signal, so that the caller sees the usual status. While protect runs a
// function that has temporary files of its own, the signal waits for it; the
// function learns of it through interrupted and ends early.
type guard struct {
	mu    sync.Mutex
	temps map[string]struct{}
	// onDeath, if set, runs before the process ends (it clears the progress
	// line). It must not call back into the guard.
	onDeath func()

	protected int
	pending   os.Signal // arrived while protected
	die       func(os.Signal)
	incoming  chan os.Signal
	stopped   chan struct{}
}

// errInterrupted is what a protected writer sees after a signal.
var errInterrupted = errors.New("interrupted by a signal")

// newGuard starts to catch the signals. A signal that the parent made us
// ignore (nohup) stays ignored.
func newGuard() *guard {
	g := &guard{temps: map[string]struct{}{}, die: dieBy,
		incoming: make(chan os.Signal, 1), stopped: make(chan struct{})}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(g.incoming, s)
		}
	}
	go g.watch()
	return g
}

// stop ends the watch; signals act as before.
func (g *guard) stop() {
	signal.Stop(g.incoming)
	close(g.stopped)
}

func (g *guard) watch() {
	for {
		select {
		case <-g.stopped:
			return
		case s := <-g.incoming:
			g.mu.Lock()
			g.pending = s
			if g.protected == 0 {
				g.end()
			}
			g.mu.Unlock()
		}
	}
}

// end removes the temporary files and dies. g.mu is held, so no new file is
// made meanwhile.
func (g *guard) end() {
	for name := range g.temps {
		os.Remove(name)
	}
	if g.onDeath != nil {
		g.onDeath()
	}
	g.die(g.pending)
}

// create makes a temporary file with open and registers it, with no moment
// between the two in which a signal could leave it behind.
func (g *guard) create(open func() (*os.File, error)) (*os.File, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, err := open()
	if err == nil {
		g.temps[f.Name()] = struct{}{}
	}
	return f, err
}

// forget ends the care for a temporary file that was renamed or removed.
func (g *guard) forget(name string) {
	g.mu.Lock()
	delete(g.temps, name)
	g.mu.Unlock()
}

// setOnDeath sets or clears onDeath.
func (g *guard) setOnDeath(f func()) {
	g.mu.Lock()
	g.onDeath = f
	g.mu.Unlock()
}

// protect runs f and lets signals wait until it has returned; the process
// then ends without returning to the caller.
func (g *guard) protect(f func() error) error {
	g.mu.Lock()
	g.protected++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.protected--
		if g.protected == 0 && g.pending != nil {
			g.end()
		}
	}()
	return f()
}

// interrupted is errInterrupted once a signal has arrived.
func (g *guard) interrupted() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != nil {
		return errInterrupted
	}
	return nil
}

// dieBy ends the process by the signal s.
func dieBy(s os.Signal) {
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // the signal ends us meanwhile
	}
	os.Exit(exitFailure)
}
