package admin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/plugin"
	"github.com/carrel-dev/carrel/secret"
)

// diff returns the changed lines of a change. It does not show credentials.
func (c *fileChange) diff() string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", shownPath(c.path, c.before), shownPath(c.path, c.after))
	old, next := splitLines(c.before), splitLines(c.after)
	if c.alone && bytes.Equal(slices.Concat(c.before, c.after), plugin.Skill) { // nobody has changed the skill
		fmt.Fprintf(&b, "@@ the skill of Carrel, %d lines @@\n", len(old)+len(next))
		return b.String()
	}
	at := -1
	show := func(sign byte, line int, text string) {
		if line != at {
			fmt.Fprintf(&b, "@@ line %d @@\n", line+1)
		}
		at = line
		if sign == '+' {
			at++
		}
		b.WriteByte(sign)
		b.WriteString(out.Visible(secret.Redact(text)))
		b.WriteByte('\n')
	}
	i, j := 0, 0
	for _, same := range append(common(old, next), [2]int{len(old), len(next)}) {
		for ; i < same[0]; i++ {
			show('-', j, old[i])
		}
		for ; j < same[1]; j++ {
			show('+', j, next[j])
		}
		i, j = i+1, j+1
	}
	return b.String()
}

func shownPath(path string, content []byte) string {
	if content == nil {
		return "no file"
	}
	return out.Visible(path)
}

func splitLines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// mostCells is how many cells the table of [longest] may have at most.
const mostCells = 4 << 20

// common returns pairs of indexes of equal lines in a and b, in order: equal lines at the start
// and at the end, and between them a longest common subsequence, unless its table would be too
// large.
func common(a, b []string) [][2]int {
	var same [][2]int
	from, endA, endB := 0, len(a), len(b)
	for from < min(endA, endB) && a[from] == b[from] {
		same = append(same, [2]int{from, from})
		from++
	}
	for endA > from && endB > from && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	if (endA-from)*(endB-from) <= mostCells {
		for _, p := range longest(a[from:endA], b[from:endB]) {
			same = append(same, [2]int{p[0] + from, p[1] + from})
		}
	}
	for i := range len(a) - endA {
		same = append(same, [2]int{endA + i, endB + i})
	}
	return same
}

// longest returns a longest common subsequence.
func longest(a, b []string) [][2]int {
	n := make([][]int, len(a)+1) // n[i][j] is the length for a[i:] and b[j:]
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i, line := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			if line == b[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var same [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case n[i+1][j] >= n[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same
}
