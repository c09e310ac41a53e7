package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestCompare: what is slower fails by name, what is faster or not counted does not, and other
// circumstances are an error of their own.
func TestCompare(t *testing.T) {
	before := numbers{"go1", map[string]uint64{yardstick: 1000, "xfs": 1000, "veth": 1000}}
	for _, c := range []struct {
		name string
		now  numbers
		want string
	}{
		{"equal", numbers{"go1", map[string]uint64{yardstick: 1001, "xfs": 1000, "veth": 1000}}, ""},
		{"a little more, and less", numbers{"go1", map[string]uint64{yardstick: 1000, "xfs": 1020, "veth": 500}}, ""},
		{"more", numbers{"go1", map[string]uint64{yardstick: 1000, "xfs": 1021, "veth": 1000}}, "xfs takes 1021 instructions, 2.1 % more than 1000"},
		{"two", numbers{"go1", map[string]uint64{yardstick: 1000, "xfs": 2000, "veth": 2000}}, "\nveth takes"},
		{"new", numbers{"go1", map[string]uint64{yardstick: 1000, "show": 7}}, "show is not in"},
		{"another compiler", numbers{"go2", map[string]uint64{yardstick: 1000}}, errOther.Error()},
		{"another kernel", numbers{"go1", map[string]uint64{yardstick: 1010}}, errOther.Error()},
	} {
		err := compare(before, c.now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if other := strings.HasPrefix(c.name, "another"); errors.Is(err, errOther) != other {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNumbers: the file has a number for each run and no others.
func TestNumbers(t *testing.T) {
	data := testfile.Read(t, filepath.Base(numbersFile))
	var n numbers
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if n.Runs[r.name] == 0 {
			t.Errorf("no number for %q", r.name)
		}
	}
	if len(n.Runs) != len(runs) {
		t.Errorf("%d numbers for %d runs", len(n.Runs), len(runs))
	}
}
