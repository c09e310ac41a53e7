package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// Commands check the memory limit wherever they take much memory at once: package arena, by
// arena.LimitProcess, and packages encode and loadbtf. Commands that do not encode also take memory
// from the Go heap, little by little, in thousands of places. For them a goroutine watches how much
// is in use, the more often the less is left. It ends the run like a signal, so that no file
// stays half written.

const (
	// watchedPace is an upper bound for how fast a program on one processor takes memory,
	// in bytes per second.
	watchedPace = 2 << 30
	// watchOften and watchSeldom are the shortest and the longest time between two
	// checks.
	watchOften, watchSeldom = time.Millisecond, 50 * time.Millisecond
)

// bound puts cmd under the memory limit. Encoding commands have the option already, and
// check the limit themselves.
func (c *cli) bound(cmd *cobra.Command) {
	encodes := cmd.Flags().Lookup(memoryOption) != nil
	if !encodes {
		under(cmd, groupReport).value(c.setMemory, memoryOption, "", memoryHelp, rare)
	}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		defer c.boundMemory(words, !encodes)()
		return run(cmd, words)
	}
}

// boundMemory sets the limit of the process by --memory_limit and the control group, until done is called.
// With watch, it starts the goroutine that watches the memory in use.
func (c *cli) boundMemory(words []string, watch bool) (done func()) {
	limit, byHand := c.limitMemory(c.memory)
	c.memoryBound = limit
	if limit == 0 {
		return func() {}
	}
	bounds := arena.Bounds{Used: memlimit.Used, Reclaim: debug.FreeOSMemory}
	if byHand {
		bounds.Used, bounds.Drop = memlimit.Resident, mmapelf.ReleaseAll
	}
	reserve := uint64(0)
	if watch || byHand {
		reserve = limit / 16 // what is taken between two looks
	}
	if !byHand {
		reserve += memlimit.Reserve(sizeOf(words), 1)
	}
	bounds.Bytes = max(limit, reserve+1) - reserve
	memoryLimit.Set(bounds)
	arena.LimitProcess(&memoryLimit)
	w := memoryWatch{bounds: bounds, stop: make(chan struct{}), full: func(used uint64) {
		// The command goes on until the process ends. From now on it takes nothing large.
		memoryLimit.Set(arena.Bounds{Bytes: 1, Used: bounds.Used, Reclaim: func() {}})
		if !c.memoryTold.Swap(true) {
			status := c.report(exhausted(words, limit, used))
			c.guard.endWith(&ending{"out of memory", func() { os.Exit(status) }})
		}
	}}
	if watch {
		go w.look()
	}
	return func() {
		close(w.stop)
		arena.LimitProcess(nil)
		memoryLimit.Set(arena.Bounds{})
	}
}

// memoryWatch checks how much memory is in use.
type memoryWatch struct {
	bounds arena.Bounds
	stop   chan struct{}
	full   func(used uint64) // called when the limit is reached
}

// look checks until it is stopped or the limit is reached.
func (w *memoryWatch) look() {
	for {
		wait := watchOften
		if used := w.bounds.Used(); used < w.bounds.Bytes {
			wait = min(max(time.Duration((w.bounds.Bytes-used)*uint64(time.Second)/watchedPace), watchOften), watchSeldom)
		}
		select {
		case <-w.stop:
			return
		case <-time.After(wait):
		}
		var full arena.Exhausted
		if errors.As(memoryLimit.Check(0), &full) {
			w.full(full.Used)
			return // the guard lets a protected function finish first
		}
	}
}

// asExhausted returns an error if v, the value of a panic, says that the limit was reached, and else nil.
func asExhausted(c *cli, v any) error {
	if full, ok := v.(arena.Exhausted); ok {
		return &limitReached{exhausted(c.words, c.memoryBound, full.Used), full}
	}
	return nil
}

// limitReached is an error for a panic. It has a text of its own.
type limitReached struct {
	error
	full arena.Exhausted
}

// Unwrap implements errors.As.
func (l *limitReached) Unwrap() error { return l.full }

// toldOnce returns err, or a printedFailure if it is that the limit is reached, and that is being printed
// already: the goroutine that looks and the command may both find it. A crash may hide such an error.
func toldOnce(c *cli, err error) error {
	var crash *encode.Crash
	if errors.As(err, &crash) {
		if full := asExhausted(c, crash.Value); full != nil {
			err = full
		}
	}
	var full arena.Exhausted
	switch {
	case !errors.As(err, &full) || !c.memoryTold.Swap(true):
		return err
	case c.answers():
		return printedFailure{exitTrouble}
	}
	return printedFailure{exitFailure}
}

// exhausted is the error for a limit that is too low for the files among the words.
func exhausted(words []string, limit, used uint64) error {
	var files []string
	for _, w := range words {
		if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() {
			files = append(files, w)
		}
	}
	what := fmt.Sprintf("the memory limit of %s is reached: %s are in use; give more by --memory_limit or the control group",
		message.ByteSize(limit), message.ByteSize(used))
	return message.NamingFile(files, errors.New(what))
}
