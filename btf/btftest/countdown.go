package btftest

import (
	"context"
	"sync/atomic"
)

// countdown is a context that is done after so many looks at it.
type countdown struct {
	context.Context
	left atomic.Int64
}

// Countdown returns a context like ctx that is done after so many looks at it. Any goroutine may look.
func Countdown(ctx context.Context, looks int) context.Context {
	c := &countdown{Context: ctx}
	c.left.Store(int64(looks))
	return c
}

// Err implements context.Context.
func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
