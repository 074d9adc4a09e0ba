package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEach(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   string
		want []Identifier
	}{
		{"plain words are none", "look at the pager and fix it", nil},
		{"paths keep their root", "see /srv/app/main.go and internal/pool/pool.go.", []Identifier{
			{"/srv/app/main.go", KindPath}, {"internal/pool/pool.go", KindPath},
		}},
		{"a fraction is no path", "and/or", nil},
		{"files by their extension", "README.md, go.mod; v1.2", []Identifier{{"README.md", KindFile}, {"go.mod", KindFile}}},
		{"urls whole, without the full stop", "at https://git.example.com/acme/pull/17?x=1.", []Identifier{
			{"https://git.example.com/acme/pull/17?x=1", KindURL},
		}},
		{"addresses", "mail ada@example.com now", []Identifier{{"ada@example.com", KindEmail}}},
		{"dates, ids and names with dashes", "2024-05-15 HAT-204 billing-jobs-sync well-known", []Identifier{
			{"2024-05-15", KindKebab}, {"HAT-204", KindKebab}, {"billing-jobs-sync", KindKebab},
		}},
		{"symbols", "shutdownTimeout ERR_CLOSED wg x2y4 WORD", []Identifier{
			{"shutdownTimeout", KindSymbol}, {"ERR_CLOSED", KindSymbol}, {"x2y4", KindSymbol},
		}},
		{"numbers and numbers with a unit", "port 8443, 12 times, 40ms", []Identifier{{"8443", KindNumber}, {"40ms", KindQuantity}}},
		{"a URL behind other text", "x=(https://git.example.com/a)", []Identifier{{"https://git.example.com/a", KindURL}}},
		{"what is too short to be a URL", "a://bcd.ef x", nil},
		{"a scheme without a host", "use git+ssh:// here", nil},
		{"a URL of two schemes", "pip git+https://git.example.com/a", []Identifier{{"git+https://git.example.com/a", KindURL}}},
		{"a scheme alone", "at ://git.example.com/a", nil},
		{"a range of commits", "main.go..topic.go", []Identifier{{"main.go", KindFile}, {"topic.go", KindFile}}},
		{"a home directory", "~/lamp/main.go", []Identifier{{"~/lamp/main.go", KindPath}}},
		{"a package of a scope", "@acme/lamp-kit/main.js", []Identifier{{"@acme/lamp-kit/main.js", KindPath}}},
		{"a path from here", "./lamp/main.go ../lamp/main.go", []Identifier{{"lamp/main.go", KindPath}, {"lamp/main.go", KindPath}}},
		{"a hidden folder", "/w/.lamp/main.go .lamp/main.go", []Identifier{{"/w/.lamp/main.go", KindPath}, {".lamp/main.go", KindPath}}},
		{"a package with its version", "urllib3-2.2.1 and lamp@1.2.3", []Identifier{{"urllib3", KindSymbol}, {"2.2.1", KindVersion}, {"1.2.3", KindVersion}}},
		{"a class of characters", "[a-z0-9] in [b-y0-8]", nil},
		{"an escaped line feed separates", `a.go\nb.go`, []Identifier{{"a.go", KindFile}, {"b.go", KindFile}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []Identifier
			Each(tt.in, func(id Identifier, _ int) { got = append(got, id) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Each(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// A scan also marks compounds that are no names but that an agent may repeat.
func TestScanMarksWords(t *testing.T) {
	text := "keep it up-to-date in README.md/LICENSE.txt, a 17-step way of GitHub: bg-red-500/10, and/or, s/old1/new1/, --dry-run, v1.2-3, well-known URLs"
	var got []string
	for _, m := range NewScan(text).Marks {
		if m.kind == kindWord {
			got = append(got, text[m.From:m.To])
		}
	}
	Each(text, func(id Identifier, _ int) {
		if slices.Contains(got, id.Text) {
			t.Errorf("%s is a name (%s)", id.Text, id.Kind)
		}
	})
	want := []string{"up-to-date", "README.md/LICENSE.txt", "17-step", "GitHub", "bg-red-500/10"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("words (-want +got):\n%s", d)
	}
}

// Identifiers are substrings of the text, in order.
func TestIdentifiersAreVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zA-Z0-9_./@:~+%#?=& -]|é|\\n){0,80}`).Draw(t, "text")
		last := 0
		Each(text, func(id Identifier, at int) {
			if at < last || !strings.HasPrefix(text[at:], id.Text) {
				t.Fatalf("%q is not at %d of %q, or overlaps", id.Text, at, text)
			}
			last = at + len(id.Text)
		})
	})
}

func FuzzEach(f *testing.F) {
	f.Add("internal/pool/pool.go:17 https://example.com/a?b=c \\n 8443")
	f.Fuzz(func(t *testing.T, text string) {
		Each(text, func(id Identifier, at int) {
			if id.Text == "" || id.Kind == "" || !strings.HasPrefix(text[at:], id.Text) {
				t.Fatalf("identifier %+v of %q", id, text)
			}
		})
	})
}

func TestEachAllocatesNothing(t *testing.T) {
	text := strings.Repeat(mixed, 3)
	n := 0
	if got := testing.AllocsPerRun(10, func() { Each(text, func(Identifier, int) { n++ }) }); got != 0 || n == 0 {
		t.Errorf("Each allocates %v times and finds %d identifiers, want 0 times and some", got, n)
	}
}

func TestWordsAtTheirBounds(t *testing.T) {
	long := strings.Repeat("ab-", 25) // 75 bytes
	for _, tt := range []struct {
		what string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"joined from others", func(w string) bool { return isJoined(w, '-') }, []string{"a-b-cd", long + "abcde"}, []string{"a-b-c", long + "abcdef", "1-2-34", "a--b-c", "a.b-c-d"}},
		{"a path of one slash", func(w string) bool { return isPath(w, 1) }, []string{"a/b.go", "@acme/lamp", "lamp/2.txt", "lamp_a/dim", "lamp2/dim", "@a/bc"}, []string{"lamp/dim", "a/b", "@a/b", "on/off", "1/22", "lamp/2.1", "a.go/b.go"}},
		{"a path of two slashes", func(w string) bool { return isPath(w, 2) }, []string{"lamp/dim/lit", "/srv/app", "/srv/" + strings.Repeat("a", 135)}, []string{"s/a/b.go", "a/b/c", "/srv/" + strings.Repeat("a", 136)}},
		{"a branch", isBranch, []string{"fix/a-b-c", long + "abcde"}, []string{long + "abcdef", "fix/a-b", "a-b--c"}},
		{"a piece of a drawing", isSVGPath, []string{"1l2", "10h5v", "10h50v60"}, []string{"l12", "10h50v", "1x2", "1lm2", "1l_2"}},
		{
			"drawn by lot", func(w string) bool { return isOpaque(w, '-') },
			[]string{"i-0abc123def456", "x-1aaaa2aaa", "abcdefghijklmnop-9f8e7d6c5b4a", "call-9f8e7d6c"},
			[]string{"x-1a2b3c4d.5e6f", "-0abc123def456", "abcdefghijklmnopq-9f8e7d6c5b4a", "call-9f8e7d6", "x-aBcDeFgHiJ", "x-1234567890", "a-b-9f8e7d6c5b4a", "call-abcdefghijkl"},
		},
		{"an ordinal", isOrdinal, []string{"1st", "22nd", "1990s", "4xx"}, []string{"st", "4xy", "s"}},
	} {
		for _, w := range tt.yes {
			if !tt.is(w) {
				t.Errorf("%s is not %s", w, tt.what)
			}
		}
		for _, w := range tt.no {
			if tt.is(w) {
				t.Errorf("%s is %s", w, tt.what)
			}
		}
	}
	for w, want := range map[string]int{"pool.go-17": 7, "dir/pool.go-17": 11, "a.c-1": 3, "pool.go-": 0, "pool-17": 0, "pool.go-x": 0, "pool.go": 0} {
		if got := contextLine(w); got != want {
			t.Errorf("the name in %s has %d bytes, want %d", w, got, want)
		}
	}
}
