package compactstate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// manyFuncs has functions f000, f001, … enough for several blocks. Each third one
// is left out, each fifth is a kfunc, and each seventh has an annotation.
func manyFuncs() (*FuncTable, *States) {
	var syms []sym
	for i := range 5*blockSize + 7 {
		syms = append(syms, sym{fmt.Sprintf("f%03d", i), uint64(i + 1)})
	}
	ft, s := tableOf(syms...), NewStates()
	for i, x := range syms {
		state := st{name: x.name, addr: uint64(i + 1), ret: uint32(i), params: p(uint32(i))}
		if i%3 == 0 {
			state.flags = Reordered
		}
		if i%5 == 0 {
			ft.SetKfunc(ft.Lookup([]byte(x.name)), 1)
		}
		if i%7 == 0 {
			state.ann = []Annotation{{7, -1}}
		}
		state.add(ft, s, false)
	}
	return ft, s
}

// TestStrings: Strings is called in the order of functions, before emit is, and
// its result gets there, whatever the number of workers. AheadTypes gets what emit gets.
func TestStrings(t *testing.T) {
	ft, s := manyFuncs()
	want := outcome(t, ft, s, Decide{})
	for _, d := range []Decide{{}, {AllParams: true}, {Workers: 2}, {Workers: 4, AllParams: true}} {
		var names, ahead []string
		d.Hash = func(name []byte) uint32 { return uint32(len(name))<<16 | uint32(name[3]) }
		d.Ahead = func(entries, hashes []uint32) {
			if len(names) != len(ahead) || len(entries) != len(hashes) || len(entries) > blockSize {
				t.Errorf("%d of %d prepared functions have come, and %d do", len(names), len(ahead), len(entries))
			}
			for i, e := range entries {
				ahead = append(ahead, string(ft.Name(e)))
				if hashes[i] != d.Hash(ft.Name(e)) {
					t.Errorf("hash %#x of %s", hashes[i], ft.Name(e))
				}
			}
		}
		d.Strings = func(c *Choice) (uint32, error) {
			all := d.AllParams || c.Kfunc || c.Entry%7 == 1
			if c.Hash != d.Hash(c.Name) || len(c.Params) == 1 != all || len(c.Annotations) == 1 != (c.Entry%7 == 1) {
				t.Errorf("%s: hash %#x, params %v, annotations %v", c.Name, c.Hash, c.Params, c.Annotations)
			}
			names = append(names, string(c.Name))
			return 1000 + c.Entry, nil
		}
		var got, next []string
		d.AheadTypes = func(choices []Choice) {
			if len(next) > 0 || len(choices) > blockSize {
				t.Errorf("%d functions are left, and %d come", len(next), len(choices))
			}
			for i := range choices {
				next = append(next, render(&choices[i]))
			}
		}
		err := s.Resolve(ft, d, func(c *Choice) error {
			if len(next) == 0 || next[0] != render(c) {
				t.Errorf("%s was not announced", render(c))
			} else {
				next = next[1:]
			}
			if c.Token != 1000+c.Entry {
				t.Errorf("%s: token %d", c.Name, c.Token)
			}
			got = append(got, render(c))
			return nil
		}, func(name []byte, r Reason) { got = append(got, fmt.Sprintf("-%s: %s", name, r)) })
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%d workers: other functions than without Strings, %v", d.Workers, err)
		}
		if len(names) == 0 || strings.Join(names, " ") != strings.Join(ahead, " ") {
			t.Errorf("%d workers: Strings is not called for what was prepared", d.Workers)
		}
	}
}

// TestErrorsInOrder: what comes before an error is carried out, nothing behind
// it, and the first error in the order of functions counts.
func TestErrorsInOrder(t *testing.T) {
	ft, s := manyFuncs()
	all := strings.Split(outcome(t, ft, s, Decide{}), "; ")
	bad, worse := errors.New("bad"), errors.New("worse")
	for _, tt := range []struct{ strings, emit int }{{1, -1}, {-1, 1}, {130, -1}, {-1, 130}, {130, 131}, {131, 130}, {130, 2}, {2, 130}, {320, 319}} {
		n, want := tt.strings, bad
		if n < 0 || tt.emit >= 0 && tt.emit < n {
			n, want = tt.emit, worse
		}
		for _, workers := range []int{1, 2, 4} {
			var got []string
			d := Decide{Workers: workers, Strings: func(c *Choice) (uint32, error) {
				if int(c.Entry-1) == tt.strings {
					return 0, bad
				}
				return 0, nil
			}}
			err := s.Resolve(ft, d, func(c *Choice) error {
				if int(c.Entry-1) == tt.emit {
					return worse
				}
				got = append(got, render(c))
				return nil
			}, func(name []byte, r Reason) { got = append(got, fmt.Sprintf("-%s: %s", name, r)) })
			if err != want || strings.Join(got, "; ") != strings.Join(all[:n], "; ") {
				t.Errorf("%+v, %d workers: %v after %d, want %v after %d", tt, workers, err, len(got), want, n)
			}
		}
	}
}

// TestPanicOfCallback: a panic on any goroutine reaches the caller.
func TestPanicOfCallback(t *testing.T) {
	ft, s := manyFuncs()
	for _, where := range []string{"Hash", "Ahead", "Strings", "AheadTypes", "emit", "skip"} {
		for _, workers := range []int{1, 4} {
			at := func(here string) {
				if here == where {
					panic(where)
				}
			}
			d := Decide{
				Workers: workers,
				Hash:    func([]byte) uint32 { at("Hash"); return 0 },
				Ahead:   func(_, _ []uint32) { at("Ahead") },
				Strings: func(*Choice) (uint32, error) { at("Strings"); return 0, nil },

				AheadTypes: func([]Choice) { at("AheadTypes") },
			}
			func() {
				defer func() {
					if x := recover(); x != where {
						t.Errorf("%s, %d workers: recovered %v", where, workers, x)
					}
				}()
				_ = s.Resolve(ft, d, func(*Choice) error { at("emit"); return nil }, func([]byte, Reason) { at("skip") })
				t.Errorf("%s, %d workers: no panic", where, workers)
			}()
		}
	}
}

// TestNameInManyFiles: a name of more files than fit into a block.
func TestNameInManyFiles(t *testing.T) {
	ft, s := NewFuncTable(0, nil, nil), NewStates()
	for i := range 2*blockSize + 3 {
		addFile(ft, sym{"f", 1}, sym{"g", 2})
		st{name: "f", ret: uint32(i)}.add(ft, s, false)
	}
	st{name: "g"}.add(ft, s, false)
	d := Decide{Strings: func(c *Choice) (uint32, error) { return 0, nil }, Ahead: func(_, _ []uint32) {}}
	want := outcome(t, ft, s, d)
	if n := strings.Count(want, "f()"); n != 2*blockSize+3 || !strings.HasSuffix(want, fmt.Sprintf("; f()%d; g()0", n-1)) {
		t.Errorf("%d functions: %s", n, want)
	}
	d.Workers = 2
	if got := outcome(t, ft, s, d); got != want {
		t.Errorf("two workers: %s", got)
	}
}
