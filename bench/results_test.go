package main

import (
	"path/filepath"
	"testing"
)

func TestMedianIsTheMiddle(t *testing.T) {
	tests := []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{5, 1, 100}, 5},
		{[]float64{4, 1, 2, 100}, 3},
	}
	for _, tt := range tests {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
	values := []float64{3, 1, 2}
	median(values)
	if values[0] != 3 {
		t.Error("median sorted its argument")
	}
}

func TestSummarizeTakesEachMedianOnItsOwn(t *testing.T) {
	got := summarize([]Sample{{CPU: 1, Wall: 9, Peak: 20}, {CPU: 2, Wall: 7, Peak: 10}, {CPU: 3, Wall: 8, Peak: 30}})
	want := summary{Sample{CPU: 2, Wall: 8, Peak: 20}, 1, 3}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestResultsAreKeptUnlessTheMachineChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	here := Machine{CPU: "a", Options: "--btf_features=default"}
	r, err := load(path, here)
	if err != nil {
		t.Fatal(err)
	}
	add(r.kernel("k2"), toolPahole, 1, Sample{CPU: 1})
	add(r.kernel("k1"), toolPahole, 2, Sample{CPU: 2})
	add(r.kernel("k1"), toolPahole, 2, Sample{CPU: 3})
	r.Records = []*RecordsResult{{Name: "small", CPU: "a"}}
	if err := r.save(path); err != nil {
		t.Fatal(err)
	}

	again, err := load(path, here)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Kernels) != 2 || again.Kernels[0].Name != "k1" || len(again.kernel("k1").run(toolPahole, 2).Samples) != 2 {
		t.Errorf("loaded %+v", again.Kernels)
	}
	there := here
	there.Options = "--btf_features=all"
	if other, err := load(path, there); err != nil || len(other.Kernels) != 0 || len(other.Records) != 1 {
		t.Errorf("other options: %d kernels, %d records, error %v; want 0 and 1", len(other.Kernels), len(other.Records), err)
	}
}
