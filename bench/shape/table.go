package shape

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Table measures modules and writes their shapes side by side, as a Markdown table with a column
// for each folder.
func Table(dirs ...string) (string, error) {
	var b strings.Builder
	var shapes []*Shape
	b.WriteString("| |")
	for _, dir := range dirs {
		s, err := Measure(dir)
		if err != nil {
			return "", err
		}
		shapes = append(shapes, s)
		fmt.Fprintf(&b, " %s |", dir)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(dirs)) + "\n")
	row := func(title string, cell func(*Shape) string) {
		fmt.Fprintf(&b, "| %s |", title)
		for _, s := range shapes {
			fmt.Fprintf(&b, " %s |", cell(s))
		}
		b.WriteString("\n")
	}
	row("packages of the program, imports between them", func(s *Shape) string {
		arrows := 0
		for _, p := range s.Packages {
			arrows += len(p.Imports)
		}
		return fmt.Sprintf("%d, %d", len(s.Packages), arrows)
	})
	row("files, lines without tests", func(s *Shape) string { return fmt.Sprintf("%d, %d", s.Files, s.Lines) })
	row("longest file", func(s *Shape) string { return sizes([]Size{s.LongestFile}) })
	row("functions; lines: median, 95th percentile", func(s *Shape) string {
		return fmt.Sprintf("%d; %d, %d", len(s.Functions), quantile(s.Functions, 50), quantile(s.Functions, 95))
	})
	row("longest functions", func(s *Shape) string { return sizes(last(s.Functions, 5)) })
	row("functions over 60, over 120 lines", func(s *Shape) string {
		return fmt.Sprintf("%d, %d", above(s.Functions, 60), above(s.Functions, 120))
	})
	row("functions nested deeper than 4; deepest", func(s *Shape) string {
		return fmt.Sprintf("%d; %s", above(s.Depth, 4), sizes(last(s.Depth, 3)))
	})
	row("most fields", func(s *Shape) string { return sizes(last(s.Fields, 5)) })
	row("types over 25 fields", func(s *Shape) string { return fmt.Sprint(above(s.Fields, 25)) })
	row("most methods", func(s *Shape) string { return sizes(last(s.Methods, 5)) })
	row("types over 40 methods", func(s *Shape) string { return fmt.Sprint(above(s.Methods, 40)) })
	row("most fields, also of embedded structs", func(s *Shape) string { return sizes(last(s.ReachFields, 6)) })
	row("most methods, also of embedded types", func(s *Shape) string { return sizes(last(s.ReachMethods, 6)) })
	row("types from which over 40 fields, over 50 methods can be reached", func(s *Shape) string {
		return fmt.Sprintf("%d, %d", above(s.ReachFields, 40), above(s.ReachMethods, 50))
	})
	row("references between files of a package, upward, circular", func(s *Shape) string {
		var refs, up, circular int
		for _, p := range s.Packages {
			refs, up, circular = refs+p.Refs, up+p.Up, circular+p.Circular
		}
		return fmt.Sprintf("%d, %s, %s", refs, percent(up, refs), percent(circular, refs))
	})
	row("the same by package, most upward first", func(s *Shape) string { return upward(s.Packages) })
	return b.String(), nil
}

// upward lists the packages with the highest shares of upward references.
func upward(packages []*Package) string {
	list := slices.DeleteFunc(slices.Clone(packages), func(p *Package) bool { return p.Up == 0 })
	slices.SortStableFunc(list, func(a, b *Package) int { return b.Up*a.Refs - a.Up*b.Refs })
	var parts []string
	for _, p := range list[:min(6, len(list))] {
		parts = append(parts, fmt.Sprintf("`%s` %d, %s, %s", p.Path, p.Refs, percent(p.Up, p.Refs), percent(p.Circular, p.Refs)))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// last is the n largest, largest first.
func last(list []Size, n int) []Size {
	list = slices.Clone(list[max(0, len(list)-n):])
	slices.Reverse(list)
	return list
}

func sizes(list []Size) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, fmt.Sprintf("`%s` %d", s.Name, s.N))
	}
	return strings.Join(parts, ", ")
}

// quantile is the value that p percent of a sorted list, which is not empty, do not exceed.
func quantile(list []Size, p int) int {
	return list[(len(list)*p+99)/100-1].N
}

// above is how many of a sorted list are above a limit.
func above(list []Size, limit int) int {
	within := sort.Search(len(list), func(i int) bool { return list[i].N > limit })
	return len(list) - within
}

func percent(part, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", (part*200+whole)/(2*whole))
}
