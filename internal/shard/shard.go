// Package shard divides items among processes that know nothing of each other but their number: by
// a hash of the items' names, so that an item stays with its shard when others come and go, and
// lists may differ between the processes. It also knows how engines that start such processes number
// them.
package shard

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Shard is one part of the items.
type Shard struct {
	Index int // from 0
	Count int // of all shards; 0 takes every item
}

// maxCount bounds the number of shards: more cannot be meant.
const maxCount = 1_000_000

// Parse reads "I/N", I from 0 to N-1.
func Parse(text string) (Shard, error) {
	first, second, ok := strings.Cut(text, "/")
	if !ok {
		return Shard{}, fmt.Errorf("'%s' is not I/N, as 0/4", message.OneLine(text))
	}
	index, err := number(first)
	count, err2 := number(second)
	if err = cmp.Or(err, err2); err != nil {
		return Shard{}, err
	}
	switch {
	case count == 0:
		return Shard{}, fmt.Errorf("'%s': there has to be a shard at least, as in 0/1", message.OneLine(text))
	case index >= count:
		return Shard{}, fmt.Errorf("'%s': shards are counted from 0, so the last one is %d/%d", message.OneLine(text), count-1, count)
	}
	return Shard{index, count}, nil
}

// number reads a number from 0 to maxCount, in digits only.
func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxCount || s[0] == '+' || s[0] == '-' {
		return 0, fmt.Errorf("'%s' is not a number from 0 to %d", message.OneLine(s), maxCount)
	}
	return n, nil
}

// String returns "I/N".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Has tells whether the shard has the item of that name. The hash is FNV-1a of 64 bits, mixed,
// because names of packages differ in few bytes; it must never change, as shards that were done
// would have other items.
func (s Shard) Has(name string) bool {
	if s.Count <= 1 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x%uint64(s.Count) == uint64(s.Index)
}

// CountVariable gives the number of shards where an engine does not.
const CountVariable = "BTFLITE_SHARDS"

// engine describes how an engine numbers its processes.
type engine struct {
	name         string
	index, count string // variables; count is "" if there is none
	base         int    // the first index
	// doubt says why the count cannot be trusted; "" if it can. A nil doubt trusts it.
	doubt func(lookup func(string) (string, bool), count int) string
}

// engines are in the order in which they are asked for: what runs inside of another comes first.
var engines = []engine{
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", 0, nil},
	{"Google Cloud Batch", "BATCH_TASK_INDEX", "BATCH_TASK_COUNT", 0, nil},
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 0, slurm},
	{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1, nil},
	// GitHub sets no variables for these; a workflow maps strategy.job-index and job-total to them.
	{"GitHub", "BTFLITE_JOB_INDEX", "BTFLITE_JOB_TOTAL", 0, nil},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", 0, nil},
}

// slurm checks that the indexes of an array are 0 to count-1: --array=3,7 has two tasks, which may be two
// of 8 shards.
func slurm(lookup func(string) (string, bool), count int) string {
	least, _ := lookup("SLURM_ARRAY_TASK_MIN")
	most, _ := lookup("SLURM_ARRAY_TASK_MAX")
	if least == "0" && most == strconv.Itoa(count-1) {
		return ""
	}
	return fmt.Sprintf("the array has %d tasks from %s to %s, which are not all of 0 to %d", count, cmp.Or(message.OneLine(least), "?"), cmp.Or(message.OneLine(most), "?"), count-1)
}

// Auto finds the shard of this process by the variables of the engine that started it. how names the
// shard, the engine and the variables, for a message. An error says what to set where the number of shards is not certain: a wrong one would
// leave items out.
func Auto(lookup func(string) (string, bool)) (s Shard, how string, err error) {
	for _, e := range engines {
		text, ok := lookup(e.index)
		if !ok {
			continue
		}
		index, err := number(cmp.Or(text, "-"))
		if err != nil {
			return s, "", fmt.Errorf("%s: %w", e.index, err)
		}
		count, from, err := e.total(lookup)
		if err != nil {
			return s, "", err
		}
		s = Shard{index - e.base, count}
		if s.Index < 0 || s.Index >= count {
			return s, "", fmt.Errorf("%s=%d is not from %d to %d, as %s=%d says", e.index, index, e.base, e.base+count-1, from, count)
		}
		return s, fmt.Sprintf("shard %s of %s: %s=%d, %s=%d", s, e.name, e.index, index, from, count), nil
	}
	return s, "", fmt.Errorf("no engine that is known here has started this; give --shard=I/N")
}

// total returns the number of shards, and the variable that has it: CountVariable if that is set, else
// the variable of the engine.
func (e *engine) total(lookup func(string) (string, bool)) (count int, from string, err error) {
	from = CountVariable
	text, given := lookup(from)
	if !given {
		if e.count == "" {
			return 0, "", fmt.Errorf("%s does not say how many shards there are; set %s to their number", e.name, CountVariable)
		}
		from = e.count
		if text, given = lookup(from); !given {
			return 0, "", fmt.Errorf("%s is not set; set %s to the number of shards", from, CountVariable)
		}
	}
	if count, err = number(cmp.Or(text, "-")); err != nil || count == 0 {
		return 0, "", fmt.Errorf("%s: %w", from, cmp.Or(err, fmt.Errorf("there is no shard")))
	}
	if from == e.count && e.doubt != nil {
		if why := e.doubt(lookup, count); why != "" {
			return 0, "", fmt.Errorf("%s: %s; set %s to the number of shards", e.name, why, CountVariable)
		}
	}
	return count, from, nil
}
