//go:build unix

package btflite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/test/testfile"
)

// TestCancel: with a context that is done, everything that takes one ends with its error.
func TestCancel(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	data := testfile.Read(t, smallFile)
	raw := testfile.Read(t, splitFiles+"x86.base.btf")
	base := btflite.Source{Path: splitFiles + "x86.base.btf"}
	for what, run := range map[string]func() error{
		"Encode": func() error {
			_, err := btflite.Encode(done, btflite.Paths(smallFile), btflite.Options{})
			return err
		},
		"Encode from a reader": func() error {
			_, err := btflite.Encode(done, []btflite.Source{{Path: "in", Reader: bytes.NewReader(data), Size: int64(len(data))}}, btflite.Options{})
			return err
		},
		"OpenBase": func() error { _, err := btflite.OpenBase(done, base); return err },
		"Verify":   func() error { return btflite.Verify(done, raw, nil, "") },
		"Diff": func() error {
			_, err := btflite.Diff(done, base, btflite.Source{Path: "x86.module.btf", Data: testfile.Read(t, splitFiles+"x86.module.btf")}, nil, openBase(t, base), diff.Options{})
			return err
		},
		"Diff without differences": func() error { _, err := btflite.Diff(done, base, base, nil, nil, diff.Options{}); return err },
	} {
		if err := run(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCancelAnywhere: a context that is done while an encode is at its checks, at its
// order or at its distilling ends it.
func TestCancelAnywhere(t *testing.T) {
	base := openBase(t, btflite.Source{Path: splitFiles + "x86.base.btf"})
	module := btflite.Paths(splitFiles + "x86.module.o")
	for _, o := range []btflite.Options{{Base: base}, {Base: base, Distil: true}, {Base: base, Distil: true, Order: btflite.ByName}} {
		for looks := 0; ; looks++ {
			r, err := btflite.Encode(btftest.Countdown(ctx, looks), module, o)
			if err == nil {
				r.Close()
				if looks < 5 {
					t.Errorf("distil %v: only %d looks at the context", o.Distil, looks)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || r != nil {
				t.Fatalf("after %d looks: %v %v", looks, r, err)
			}
		}
	}
}

// used is the CPU time of the process.
func used(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestCancelSoon: a whole kernel's encode, check and order end within 100 ms wherever
// they are. On a machine that does other work a process may have to wait for its turn
// longer than that, so late is who has also used that much CPU time since, per worker.
func TestCancelSoon(t *testing.T) {
	path := os.Getenv("BTFLITE_VMLINUX")
	if path == "" {
		t.Skip("BTFLITE_VMLINUX names no kernel to end the encoding of")
	}
	const parts, workers, soon = 20, 2, 100 * time.Millisecond
	o := btflite.Options{Jobs: workers, Order: btflite.Canonical}
	began := time.Now()
	r, err := btflite.Encode(ctx, btflite.Paths(path), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	encoding := time.Since(began)
	began = time.Now()
	if err := btflite.Verify(ctx, r.BTF, nil, ""); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		whole time.Duration
		run   func(ctx context.Context) error
	}{
		"Verify": {time.Since(began), func(ctx context.Context) error { return btflite.Verify(ctx, r.BTF, nil, "") }},
		"Encode": {encoding, func(ctx context.Context) error {
			r, err := btflite.Encode(ctx, btflite.Paths(path), o)
			if err == nil {
				r.Close()
			}
			return err
		}},
	} {
		for i := range parts {
			after := c.whole * time.Duration(i) / parts
			var then atomic.Int64 // CPU time when the context was done
			until, cancel := context.WithTimeout(ctx, after)
			context.AfterFunc(until, func() { then.Store(int64(used(t))) })
			began := time.Now()
			err := c.run(until)
			late, cpu := time.Since(began)-after, time.Duration(0)
			if n := then.Load(); n != 0 { // else the process has not even had the turn to note it
				cpu = (used(t) - time.Duration(n)) / workers
			}
			cancel()
			switch {
			case err == nil:
			case !errors.Is(err, context.DeadlineExceeded):
				t.Error(err)
			case late > soon && cpu > soon:
				t.Errorf("%s ended %v after it was to end at %v of %v, and used %v of CPU time", what, late, after, c.whole, cpu)
			case late > soon:
				t.Logf("%s ended %v late with only %v of CPU time: others had the machine", what, late, cpu)
			}
		}
	}
}
