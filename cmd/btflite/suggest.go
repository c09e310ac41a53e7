package main

import "strings"

// closest returns the long option name of the table that is most like the
// misspelt one, or "" if none is near: at most one edit per four letters,
// hyphens standing for underscores.
func closest(table []option, misspelt string) string {
	var names []string
	for i := range table {
		if table[i].group != "" {
			names = append(names, table[i].long...)
		}
	}
	return closestOf(names, misspelt)
}

// closestOf is closest over a plain list. The earlier of equals wins.
func closestOf(names []string, misspelt string) string {
	const longest = 64 // no option name comes near; bounds the work
	if len(misspelt) > longest {
		return ""
	}
	word := normalName(misspelt)
	best, bestCost := "", 1+max(1, len(word)/4)
	for _, n := range names {
		if cost := editDistance(word, normalName(n)); cost < bestCost {
			best, bestCost = n, cost
		}
	}
	return best
}

func normalName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "-", "_")
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that lead from a to b (optimal string alignment).
func editDistance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
