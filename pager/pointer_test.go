package pager

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// pointerTo returns a request for a pointer to a text, counted in bytes.
func pointerTo(text string, limit token.Count) *PointerRequest {
	count := func(s string) token.Count { return token.Count(len(s)) }
	return &PointerRequest{
		ID: "a1", Text: text, Limit: limit, First: 1, Count: count,
		Pieces: func(msgs []transcript.Message, blocks []transcript.Block) []facts.Piece {
			return facts.History(msgs, blocks, &facts.HistoryOptions{})
		},
	}
}

// A pointer has the head, the tail, and the single line that differs from a thousand similar
// lines, whatever its words are.
func TestPointerHasTheLineThatStandsOut(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		if i == 500 {
			b.WriteString("the ledger of module nineteen did not balance\n")
		}
		fmt.Fprintf(&b, "ok   module-%d in %d ms\n", i, i*7%13)
	}
	text := b.String()
	got := Pointer(pointerTo(text, 2000))
	if len(got) > 2000 {
		t.Errorf("%d bytes, above 2000", len(got))
	}
	for _, want := range []string{"stashed", "id a1", "module-0 in", "module-999 in", "501: the ledger of module nineteen did not balance"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The bytes that are left out are those of the lines that are not shown.
func TestPointerCountsBytes(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "a%d\n", i)
	}
	got := Pointer(pointerTo(b.String(), 1500))
	missing := 0
	for i := range 400 {
		line := fmt.Sprintf("a%d\n", i)
		if !strings.Contains(got, "\n"+line) && !strings.Contains(got, fmt.Sprintf("\n%d: %s", i+1, line)) {
			missing += len(line)
		}
	}
	if want := fmt.Sprintf(": %d bytes of lines ", missing); !strings.Contains(got, want) || missing == 0 {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// A text that fits has nothing left out, with the numbers that are asked for.
func TestPointerToAShortText(t *testing.T) {
	r := pointerTo("one\ntwo\n", 1000)
	if got := Pointer(r); !strings.HasSuffix(got, "]\none\ntwo\n") {
		t.Errorf("got %q", got)
	}
	r.Numbered, r.First = true, 41
	if got := Pointer(r); !strings.HasSuffix(got, "]\n41\tone\n42\ttwo\n") {
		t.Errorf("got %q", got)
	}
}

// The short pointer has both ends and says how much is between them.
func TestShortPointer(t *testing.T) {
	if got := ShortPointer("a1", "one\n"); !strings.HasSuffix(got, "]\none\n") {
		t.Errorf("got %q", got)
	}
	text := strings.Repeat("0123456789\n", 400)
	got := ShortPointer("a1", text)
	head, tail, ok := strings.Cut(got, " bytes left out here]\n")
	if !ok || len(got) > 3*headTail || !strings.HasSuffix(got, "0123456789\n") || !strings.HasPrefix(tail, "0123456789\n") || !strings.Contains(head, "0123456789\n") {
		t.Errorf("got %q", got)
	}
}

// A text that is a byte too long loses little of itself.
func TestPointerUsesItsLimit(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "the ledger of %c%c is not in balance\n", 'a'+i%26, 'a'+i/26)
	}
	limit := len(stashMark("a1", b.String())) + b.Len() - 1
	got := Pointer(pointerTo(b.String(), token.Count(limit)))
	if n := len(got); n > limit || n < limit*9/10 {
		t.Errorf("%d bytes, want nearly %d:\n%s", n, limit, got)
	}
}

// A limit that not even the notes fit ends with them and nothing of the text.
func TestPointerBeyondItsLimit(t *testing.T) {
	got := Pointer(pointerTo(strings.Repeat("ledger\n", 400), 1))
	if !strings.Contains(got, ": 2800 bytes of lines 1 to 400 are left out here") || strings.Contains(got, "ledger") {
		t.Errorf("got %q", got)
	}
}

// A single byte that is left out is told.
func TestMiddleOfOneByte(t *testing.T) {
	m := (&pointing{pointerTo("one\n\ntwo\n", 100)}).middle("one\n", "two\n")
	if got := m.text(nil); !strings.Contains(got, ": 1 bytes of lines 2 to 2 are left out here") {
		t.Errorf("got %q", got)
	}
}

// The ends of a text are as many whole lines as fit, with their numbers.
func TestEndsOfAPointer(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for _, tt := range []struct {
		name       string
		numbered   bool
		limit      token.Count
		head, tail string
	}{
		{"all", false, 14, text, text},
		{"all but a byte", false, 13, "one\ntwo\n", "two\nthree\n"},
		{"two and one", false, 8, "one\ntwo\n", "three\n"},
		{"one line", false, 6, "one\n", "three\n"},
		{"a line with its number", true, 10, "one\n", "three\n"},
		{"two lines with numbers", true, 14, "one\ntwo\n", "three\n"},
		{"nothing", false, 0, "", ""},
		{"an empty line", false, 1, "\n", "\n"},
		{"all with an empty line", false, 16, "\n" + text + "\n", "\n" + text + "\n"},
	} {
		all := text
		if strings.HasPrefix(tt.head, "\n") {
			all = "\n" + text + "\n"
		}
		r := pointerTo(all, 1000)
		if r.Numbered = tt.numbered; tt.numbered {
			r.First = 98 // the last line has three digits
		}
		p := &pointing{r}
		if got := p.head(all, tt.limit); got != tt.head {
			t.Errorf("%s: the head is %q, want %q", tt.name, got, tt.head)
		}
		if got := p.tail(all, tt.limit); got != tt.tail {
			t.Errorf("%s: the tail is %q, want %q", tt.name, got, tt.tail)
		}
	}
}
