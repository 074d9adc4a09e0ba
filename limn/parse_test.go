package limn

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// testPack has verbs with all kinds of slots, and a noun.
var testPack = &Pack{
	Name:  "test",
	Nouns: []string{"claim"},
	verbs: []*packVerb{
		{Pack: "test", Word: "cite", Slots: []packSlot{
			{Name: "quotation", Required: true},
			{Name: "source", Connective: "from", Required: true, IsName: true},
		}},
		{Pack: "test", Word: "measure", Slots: []packSlot{
			{Name: "value", Required: true},
			{Name: "source", Connective: "from", Required: true, IsName: true},
			{Name: "tolerance", Connective: "within"},
		}},
		{Pack: "test", Word: "navigate", Slots: []packSlot{
			{Name: "screen", Connective: "to", Required: true, IsName: true},
		}},
	},
}

// TestGrammar runs the examples of testdata/grammar, one archive for each part of
// the grammar. An accepted example is its text, its canonical form after "= ", and
// its amber condition after "~ ". A refused one is its text and the error, with
// position, after "! ", and its hint after "? " if that is pinned. Blank lines are
// between examples.
func TestGrammar(t *testing.T) {
	files, err := filepath.Glob("testdata/grammar/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sections := []string{}
			for _, f := range archive.Files {
				sections = append(sections, f.Name)
				for _, e := range examples(string(f.Data)) {
					testExample(t, f.Name, e)
				}
			}
			if want := []string{"accepted", "refused"}; !slices.Equal(sections, want) {
				t.Errorf("sections are %q, want %q", sections, want)
			}
		})
	}
}

// An example is a text and what is expected of it.
type example struct {
	source                []string
	canon, amber, refusal []string
	hints                 []string
}

// examples cuts a section into examples.
func examples(section string) []example {
	var all []example
	e := example{}
	for line := range strings.Lines(section + "\n") {
		line = strings.TrimSuffix(line, "\n")
		expected := len(e.canon)+len(e.amber)+len(e.refusal) > 0
		mark, rest, _ := strings.Cut(line, " ")
		switch {
		case mark == "=":
			e.canon = append(e.canon, rest)
		case mark == "~":
			e.amber = append(e.amber, rest)
		case mark == "!":
			e.refusal = append(e.refusal, rest)
		case mark == "?":
			e.hints = append(e.hints, rest)
		case line == "" && expected:
			all = append(all, e)
			e = example{}
		default:
			e.source = append(e.source, line)
		}
	}
	return all
}

// testExample runs one example of a section.
func testExample(t *testing.T, section string, e example) {
	t.Helper()
	source := strings.Join(e.source, "\n")
	if (section == "accepted") != (len(e.canon) > 0) || (section == "refused") != (len(e.refusal) > 0) {
		t.Errorf("%s: example without what it expects:\n%s", section, source)
	}
	prog := Parse("", source, &Options{Packs: []*Pack{testPack}})
	var gotCanon, gotAmber, gotRefusal, gotHints []string
	for _, l := range prog.Lines {
		if l.Err != nil {
			gotRefusal = append(gotRefusal, l.Err.Error())
			gotHints = append(gotHints, l.Err.Hint)
			if l.Err.Hint == "" {
				t.Errorf("no hint for %v", l.Err)
			}
			continue
		}
		gotCanon = append(gotCanon, strings.Split(l.String(), "\n")...)
		if l.Amber != "" {
			gotAmber = append(gotAmber, l.Amber)
		}
	}
	if diff := cmp.Diff(gotCanon, e.canon); diff != "" && section == "accepted" {
		t.Errorf("canonical form of\n%s\n(-got +want)\n%s", source, diff)
	}
	if diff := cmp.Diff(gotRefusal, e.refusal); diff != "" {
		t.Errorf("errors of\n%s\n(-got +want)\n%s", source, diff)
	}
	if diff := cmp.Diff(gotHints, e.hints); diff != "" && e.hints != nil {
		t.Errorf("hints of\n%s\n(-got +want)\n%s", source, diff)
	}
	if diff := cmp.Diff(gotAmber, e.amber); diff != "" {
		t.Errorf("amber of\n%s\n(-got +want)\n%s", source, diff)
	}
	testFixedPoint(t, prog)
}

// testFixedPoint checks that the canonical form of a program parses to the same
// statements and prints the same.
func testFixedPoint(t *testing.T, prog *Program) {
	t.Helper()
	canon := prog.String()
	again := Parse("", canon, &Options{Packs: []*Pack{testPack}})
	for _, l := range again.Lines {
		if l.Err != nil {
			t.Fatalf("the canonical form does not parse: %v\n%s", l.Err, canon)
		}
	}
	if got := again.String(); got != canon {
		t.Fatalf("the canonical form is\n%s\nand that of it\n%s", canon, got)
	}
	if diff := diffStatements(again, prog); diff != "" {
		t.Fatalf("the canonical form has other statements (-got +want)\n%s", diff)
	}
}

// diffStatements returns how the statements of programs differ, apart from where they stand
// and how they were written, which it removes from both.
func diffStatements(got, want *Program) string {
	g, w := statements(got), statements(want)
	strip(reflect.ValueOf(g))
	strip(reflect.ValueOf(w))
	if reflect.DeepEqual(g, w) {
		return ""
	}
	return cmp.Diff(g, w)
}

// strip removes the positions, sources and ambers in a node.
func strip(v reflect.Value) {
	k := v.Kind()
	if (k == reflect.Interface || k == reflect.Pointer) && !v.IsNil() {
		strip(v.Elem())
	}
	if k == reflect.Slice {
		for i := range v.Len() {
			strip(v.Index(i))
		}
	}
	if k == reflect.Struct {
		stripFields(v)
	}
}

// stripFields removes the same in a struct. It spares verbs of packs, which are
// shared.
func stripFields(v reflect.Value) {
	switch node := v.Addr().Interface().(type) {
	case *Pos:
		*node = Pos{}
	case *Line:
		node.Pos, node.Source, node.Amber = Pos{}, "", ""
		strip(reflect.ValueOf(node.stmt))
		return
	case *number:
		node.Pos, node.value = Pos{}, Value{} // the text says it all
		return
	case *packVerb:
		return
	}
	for _, field := range v.Fields() {
		strip(field)
	}
}

// statements returns the statements of a program.
func statements(p *Program) []stmt {
	var stmts []stmt
	for _, l := range p.Lines {
		if l.stmt != nil {
			stmts = append(stmts, l.stmt)
		}
	}
	return stmts
}

// Upstream prints a quoted word without its quotes, so that reading it again looks
// up a name, and does the same to reasons.
func TestQuotedTextKeepsItsQuotes(t *testing.T) {
	const text = `show "big" because "asked"` + "\n"
	if got := Parse("", text, nil).String(); got != text {
		t.Errorf("the canonical form is %q, want %q", got, text)
	}
	op := Parse("", text, nil).Lines[0].stmt.(*sequence).Ops[0]
	if _, ok := op.Core.(*show).Values[0].(*quotation); !ok {
		t.Errorf("shown is %T, want *Text", op.Core.(*show).Values[0])
	}
}

// Upstream refuses a "where" with "includes", although it has the grammar for it.
func TestWhereAcceptsIncludes(t *testing.T) {
	l := Parse("", `keep the orders where tags includes "new"`, nil).Lines[0]
	if l.Err != nil {
		t.Fatal(l.Err)
	}
	if got, want := l.stmt.(*sequence).Ops[0].Core.(*selection).Cond.(*test).Op, opIncludes; got != want {
		t.Errorf("operator is %q, want %q", got, want)
	}
}

func TestLinesAreCutWhereTheLanguageCuts(t *testing.T) {
	text := "a\r\nb\rc\vd\fe\x1cf\x1dg\x1eh\u0085i\u2028j\u2029k\n\nl\n"
	want := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "", "l"}
	var got []string
	for n, line := range Lines(text) {
		got = append(got, line)
		if n != len(got) {
			t.Errorf("line %q has number %d, want %d", line, n, len(got))
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("lines (-got +want)\n%s", diff)
	}
	for _, text := range []string{"a\u22a8b", "a\u2027b", "a\u202ab", "a\u00a9b", "a\u0105b", "\xe2\x80", "\xe2", "\xc2", "\xe2\x81\xa8b", "\x85b", "a\x1fb\tc\x00d\x7fe"} {
		for n, line := range Lines(text) {
			if n != 1 || line != text {
				t.Errorf("%q has a line %d, %q", text, n, line)
			}
		}
	}
	for _, end := range []string{"\r", "\r\n", "\u0085", "\u2028"} {
		for n, line := range Lines("x" + end) {
			if n != 1 || line != "x" {
				t.Errorf("%q has a line %d, %q", "x"+end, n, line)
			}
		}
	}
	for range Lines("x\ny") {
		break
	}
}

func TestLinesKnowWhereTheyStand(t *testing.T) {
	prog := Parse("p.limn", "-- remark\n\n  show x\ncount\nwhen x is 1\n    show y\n\n    show z\nshow w", nil)
	type line struct {
		Pos    Pos
		Source string
		Err    bool
	}
	var got []line
	for _, l := range prog.Lines {
		got = append(got, line{l.Pos, l.Source, l.Err != nil})
	}
	want := []line{
		{Pos{3, 3}, "  show x", false},
		{Pos{4, 1}, "count", true},
		{Pos{5, 1}, "when x is 1\n    show y\n\n    show z", false},
		{Pos{9, 1}, "show w", false},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("lines (-got +want)\n%s", diff)
	}
	body := prog.Lines[2].stmt.(*when).Body
	if got, want := body[1].Pos, (Pos{8, 5}); got != want {
		t.Errorf("the second line of the body is at %v, want %v", got, want)
	}
	if prog.Name != "p.limn" {
		t.Errorf("the name is %q", prog.Name)
	}
}

// A handler that is wrong takes its body with it: none of it may run on its own.
func TestBodyOfWrongHandlerIsNotRead(t *testing.T) {
	for _, text := range []string{
		"when\n  show x",
		"when x is\n  show x",
		"when x is \"\n  show x",
		"inherited when x is 1 because \"y\"\n  show x\n    show y",
		"when x is 1\n  show x\n  when y is 2\n    show z",
		"when x is 1\n  show\" x\n  show y\n\n  show z",
	} {
		prog := Parse("", text, nil)
		if len(prog.Lines) != 1 || prog.Lines[0].Err == nil || prog.Lines[0].stmt != nil {
			t.Errorf("%q has %d lines, the first with error %v", text, len(prog.Lines), prog.Lines[0].Err)
		}
	}
}

// A body ends with a line that cannot be in it: that one belongs to the handler,
// which is wrong, and the lines behind it are statements of the program.
func TestBodyEndsWithALineThatIsIndentedWrongly(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"deeper", "when x is 1\n  show x\n    show y\n  show z\n\n   show w", "!1 4 6"},
		{"deeper punctuation", "when x is 1\n  show x\n    ,,,\n  show z", "!1 4"},
		{"a tab", "when x is 1\n\tshow x\n  show y", "!1 3"},
		{"a tab behind spaces", "when x is 1\n  show x\n  \tshow y\n  show z", "!1 4"},
		{"shallower", "when x is 1\n   show x\n  show y", "1 3"},
		{"at the left, but for a space that is none", "when x is 1\n  show x\n\u00a0\u00a0show y", "1 3"},
		{"spaces behind a space that is none", "when x is 1\n  show x\n\u00a0  show y", "1 3"},
		{"a handler that is indented", " when x is 1\n   show x", "!1 2"},
		{"a handler behind a tab", "\twhen x is 1\n\t  show x", "!1 !2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range Parse("", tt.text, nil).Lines {
				mark := ""
				if l.Err != nil {
					mark = "!"
				}
				got = append(got, mark+strconv.Itoa(l.Pos.Line))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("lines %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	cases := map[string]string{
		"choose":     strings.Repeat("choose if x is 1: ", 10_000) + "show b",
		"teach":      strings.Repeat("remember how to x: ", 10_000) + "show b",
		"each":       strings.Repeat("each xs ", 10_000) + "show",
		"from":       strings.Repeat("remember a v called x from ", 10_000) + "y",
		"arithmetic": "assign x to 1" + strings.Repeat(" plus 1", 10_000),
		"product":    "assign x to 1" + strings.Repeat(" multiplied by 1", 10_000),
	}
	for name, text := range cases {
		l := Parse("", text, nil).Lines[0]
		want := "statements are nested too deep"
		if name == "arithmetic" || name == "product" {
			want = "too many operators in one value"
		}
		if l.Err == nil || l.Err.Text != want {
			t.Errorf("%s: the error is %v", name, l.Err)
		}
	}
	wide := strings.Repeat("remember a v called y from count the xs then each xs show and ", maxNesting) + "show b"
	if l := Parse("", wide, nil).Lines[0]; l.Err != nil {
		t.Errorf("side by side: %v", l.Err)
	}
	deep := strings.Repeat("choose if x is 1: ", maxNesting-1) + "show b"
	if l := Parse("", deep, nil).Lines[0]; l.Err != nil {
		t.Errorf("nested %d deep: %v", maxNesting, l.Err)
	}
}

func TestLongLinesAreFine(t *testing.T) {
	text := "remember a list called xs with 1" + strings.Repeat(" and 1", 50_000)
	l := Parse("", text, nil).Lines[0]
	if l.Err != nil {
		t.Fatal(l.Err)
	}
	if got := l.String(); got != text {
		t.Errorf("the canonical form has %d bytes, want %d", len(got), len(text))
	}
}

func BenchmarkParse(b *testing.B) {
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "add \"block-%#04x\" to paged-blocks\n", i)
	}
	text := lines.String()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if l := Parse("", text, nil).Lines[9_999]; l.Err != nil {
			b.Fatal(l.Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/stmt")
}

// A noun of a pack is reserved while the pack is loaded.
func TestNounsAreNotBound(t *testing.T) {
	pack, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	opts := &Options{Packs: []*Pack{pack}}
	for _, line := range []string{"assign claim to 5", "gather the source from 1 to 3", "remember a value called claim with 5"} {
		if r := last(t, opts, line); r.Status != StatusParseError || !strings.Contains(r.Message, "is a noun of a pack") {
			t.Errorf("%s: %s: %s, want an error", line, r.Status, r.Message)
		}
		if r := last(t, nil, line); r.Status != StatusSuccess {
			t.Errorf("%s without the pack: %s: %s", line, r.Status, r.Message)
		}
	}
}
