package shard

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// names returns names of packages, which differ little.
func names() (list []string) {
	for i := range 300 {
		list = append(list, fmt.Sprintf("linux-image-6.1.0-%d-amd64-dbg_6.1.%d-1_amd64.deb", i, i*3))
	}
	return append(list, "", "a", "kernel-debuginfo-6.4-1.fc39.x86_64.rpm")
}

// TestEveryItemOnce: no item is lost, and none is in two shards, however engines count: from 0 to 50
// shards, each with its variables.
func TestEveryItemOnce(t *testing.T) {
	for _, e := range engines {
		for n := 1; n <= 50; n++ {
			seen := map[string]int{}
			for i := range n {
				env := map[string]string{e.index: strconv.Itoa(i + e.base), "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": strconv.Itoa(n - 1)}
				env[CountVariable] = strconv.Itoa(n)
				if e.count != "" {
					delete(env, CountVariable)
					env[e.count] = strconv.Itoa(n)
				}
				s, how, err := Auto(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
				if err != nil || s != (Shard{i, n}) || !strings.Contains(how, e.index+"="+env[e.index]) {
					t.Fatalf("%s, %d of %d: %v, %q, %v", e.name, i, n, s, how, err)
				}
				for _, name := range names() {
					if s.Has(name) {
						seen[name]++
					}
				}
			}
			for _, name := range names() {
				if seen[name] != 1 {
					t.Errorf("%s, %d shards: %q is in %d", e.name, n, name, seen[name])
				}
			}
		}
	}
}

// TestEven: shards have about the same number of items.
func TestEven(t *testing.T) {
	for _, n := range []int{2, 3, 4, 8, 16} {
		for i := range n {
			have := 0
			for _, name := range names() {
				if (Shard{i, n}).Has(name) {
					have++
				}
			}
			if most := 2*len(names())/n + 5; have > most || have == 0 {
				t.Errorf("%d/%d has %d of %d", i, n, have, len(names()))
			}
		}
	}
}

// TestHashStays: items stay in their shards from release to release.
func TestHashStays(t *testing.T) {
	for name, want := range map[string]int{"a": 429, "linux-image-6.1.0-50-cloud-amd64-dbg_6.1.176-1_amd64.deb": 707} {
		got := -1
		for i := range 1000 {
			if (Shard{i, 1000}).Has(name) {
				got = i
			}
		}
		if got != want {
			t.Errorf("%q is in %d/1000, want %d", name, got, want)
		}
	}
}

// TestParse: what is refused, and what is not.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{"0/1": "", "3/4": "", "49/50": "", "4/4": "counted from 0, so the last one is 3/4", "1/0": "a shard at least", "0/0": "a shard at least", "": "is not I/N", "1": "is not I/N", "-1/4": "'-1' is not a number",
		"+1/4": "'+1' is not a number", "a/4": "'a' is not a number", "1/": "'' is not a number", "/4": "'' is not a number", "1/2/3": "'2/3' is not a number", "1/99999999999999999999": "is not a number"} {
		s, err := Parse(text)
		if want == "" && (err != nil || s.String() != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v, want %q", text, s, err, want)
		}
	}
}

// TestAutoRefuses: where the number of shards is not certain, nothing is guessed.
func TestAutoRefuses(t *testing.T) {
	for env, want := range map[string]string{
		"": "no engine that is known here",
		"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7": "the array has 2 tasks from 3 to 7, which are not all of 0 to 1; set BTFLITE_SHARDS",
		"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4": "from 1 to 4",
		"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4":                                               "from ? to ?",
		"SLURM_ARRAY_TASK_ID=0":                                                   "SLURM_ARRAY_TASK_COUNT is not set; set BTFLITE_SHARDS",
		"JOB_COMPLETION_INDEX=0":                                                  "Kubernetes does not say how many shards there are; set BTFLITE_SHARDS",
		"JOB_COMPLETION_INDEX=4 BTFLITE_SHARDS=4":                                 "JOB_COMPLETION_INDEX=4 is not from 0 to 3",
		"CI_NODE_INDEX=0 CI_NODE_TOTAL=4":                                         "CI_NODE_INDEX=0 is not from 1 to 4",
		"CI_NODE_INDEX=5 CI_NODE_TOTAL=4":                                         "is not from 1 to 4",
		"CI_NODE_INDEX=1 CI_NODE_TOTAL=0":                                         "CI_NODE_TOTAL: there is no shard",
		"CI_NODE_INDEX= CI_NODE_TOTAL=4":                                          "CI_NODE_INDEX: '-' is not a number",
		"AWS_BATCH_JOB_ARRAY_INDEX=x AWS_BATCH_JOB_ARRAY_SIZE=4":                  "'x' is not a number",
		"BATCH_TASK_INDEX=0 BATCH_TASK_COUNT=x":                                   "'x' is not a number",
		"SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2 BTFLITE_SHARDS=8":         "is not from 0 to 7",
		"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2 BTFLITE_SHARDS=":          "BTFLITE_SHARDS: '-' is not a number",
		"JOB_COMPLETION_INDEX=99999999999999999999 BTFLITE_SHARDS=99999999999999": "is not a number",
	} {
		values := map[string]string{}
		for word := range strings.FieldsSeq(env) {
			name, value, _ := strings.Cut(word, "=")
			values[name] = value
		}
		s, how, err := Auto(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %q, %v, want %q", env, s, how, err, want)
		}
	}
	env := map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "7", CountVariable: "8"}
	if s, _, err := Auto(func(name string) (string, bool) { v, ok := env[name]; return v, ok }); err != nil || s != (Shard{7, 8}) {
		t.Errorf("two failed shards again: %v, %v", s, err)
	}
}
