package encode_test

import (
	"fmt"
	"syscall"
	"time"
)

// limit is how much CPU time a small bad file may take.
const limit = 20 * time.Second

// noPanic calls fn and returns what it panics with.
func noPanic(fn func() ([]byte, error)) (data []byte, crash any, err error) {
	defer func() {
		if crash = recover(); crash != nil {
			data, err = nil, fmt.Errorf("panic: %v", crash)
		}
	}()
	data, err = fn()
	return data, nil, err
}

// watch panics when the process has used limit of CPU time before stop is
// called. The clock on the wall says nothing: a machine may be busy, and a test
// may have been stopped by a signal. A run that waits for ever meets the
// timeout of the whole test.
func watch(what string) (stop func()) {
	began := cpuTime()
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(limit / 4)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if cpuTime()-began >= limit {
					panic(fmt.Sprintf("%s: no result after %v of CPU time", what, limit))
				}
			}
		}
	}()
	return func() { close(done) }
}

// cpuTime is the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
