package encode_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

const sourceFile = "testdata/golden/x86-gcc5.elf"

// TestSources: bytes, what reads them, and an open file give what the path gives.
func TestSources(t *testing.T) {
	data := testfile.Read(t, sourceFile)
	file, err := os.Open(sourceFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := mustRun(t, []string{sourceFile}, encode.Options{Features: encode.DefaultFeatures})
	for i, in := range []mmapelf.Source{
		{Path: sourceFile}, {Path: "a name", Data: data}, {Path: "a name", Reader: bytes.NewReader(data), Size: int64(len(data))},
		{Path: "a name", Reader: file},
	} {
		out, err := encode.RunSources(context.Background(), []mmapelf.Source{in}, encode.Options{Features: encode.DefaultFeatures, Jobs: 2})
		if err != nil {
			t.Errorf("source %d: %v", i, err)
			continue
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("source %d: other bytes", i)
		}
		out.Close()
	}
	for i, in := range []mmapelf.Source{
		{Path: "a name", Data: data[:len(data)/2]}, {Path: "a name", Reader: bytes.NewReader(data), Size: int64(len(data)) + 1},
		{Path: "a name", Data: []byte{}}, {Path: "a name", Reader: bytes.NewReader(data), Size: -1},
	} {
		if _, err := encode.RunSources(context.Background(), []mmapelf.Source{in}, encode.Options{}); err == nil || !strings.Contains(err.Error(), "a name") {
			t.Errorf("bad source %d: %v", i, err)
		}
	}
}

// TestCancel: a run ends when its context does, before the next unit.
func TestCancel(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		opt := encode.Options{Jobs: jobs, Progress: func(uint64, uint64) { calls++; cancel() }}
		_, err := encode.RunSources(ctx, []mmapelf.Source{{Path: "../testdata/small/small"}}, opt)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "../testdata/small/small: ") {
			t.Errorf("jobs %d: %v", jobs, err)
		}
		if calls > 2*jobs+3 {
			t.Errorf("jobs %d: %d units were committed", jobs, calls)
		}
		cancel()
	}
}

// TestLimitsSideBySide: runs with limits of their own do not disturb each other.
func TestLimitsSideBySide(t *testing.T) {
	if memlimit.Used() == 0 {
		t.Skip("the memory in use is not known on this system")
	}
	var wg sync.WaitGroup
	for i := range 6 {
		limit := uint64(1 << 20) // too little for any run
		if i%2 == 0 {
			limit = 1 << 40
		}
		wg.Go(func() {
			for range 5 {
				out, err := encode.Run([]string{sourceFile}, encode.Options{Features: encode.DefaultFeatures, MemoryLimit: limit, Jobs: 2})
				if err == nil {
					out.Close()
				}
				if (err == nil) != (limit > 1<<20) {
					t.Errorf("limit %d: %v", limit, err)
				}
			}
		})
	}
	wg.Wait()
}
