package probe

import (
	"strings"
	"testing"
)

// The words of a term are found where they follow each other, and from the first to
// the last of them, whichever is the rarest.
func TestFollow(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the first is the rarest", "red blue green. blue green. green blue.", "red blue green"},
		{"the middle one is", "red. green. red blue green. red green.", "red blue green"},
		{"the last is", "red blue. red blue. red blue green.", "red blue green"},
		{"once more", "red blue green, blue. red blue green", "red blue green|red blue green"},
		{"over a line end", "red blue\ngreen", "red blue\ngreen"},
		{"another word between", "red and blue green", ""},
		{"in another order", "blue red green", ""},
		{"none of one", "red blue", ""},
		{"over two texts", "red blue|green", ""},
	} {
		texts := []string{tt.text}
		if tt.name == "over two texts" {
			texts = strings.Split(tt.text, "|")
		}
		m := newMatcher([]Probe{{ID: "p", Question: "?", Expected: []string{"red blue green"}}})
		r := m.read(texts)
		var got []string
		for _, s := range r.hits[0] {
			got = append(got, texts[0][s.start:s.end])
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A passage has room for hits whose beginnings are as many bytes apart, and no more, and
// begins with the first of them.
func TestFindIsBounded(t *testing.T) {
	probe := Probe{ID: "p", Question: "?", Expected: []string{"heron", "kestrel"}, Critical: true}
	for _, tt := range []struct {
		name, text string
		ok         bool
		start, end string // what the span begins and ends with
	}{
		{"next to each other", "a heron kestrel", true, "heron", "kestrel"},
		{"as far as may be", "heron" + strings.Repeat(" ", passageBytes-5) + "kestrel", true, "heron", "kestrel"},
		{"a byte further", "heron" + strings.Repeat(" ", passageBytes-4) + "kestrel", false, "heron", "heron"},
		{"twice, the second time near", "heron" + strings.Repeat(" ", 2*passageBytes) + "heron kestrel", true, "heron", "kestrel"},
		{"in the other order", "kestrel heron", true, "kestrel", "heron"},
		{"only one", "kestrel kestrel", false, "kestrel", "kestrel"},
	} {
		got := newMatcher([]Probe{probe}).read([]string{tt.text}).find(0)
		if got.ok != tt.ok {
			t.Errorf("%s: enough %v, want %v", tt.name, got.ok, tt.ok)
		}
		if s := tt.text[got.start:got.end]; !strings.HasPrefix(s, tt.start) || !strings.HasSuffix(s, tt.end) {
			t.Errorf("%s: found %.20q…, want it from %s to %s", tt.name, s, tt.start, tt.end)
		}
	}
}
