package facts

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestScanLines(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blank lines are none", "\n \n\t\nretry the dial\n\n", []string{"retry the dial"}},
		{"blanks around a line are not of it", "  retry the dial \r\n", []string{"retry the dial"}},
		{"the number of an editor is not of it", "    12→\tretry the dial\n13\tand wait", []string{"retry the dial", "and wait"}},
		{"a number alone is", "12→\n", []string{"12→"}},
		{"other numbers are", "12 retries", []string{"12 retries"}},
	} {
		s := NewScan(tt.text)
		var got []string
		for _, l := range s.Lines {
			got = append(got, s.Text[l.From:l.To])
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestLinesThatSayTheSame(t *testing.T) {
	const line = "return errors.Join(err, c.Close())"
	for _, same := range []string{
		line, "\t" + line, "   118→\t" + line, "return  errors.Join(err,\tc.Close())", "pool.go:118:\t" + line, "118:" + line, "118|" + line,
	} {
		if got, want := NewScan(same).Lines[0].Key, NewScan(line).Lines[0].Key; got != want || got == 0 {
			t.Errorf("%q has the key %x, want %x", same, got, want)
		}
	}
	for _, other := range []string{"return errors.Join(err, d.Close())", "// " + line} {
		if NewScan(other).Lines[0].Key == NewScan(line).Lines[0].Key {
			t.Errorf("%q has the key of %q", other, line)
		}
	}
}

// Words are compared without case, and words of fewer than four letters are ignored.
func TestWordsOfLines(t *testing.T) {
	words := func(line string) []uint16 { return appendWords(nil, line) }
	if a, b := words("Mend the LAMP_bulb, été 12345"), words("mend lamp bulb ÉTÉ été"[:14]); len(a) != 4 || !slices.Equal(a[:3], b) {
		t.Errorf("got %x and %x", a, b)
	}
	seen := make(map[uint16]bool)
	for i := range 1000 {
		word := []byte("aaaaa")
		for k, n := 0, i; n > 0; k, n = k+1, n/10 {
			word[k] += byte(n % 10)
		}
		for _, w := range words(string(word)) {
			seen[w] = true
		}
	}
	if len(seen) < 950 {
		t.Errorf("1000 words have %d keys", len(seen))
	}
	if long := words(strings.Repeat("lamp ", 400)); len(long) != (2*maxCopied+1)/5 {
		t.Errorf("%d words of a long line", len(long))
	}
}

func TestLinesThatSayTooLittle(t *testing.T) {
	for _, tt := range []struct{ name, line string }{
		{"fewer than 20 bytes", "if err != nil {"},
		{"one word", "github.com/acme/app/internal/pool"},
		{"no word of two letters", "1 2 3 4 5 6 7 8 9 a b c d e f"},
		{"more than 400 bytes", strings.Repeat("many words ", 40)},
		{"less without the place", "internal/pool.go:118: a = b"},
	} {
		if key := NewScan(tt.line).Lines[0].Key; key != 0 {
			t.Errorf("%s: %q has a key", tt.name, tt.line)
		}
	}
}

func TestScanMarks(t *testing.T) {
	s := NewScan("see internal/pool/dial.go, then\ncall retryDial twice")
	var got []string
	for _, m := range s.Marks {
		got = append(got, s.Text[m.From:m.To]+" in "+s.Text[m.Left:m.Right])
	}
	want := []string{
		"pool/dial.go in internal/pool/dial.go, then",
		"dial.go in pool/dial.go, then",
		"retryDial in call retryDial twice",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	a, b := NewScan("src/internal/pool/dial.go"), NewScan("pool/dial.go")
	if a.Marks[0].Key != b.Marks[0].Key {
		t.Error("a path is another one when it is named from elsewhere")
	}
}

func TestPartOfAFile(t *testing.T) {
	for text, want := range map[string]int32{"1→a line\n2→a line": 1, "   80→- a line\n": 80, "a line": 0, "7 lines": 0} {
		if got := NewScan(text).start; got != want {
			t.Errorf("%q begins at line %d, want %d", text, got, want)
		}
	}
}

// sound checks the invariants of a scan.
func sound(t interface{ Fatalf(string, ...any) }, s *Scan) {
	at, mark, word := int32(0), int32(0), int32(0)
	for k, l := range s.Lines {
		if l.From < at || l.To <= l.From || int(l.To) > len(s.Text) {
			t.Fatalf("line %d is from %d to %d, behind %d of %d", k, l.From, l.To, at, len(s.Text))
		}
		at = l.To
		if l.First != mark || l.End < l.First || l.words != word || l.wordsEnd < l.words {
			t.Fatalf("line %d has marks %d to %d and words %d to %d, want from %d and %d", k, l.First, l.End, l.words, l.wordsEnd, mark, word)
		}
		mark, word = l.End, l.wordsEnd
		if strings.Contains(s.Text[l.From:l.To], "\n") {
			t.Fatalf("line %d is two", k)
		}
		for i := l.First; i < l.End; i++ {
			m := &s.Marks[i]
			if m.Left < 0 || m.Left > m.From || m.From >= m.To || m.To > m.Right || m.Right > l.To {
				t.Fatalf("mark %d of line %d to %d: %+v", i, l.From, l.To, *m)
			}
		}
	}
	if int(mark) != len(s.Marks) || int(word) != len(s.words) {
		t.Fatalf("%d marks of %d and %d words of %d are in lines", mark, len(s.Marks), word, len(s.words))
	}
	if !utf8.ValidString(s.Text) {
		return
	}
	for k, l := range s.Lines {
		if !utf8.ValidString(s.Text[l.From:l.To]) {
			t.Fatalf("line %d cuts a character", k)
		}
	}
	for i := range s.Marks {
		if m := &s.Marks[i]; !utf8.ValidString(s.Text[m.From:m.To]) || !utf8.ValidString(s.Text[m.Left:m.Right]) {
			t.Fatalf("mark %d cuts a character: %q in %q", i, s.Text[m.From:m.To], s.Text[m.Left:m.Right])
		}
	}
}

func FuzzNewScan(f *testing.F) {
	f.Add("")
	f.Add(mixed)
	f.Add("12→\n13→\t\n\r\n 14→x")
	f.Add("äöü_Größe1 größe/straße/übung.go ‹retryDial› e\u0301\xff\xfefoo_bar")
	f.Add("a/b/c.go:12:\x00 x" + strings.Repeat("ü", 50) + "getUser" + strings.Repeat("ü", 50))
	f.Fuzz(func(t *testing.T, text string) {
		s := NewScan(text)
		sound(t, s)
		if again := NewScan(text); !cmp.Equal(s.Lines, again.Lines, cmp.AllowUnexported(Line{})) {
			t.Fatal("another scan is different")
		}
	})
}

func BenchmarkNewScan(b *testing.B) {
	text := strings.Repeat(mixed, 500)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if len(NewScan(text).Marks) == 0 {
			b.Fatal("nothing found")
		}
	}
}
