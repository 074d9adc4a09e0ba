package token_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/token"
)

// The texts of the benchmarks are made here, from a fixed seed: they have the
// shape of prose, code and JSON, not their sense.

var vocabulary = strings.Fields(`the of and to in a is that for it with as was on be by not this are or from at
	which but have an had they you were their one all we can her has there been if more when will would who so no
	system memory context window request session decision evidence compression reliable transcript working because
	important different understand organization particular environment responsibility measurement`)

func prose(size int) string {
	random := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for b.Len() < size {
		for i := range 8 + random.IntN(12) {
			word := vocabulary[random.IntN(len(vocabulary))]
			if i == 0 {
				word = strings.ToUpper(word[:1]) + word[1:]
			} else {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
		b.WriteString([]string{". ", ".\n", ", ", ".\n\n"}[random.IntN(4)])
	}
	return b.String()
}

func code(size int) string {
	random := rand.New(rand.NewPCG(7, 8))
	name := func() string { return vocabulary[random.IntN(len(vocabulary))] }
	var b strings.Builder
	for b.Len() < size {
		x, y := name(), name()
		fmt.Fprintf(&b, "// %s returns the %s of %s.\nfunc (%.1s *%s) %s(%s int) (string, error) {\n", x, y, name(), x, x, y, name())
		fmt.Fprintf(&b, "\tif %s.%s != nil && len(%s) > %d {\n\t\treturn \"\", fmt.Errorf(\"%s: %%w\", err)\n\t}\n", x, y, x, random.IntN(1000), y)
		fmt.Fprintf(&b, "\treturn %s[%d:], nil\n}\n\n", x, random.IntN(10))
	}
	return b.String()
}

func jsonText(size int) string {
	random := rand.New(rand.NewPCG(9, 10))
	name := func() string { return vocabulary[random.IntN(len(vocabulary))] }
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, `{"id":"%08x","name":"%s-%s","size":%d,"path":"/srv/%s/%s.go","ok":%t,"tags":["%s","%s"]},`+"\n",
			random.Uint32(), name(), name(), random.IntN(1e6), name(), name(), random.IntN(2) == 0, name(), name())
	}
	return b.String()
}

var benchmarkSink token.Count

func BenchmarkCount(b *testing.B) {
	const size = 256 << 10
	for _, input := range []struct{ name, text string }{
		{"prose", prose(size)},
		{"code", code(size)},
		{"json", jsonText(size)},
		{"cjk", strings.Repeat("上下文窗口是有限的，所以我们必须决定保留什么。\n", size/70)},
		{"letter", strings.Repeat("a", size)},
		{"blank-lines", strings.Repeat("\n ", size/2)},
	} {
		for _, name := range []string{"o200k_base", "cl100k_base", "estimate"} {
			c := encoding(b, name)
			c.Count("load")
			b.Run(input.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(input.text)))
				b.ReportAllocs()
				for b.Loop() {
					benchmarkSink += c.Count(input.text)
				}
			})
		}
	}
}
