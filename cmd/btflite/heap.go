package main

import (
	"runtime"
	"runtime/debug"

	"github.com/btflite/btflite/internal/memlimit"
)

// heap sets how often Go collects garbage.
type heap struct {
	first runtime.Cleanup // sets gcPercent when the first collection has run
}

// growFirst lets the heap grow before the first collection.
func (h *heap) growFirst() {
	debug.SetGCPercent(firstPercent)
	h.first = runtime.AddCleanup(&struct{ p *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
}

// clear collects garbage now, and then lets the heap grow again: collections in
// between would cost more memory, in tables of functions that they read, than they save.
func (h *heap) clear() {
	h.first.Stop()
	debug.FreeOSMemory()
	h.growFirst()
}

// forget drops garbage and code that only earlier phases used, if the inputs are large. It is
// called before the run takes its memory, and before it takes the largest part.
func (h *heap) forget(inputs uint64) {
	if inputs >= largeInput {
		h.clear()
		memlimit.DropCode()
	}
}
