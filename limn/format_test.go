package limn

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a statement without a line end", "the xs count.", "count the xs\n"},
		{"comments and blank lines stay", "-- one\n\n  -- two \nshow x\n\n", "-- one\n\n-- two \nshow x\n\n"},
		{"a comment may be empty", "--\nshow x\n", "--\nshow x\n"},
		{
			"a comment goes where the body of its handler is", "when x is 1:\n     -- in\n     show x\n-- left\n     show y\n   -- behind\n",
			"when x is 1\n  -- in\n  show x\n-- left\n  show y\n-- behind\n",
		},
		{"a comment that is indented by one space", "when x is 1\n -- in\n show x\n", "when x is 1\n  -- in\n  show x\n"},
		{"a blank line in a handler stays", "when x is 1\n    show x\n  \n    show y\n", "when x is 1\n  show x\n\n  show y\n"},
		{"handlers follow one another", "when x is 1\n show x\nwhen x is 2\n show x\nshow y", "when x is 1\n  show x\nwhen x is 2\n  show x\nshow y\n"},
		{"other line ends", "show x\r\n-- a\rshow y\vshow z\u2028", "show x\n-- a\nshow y\nshow z\n"},
		{"a byte order mark", "\ufeff-- one\nshow x\n", "-- one\nshow x\n"},
		{"quotes that are needed", `show "Big" and SHOW "y z"`, "show \"Big\" and show \"y z\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Format(tt.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("formatted %q (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

func TestFormatRefusesErrors(t *testing.T) {
	got, err := Format("show x\ncount\nadd\n", nil)
	e, ok := errors.AsType[*Error](err)
	if got != "" || !ok || e.Pos.Line != 2 {
		t.Errorf("Format gave %q and %v, want the error of line 2", got, err)
	}
}

// However statements, comments and blank lines are mixed, formatting keeps the
// statements and the comments, and formatting once more changes nothing.
func TestFormatKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{T: t}
		var b strings.Builder
		comments := 0
		for range g.n(0, 6) {
			switch g.n(0, 3) {
			case 0:
				b.WriteString(g.pick("", " ", "   ") + "-- " + g.pick("a", "when x is 1", `"`, "ü ") + "\n")
				comments++
			case 1:
				b.WriteString(g.pick("", "  ", "\t") + "\n")
			case 2:
				b.WriteString((&Line{stmt: g.sequence(2)}).String() + "\n")
			default:
				for i, line := range strings.Split((&Line{stmt: g.when()}).String(), "\n") {
					if i > 1 && g.chance() {
						b.WriteString(g.pick("  ", "") + "-- inside\n")
						comments++
					}
					b.WriteString(line + "\n")
				}
			}
		}
		text := b.String()
		checkFormat(t, text)
		formatted, err := Format(text, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		found := 0
		for _, line := range Lines(formatted) {
			if strings.HasPrefix(strings.TrimSpace(line), "-- ") {
				found++
			}
		}
		if found < comments {
			t.Fatalf("%d comments of %d are left of\n%s\nin\n%s", found, comments, text, formatted)
		}
	})
}

// checkFormat checks what holds for the format of every text.
func checkFormat(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) {
	t.Helper()
	formatted, err := Format(text, nil)
	if err != nil {
		return
	}
	again, err := Format(formatted, nil)
	if err != nil || again != formatted {
		t.Fatalf("%q is formatted as\n%q and then as\n%q (%v)", text, formatted, again, err)
	}
	before, after := Parse("", text, nil), Parse("", formatted, nil)
	if before.String() != after.String() {
		t.Fatalf("%q means\n%s\nand its format\n%s", text, before, after)
	}
	lines := func(s string) (n int) {
		for range Lines(s) {
			n++
		}
		return n
	}
	if lines(text) != lines(formatted) {
		t.Fatalf("%q has %d lines and its format %d", text, lines(text), lines(formatted))
	}
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"", "-- a\nshow x", "when x is 1:\n  -- b\n\n   show y\n -- c", "the xs count\r\n\r\nshow \"A\"",
		"about x\n\twhen", "inherited when x is 1 from a:\n show x\n--\n show y", "\u0085 --\u2028show a", "show x\n   ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkFormat(t, text) })
}

// Some editors put a byte order mark before a text.
func TestAByteOrderMarkIsNoStatement(t *testing.T) {
	if r := last(t, nil, "\ufeffremember a number called n with 3", "require n is 3"); r.Status != StatusSuccess {
		t.Errorf("%s: %s", r.Status, r.Message)
	}
	if !OpensBlock("\ufeffwhen n is 3") {
		t.Error("a handler behind a byte order mark begins no block")
	}
}
