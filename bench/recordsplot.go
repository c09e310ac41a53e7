package main

// The picture of the part "records": the smallest memory cgroup in which a kernel is
// linked and encoded, as bars.

import (
	"fmt"
	"strings"
)

const recordsFile = "records.svg"

// Sizes of the picture in pixels; the others are those of the overview.
const (
	recordsNames = 196
	recordsBar   = 22
	recordsGap   = 26 // between configurations, with their names
)

// recordsColor is the colour of a way.
func recordsColor(way string) string {
	switch {
	case way == wayPahole:
		return overviewPahole
	case strings.HasPrefix(way, wayRecords):
		return overviewBtflite
	}
	return overviewText
}

// recordsPicture draws the picture; "" if there is nothing to show.
func recordsPicture(all []*RecordsResult) string {
	var shown []*RecordsResult
	largest, rows := 0, 0
	for _, r := range all {
		if len(r.Floors) > 0 {
			shown = append(shown, r)
			rows += len(r.Floors)
		}
		for _, f := range r.Floors {
			largest = max(largest, f.MiB)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	var b strings.Builder
	height := 30 + recordsGap*len(shown) + recordsBar*rows + 6
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" fill="%s">`+"\n",
		overviewWidth, height, overviewWidth, height, overviewText)
	text(&b, 0, 18, "start", `font-size="15" font-weight="bold"`, "the least memory in which a kernel is linked and its BTF made")
	y := 30.0
	for _, r := range shown {
		text(&b, 0, y+17, "start", "", fmt.Sprintf("Linux 7.2, %s configuration, %s objects", r.Name, thousands(r.Dwarf.Objects)))
		y += recordsGap
		for _, f := range r.Floors {
			width := float64(overviewWidth-recordsNames-overviewValue-10) * float64(f.MiB) / float64(largest)
			text(&b, recordsNames-10, y+13, "end", "", f.Tool)
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" rx="2" fill="%s"/>`+"\n", recordsNames, y, width, overviewBar, recordsColor(f.Tool))
			text(&b, recordsNames+width+6, y+13, "start", "", fmt.Sprintf("%d MiB", f.MiB))
			y += recordsBar
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
