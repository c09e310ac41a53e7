package stats

import (
	"slices"

	"github.com/btflite/btflite/btf/view"
)

// recordBytes is the length of a type's record.
func recordBytes(t view.Type) uint64 { return 4 * uint64(t.Record().Len()) }

// top keeps the first n of what is added, in an order.
type top[T any] struct {
	n     int
	order func(x, y *T) int
	kept  []T
}

func newTop[T any](n int, order func(x, y *T) int) *top[T] {
	return &top[T]{n: max(n, 0), order: order}
}

func (t *top[T]) add(x T) {
	if len(t.kept) > 0 && len(t.kept) >= t.n && t.order(&x, &t.kept[len(t.kept)-1]) >= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(t.kept, x, func(x, y T) int { return t.order(&x, &y) })
	t.kept = slices.Insert(t.kept, i, x)
	if len(t.kept) > t.n {
		t.kept = t.kept[:t.n]
	}
}

// sorted gives the kept entries; it is never nil.
func (t *top[T]) sorted() []T { return append([]T{}, t.kept...) }
