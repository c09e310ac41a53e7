package workers

import (
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	var sum atomic.Int64
	Do(5, func(k int) { sum.Add(1 << k) })
	if sum.Load() != 1<<5-1 {
		t.Errorf("ran %b", sum.Load())
	}
	Do(0, func(int) { t.Error("called") })
}

// TestBoth: each of the two can wait for the other.
func TestBoth(t *testing.T) {
	there, back := make(chan int), make(chan int)
	sum := 0
	Both(func() { there <- 1; sum = <-back }, func() { back <- 1 + <-there })
	if sum != 2 {
		t.Errorf("the sum is %d", sum)
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	var ran atomic.Int64
	defer func() {
		if x := recover(); x != "second" || ran.Load() != 2 {
			t.Errorf("recovered %v after %d others", x, ran.Load())
		}
	}()
	Do(3, func(k int) {
		if k == 1 {
			panic("second")
		}
		ran.Add(1)
	})
	t.Error("Do returned")
}

// TestShared: each number comes once, also if a goroutine stops early.
func TestShared(t *testing.T) {
	var sum atomic.Int64
	numbers := Shared(10)
	Do(4, func(k int) {
		for i := range numbers {
			sum.Add(1 << i)
			if k == 0 {
				return
			}
		}
	})
	if sum.Load() != 1<<10-1 {
		t.Errorf("ran %b", sum.Load())
	}
	for range Shared(0) {
		t.Error("called")
	}
}
