//go:build linux

package btflite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/test/testfile"
)

// rounds is how often TestNothingIsLeft makes its calls.
const rounds = 4

// held counts what this process has got from the system and not given back.
type held struct{ files, goroutines, mappings int }

// holds returns what this process has now. Goroutines that are about to end, and files that the
// collector closes, are given time.
func holds(t *testing.T) held {
	t.Helper()
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps := testfile.Read(t, "/proc/self/maps")
	return held{len(files), runtime.NumGoroutine(), bytes.Count(maps, []byte("\n"))}
}

// TestNothingIsLeft: a call that ends in any way gives back its files, its goroutines and its
// memory. It ends well, or at any look at the context, or with a file cut short anywhere, or at
// a memory limit.
func TestNothingIsLeft(t *testing.T) {
	golden, err := filepath.Glob("encode/testdata/golden/*.elf")
	if err != nil || len(golden) == 0 {
		t.Fatal(err, "no inputs")
	}
	var inputs []string
	for some := range slices.Chunk(golden, 3) {
		inputs = append(inputs, some[0])
	}
	inputs = append(inputs, splitFiles+"x86.module.stripped.o", smallFile)
	base := openBase(t, btflite.Source{Path: splitFiles + "x86.base.btf"})
	options := []btflite.Options{
		{Jobs: 3}, {Jobs: 2, Features: btflite.AllFeatures, Inline: true, AllowRefused: true}, {ExtraVars: true, Order: btflite.ByName},
		{Base: base, Distil: true}, {MemoryLimit: 1 << 20}, {DebugDir: "testdata"},
	}
	encode := func(looks int, in btflite.Source, o btflite.Options) error {
		r, err := btflite.Encode(btftest.Countdown(ctx, looks), []btflite.Source{in}, o)
		if err == nil {
			r.Close()
		}
		return err
	}
	kinds := map[string]func(round int){
		"whole": func(int) {
			for _, path := range inputs {
				for _, o := range options {
					encode(1<<30, btflite.Source{Path: path}, o)
				}
			}
		},
		"cancelled": func(round int) {
			for i, path := range inputs {
				for looks := 0; ; looks++ {
					if err := encode(looks, btflite.Source{Path: path}, options[(i+round)%len(options)]); !errors.Is(err, context.Canceled) {
						break
					}
				}
			}
		},
		"cut short": func(round int) {
			for i, path := range inputs {
				data := testfile.Read(t, path)
				for part := range 12 {
					short := data[:len(data)*(12*round+part+1)/(12*rounds+1)]
					encode(1<<30, btflite.Source{Path: path, Data: short}, options[(i+part+round)%len(options)])
				}
			}
		},
		"bases": func(round int) {
			files, _ := filepath.Glob(splitFiles + "*")
			for _, path := range files {
				for looks := range 6 {
					if b, err := btflite.OpenBase(btftest.Countdown(ctx, looks), btflite.Source{Path: path}); err == nil {
						encode(1<<30, btflite.Source{Path: splitFiles + "x86.module.o"}, btflite.Options{Base: b})
						b.Close()
					}
				}
				btflite.Diff(ctx, btflite.Source{Path: path}, btflite.Source{Path: files[round%len(files)]}, nil, base, diff.Options{})
			}
		},
	}
	for what, run := range kinds {
		run(0) // what the first calls make for later ones stays
		before := holds(t)
		for round := range rounds {
			run(round)
		}
		after := holds(t)
		if after.files > before.files || after.goroutines > before.goroutines || after.mappings > before.mappings+len(inputs)/2 {
			t.Errorf("%s: %+v before, %+v after %d rounds", what, before, after, rounds)
		}
	}
}
