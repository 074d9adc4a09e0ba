package retention

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An identifier is a name in a text.
type identifier struct {
	Text  string // a path is named by its last two segments
	Kind  Kind
	Inner bool // part of a larger one: it is there, but nobody asks for it
}

// identifiers returns the identifiers of a text, in order, repetitions included.
func identifiers(text string) []identifier {
	var list []identifier
	for _, m := range scan(text) {
		list = append(list, identifier{text[m.from:m.to], m.kind, m.inner})
	}
	return list
}

func TestIdentifiers(t *testing.T) {
	id := func(kind Kind, text string) identifier { return identifier{Text: text, Kind: kind} }
	inner := func(kind Kind, text string) identifier { return identifier{text, kind, true} }
	for _, tt := range []struct {
		name, text string
		want       []identifier
	}{
		{"words of a dictionary are none", "The quick brown fox, jumps over", nil},
		{"a path is its last two segments, and its file is inside", "see /home/ann/work/pager/plan.go now", []identifier{id(kindPath, "pager/plan.go"), inner(kindFile, "plan.go")}},
		{"two segments with a known ending are a path", "pager/plan.go", []identifier{id(kindPath, "pager/plan.go"), inner(kindFile, "plan.go")}},
		{"a file that is too short for one is only a part of a path", "ab/cd/a.go", []identifier{id(kindPath, "cd/a.go")}},
		{"three segments are a path without a file", "usr/local/bin", []identifier{id(kindPath, "local/bin")}},
		{"two plain words with a slash are no path", "either/or", nil},
		{"two segments with a digit are a path", "origin/v2", []identifier{id(kindPath, "origin/v2")}},
		{"two segments with an underscore are a path", "my_app/core", []identifier{id(kindPath, "my_app/core")}},
		{"two segments that are too short are none", "a/b1", nil},
		{"numbers with a slash are no path", "2024/05/17", []identifier{id(kindNumber, "2024")}},
		{"a file has a known ending", "open plan.go, not plan.xyz or 3.14", []identifier{id(kindFile, "plan.go")}},
		{"an ending may be in capitals", "README.MD", []identifier{id(kindFile, "README.MD")}},
		{"a file has five bytes", "a.go ab.go", []identifier{id(kindFile, "ab.go")}},
		{"what begins with a dot has no stem", ".json", nil},
		{"an address of mail", "to ann.lee@example.org.", []identifier{id(kindEmail, "ann.lee@example.org")}},
		{"a handle is no address", "@annlee", nil},
		{"a URL that is too short is read as words", "x://ab1c", []identifier{id(kindAtom, "ab1c")}},
		{"a URL is more than a scheme", "a1b2c3d4e5f6g7://", []identifier{id(kindAtom, "a1b2c3d4e5f6g7")}},
		{"three parts with hyphens", "gpt-four-mini", []identifier{id(kindKebab, "gpt-four-mini")}},
		{"two parts with a digit", "claude-3", []identifier{id(kindKebab, "claude-3")}},
		{"two parts of words", "well-known", nil},
		{"a date has no letter but eight bytes", "2024-05-17", []identifier{id(kindKebab, "2024-05-17")}},
		{"a range of numbers is too short for a date", "12-345 123-456", []identifier{id(kindNumber, "345"), id(kindNumber, "123"), id(kindNumber, "456")}},
		{"two hyphens in a row make none", "foo--bar-baz1", []identifier{id(kindAtom, "baz1")}},
		{"atoms", "max_len maxLen HTTPServer sha256 abc", []identifier{id(kindAtom, "max_len"), id(kindAtom, "maxLen"), id(kindAtom, "sha256")}},
		{"an outer underscore is no inner one", "_name name_ __init__", nil},
		{"an atom has four bytes", "x_1 a1 v12", nil},
		{"numbers of 3 to 18 digits", "12 123 123456789012345678 1234567890123456789", []identifier{id(kindNumber, "123"), id(kindNumber, "123456789012345678")}},
		{"atoms of a word with dots", "http.StatusOK", []identifier{id(kindAtom, "StatusOK")}},
		{"a line feed written as an escape separates", `err_one\nerr_two\tok\r`, []identifier{id(kindAtom, "err_one"), id(kindAtom, "err_two")}},
		{"another escape does not", `C:\foo_bar`, []identifier{id(kindAtom, "foo_bar")}},
		{"letters outside of ASCII separate", "größeMax naïve_x1", []identifier{id(kindAtom, "eMax"), id(kindAtom, "ve_x1")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, identifiers(tt.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// A URL keeps its query and loses the stop behind it.
func TestAtomsOfURLAreInner(t *testing.T) {
	want := []identifier{
		{"https://example.org/a_bc/item?id=1234", kindURL, false},
		{"a_bc", kindAtom, true},
		{"1234", kindNumber, true},
	}
	if diff := cmp.Diff(want, identifiers("(https://example.org/a_bc/item?id=1234).")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNeighbors(t *testing.T) {
	word := func(s string) name {
		if s == "" {
			return 0
		}
		return nameOf(s)
	}
	for _, tt := range []struct{ name, text, id, left, right string }{
		{"words on the line", "open the plan.go file", "plan.go", "the", "file"},
		{"signs between do not count", "call(max_len, 3)", "max_len", "call", "3"},
		{"the beginning of a line", "first\nmax_len is", "max_len", "", "is"},
		{"the end of a line", "the max_len\nlast", "max_len", "the", ""},
		{"alone", "max_len", "max_len", "", ""},
		{"a path has the segment before its last two", "/a/work/pager/plan.go ok", "pager/plan.go", "work", "ok"},
		{"a segment inside", "pager/plan.go ok", "plan.go", "pager", "ok"},
		{"an escape is no word", `x\nmax_len`, "max_len", "x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, m := range scan(tt.text) {
				if m.id != nameOf(tt.id) {
					continue
				}
				if m.left != word(tt.left) || m.right != word(tt.right) {
					t.Errorf("neighbors of %s in %q are not %q and %q", tt.id, tt.text, tt.left, tt.right)
				}
				return
			}
			t.Errorf("%s is not in %q", tt.id, tt.text)
		})
	}
}

func TestNormalLine(t *testing.T) {
	const said = "return fmt.Errorf(\"no such plan\")"
	for _, tt := range []struct{ name, line, want string }{
		{"blanks around and within", "\t\treturn  fmt.Errorf(\"no\tsuch   plan\")  ", said},
		{"an editor's arrow", "    12→\t" + said, said},
		{"an editor's tab", "    12\t" + said, said},
		{"a number and a colon", "12:" + said, said},
		{"a number and a bar", "7|" + said, said},
		{"a search tool's place", "pager/plan.go:12:\t" + said, said},
		{"a place without a line", "pager/plan.go:" + said, "pager/plan.go:" + said},
		{"a number that belongs to the text", "12 monkeys are in the zoo", "12 monkeys are in the zoo"},
		{"words before a colon are text", "the time is 10:30: lunch is served", "the time is 10:30: lunch is served"},
		{"19 bytes", "abcdefghi jklmnopqr", ""},
		{"20 bytes", "abcdefghij klmnopqrs", "abcdefghij klmnopqrs"},
		{"400 bytes", "ab " + strings.Repeat("c", 397), "ab " + strings.Repeat("c", 397)},
		{"401 bytes", "ab " + strings.Repeat("c", 398), ""},
		{"one word", strings.Repeat("word", 8), ""},
		{"no word of two letters", "1 2 3 4 5 6 7 8 9 a 1 2 3", ""},
		{"a ruler", "----- ----- ----- -----", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := NormalLine(tt.line); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
			}
		})
	}
}

func FuzzIdentifiers(f *testing.F) {
	f.Add("see /home/ann/pager/plan.go:12 and https://example.org/a?b=c_d1, max_len\\nfoo-bar-9 ann@x.io 2024-05-17\n")
	f.Add("\\n\\t\\\\n://a_b1//..--@@")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, m := range scan(text) {
			if m.from < last || m.to > len(text) || m.to-m.from < 3 {
				t.Fatalf("%q: mention from %d to %d behind %d", text, m.from, m.to, last)
			}
			last = m.from
			s := text[m.from:m.to]
			if m.id != nameOf(s) {
				t.Fatalf("%q: %q has the name of something else", text, s)
			}
			if m.inner || m.kind == kindPath {
				continue // may be read otherwise without what is around it
			}
			if alone := scan(s); len(alone) == 0 || alone[0].id != m.id || alone[0].kind != m.kind {
				t.Fatalf("%q: %q is %s, and alone it is %v", text, s, m.kind, identifiers(s))
			}
		}
		for _, l := range linesOf(text) {
			n := NormalLine(text[l.from:l.to])
			if nameOf(n) != l.id || len(n) < 20 || len(n) > 400 {
				t.Fatalf("%q: line %q", text, n)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("func (s *scanner) readAll(path string) error { // see internal/retention/scan.go:120\n\treturn fmt.Errorf(\"line_%d of 2048: %w\", n, err)\n", 500)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scan(text)
	}
}
