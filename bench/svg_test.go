package main

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestNumberHasThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 10: "10", 100: "100", 1234.5: "1234", 0.5: "0.5", 0.0123: "0.0123", 9.876: "9.88", 20.04: "20", 0.05: "0.05",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestAxesCoverTheValuesWithRoundTicks(t *testing.T) {
	if a := linearAxis(0.43, 0, 100); !near(a.ticks, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}) || a.max != 0.5 {
		t.Errorf("linear to 0.43: ticks %v", a.ticks)
	}
	if a := linearAxis(20, 0, 100); !near(a.ticks, []float64{0, 5, 10, 15, 20}) {
		t.Errorf("linear to 20: ticks %v", a.ticks)
	}
	if a := linearAxis(0, 0, 100); a.max <= 0 {
		t.Errorf("linear to 0: ends at %v", a.max)
	}
	a := logAxis(0.3, 11, 0, 100)
	if !near(a.ticks, []float64{0.2, 0.5, 1, 2, 5, 10, 20}) {
		t.Errorf("logarithmic from 0.3 to 11: ticks %v", a.ticks)
	}
	if at := a.at(0.2); at != 0 {
		t.Errorf("the first tick is at %v", at)
	}
	if at := a.at(2); at < 49.99 || at > 50.01 {
		t.Errorf("the middle of 0.2 and 20 is at %v, want 50", at)
	}
	if a := logAxis(5, 5, 0, 100); a.min >= a.max {
		t.Errorf("one value: from %v to %v", a.min, a.max)
	}
}

func near(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if d := a[i] - b[i]; d > 1e-9 || d < -1e-9 {
			return false
		}
	}
	return true
}

// words returns the texts of an SVG file, and fails on broken XML.
func words(t *testing.T, svg string) []string {
	t.Helper()
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if s, ok := token.(xml.CharData); ok && strings.TrimSpace(string(s)) != "" {
			texts = append(texts, string(s))
		}
	}
}

func TestChartIsLabelled(t *testing.T) {
	c := chart{title: "a < b", xLabel: "workers (-j)", yLabel: "seconds", xTicks: []float64{1, 2},
		series: []series{{name: "one", color: colorBtflite, points: []point{{1, 4}, {2, 3}}}}}
	want := []string{"a < b", "0", "1", "2", "3", "4", "5", "1", "2", "workers (-j)", "seconds", "one", "4", "3"}
	if got := words(t, c.svg()); !reflect.DeepEqual(got, want) {
		t.Errorf("texts\n %q, want\n %q", got, want)
	}
	c.logY = true
	if got := words(t, c.svg()); !strings.Contains(strings.Join(got, "|"), "seconds, logarithmic") {
		t.Errorf("logarithmic axis is not named: %q", got)
	}
}

func TestChartWithoutPointsIsStillXML(t *testing.T) {
	for _, logY := range []bool{false, true} {
		c := chart{title: "empty", logY: logY}
		if s := c.svg(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("logY %v: %s", logY, s)
		} else {
			words(t, s)
		}
	}
}
