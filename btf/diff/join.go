package diff

import "slices"

// joined says which of two lists of elements belong together, by index; -1
// stands for none.
type joined struct {
	after  []int // for each element before: the one after
	before []int // for each element after: the one before
}

// join pairs equal keys: the first with the first, the second with the second
// and so on. Keys that are 0 stay alone.
func join(before, after []uint32) joined {
	j := joined{make([]int, len(before)), make([]int, len(after))}
	for i := range j.after {
		j.after[i] = -1
	}
	for k := range j.before {
		j.before[k] = -1
	}
	// Mostly a list begins as the other one does.
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		if before[n] != 0 {
			j.pair(n, n)
		}
		n++
	}
	x, y := sorted(before, n), sorted(after, n)
	for len(x) > 0 && len(y) > 0 {
		switch p, q := x[0]>>32, y[0]>>32; {
		case p < q:
			x = x[1:]
		case p > q:
			y = y[1:]
		default:
			if p != 0 {
				j.pair(int(uint32(x[0])), int(uint32(y[0])))
			}
			x, y = x[1:], y[1:]
		}
	}
	return j
}

// sorted are keys from index n on, each above its index, in order.
func sorted(keys []uint32, n int) []uint64 {
	list := make([]uint64, 0, len(keys)-n)
	for i, k := range keys[n:] {
		list = append(list, uint64(k)<<32|uint64(n+i))
	}
	slices.Sort(list)
	return list
}

func (j *joined) pair(i, k int) { j.after[i], j.before[k] = k, i }

// add takes over the pairs of another join of the same lists whose elements
// have no pair here.
func (j *joined) add(o joined) {
	for i, k := range o.after {
		if k >= 0 && j.after[i] < 0 && j.before[k] < 0 {
			j.pair(i, k)
		}
	}
}

// free are the elements without a pair.
func (j *joined) free() (before, after []int) {
	for i, k := range j.after {
		if k < 0 {
			before = append(before, i)
		}
	}
	for k, i := range j.before {
		if i < 0 {
			after = append(after, k)
		}
	}
	return before, after
}

// inOrder calls fn with each pair and each element that is alone, in the order
// of the second list; one that is only in the first comes before the next that
// is in both.
func (j *joined) inOrder(fn func(before, after int)) {
	next := 0
	for k, i := range j.before {
		for ; next <= i; next++ {
			if j.after[next] < 0 {
				fn(next, -1)
			}
		}
		fn(i, k)
	}
	for ; next < len(j.after); next++ {
		if j.after[next] < 0 {
			fn(next, -1)
		}
	}
}
