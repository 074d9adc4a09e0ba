package limn

import (
	"fmt"
	"strings"
	"testing"
)

// addLines returns a program that adds n items to a list and counts them.
func addLines(n int) string {
	var b strings.Builder
	b.WriteString("remember a list called blocks\n")
	for i := range n {
		fmt.Fprintf(&b, "add \"block-%06d\" to blocks\n", i)
	}
	b.WriteString("count the blocks\n")
	return b.String()
}

// moveLines returns a program that moves n items from one list to another, as a
// contract does.
func moveLines(n int) string {
	var b strings.Builder
	b.WriteString("remember a list called retained-blocks\nremember a list called paged-blocks\n")
	for i := range n {
		fmt.Fprintf(&b, "add \"block-%06d\" to retained-blocks\n", i)
	}
	for i := range n {
		fmt.Fprintf(&b, "remove \"block-%06d\" from retained-blocks\n", i)
		fmt.Fprintf(&b, "add \"block-%06d\" to paged-blocks\n", i)
		fmt.Fprintf(&b, "require paged-blocks includes \"block-%06d\"\n", i)
		fmt.Fprintf(&b, "forbid retained-blocks includes \"block-%06d\"\n", i)
	}
	return b.String()
}

func BenchmarkRun10000(b *testing.B)  { benchmarkRun(b, addLines(10_000)) }
func BenchmarkRun100000(b *testing.B) { benchmarkRun(b, addLines(100_000)) }
func BenchmarkMove10000(b *testing.B) { benchmarkRun(b, moveLines(10_000)) }
func BenchmarkMove50000(b *testing.B) { benchmarkRun(b, moveLines(50_000)) }

// benchmarkRun parses and runs a program, and reports statements per second.
func benchmarkRun(b *testing.B, text string) {
	b.ReportAllocs()
	statements := strings.Count(text, "\n")
	for b.Loop() {
		m := NewMachine(nil)
		for r := range m.Run(Parse("", text, nil)) {
			if r.Status != StatusSuccess {
				b.Fatal(r.Message)
			}
		}
	}
	b.ReportMetric(float64(statements)*float64(b.N)/b.Elapsed().Seconds(), "statements/s")
}
