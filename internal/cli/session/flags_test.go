package session

import (
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
)

// A share of probes is from 0 to 1; a missing one is nil, not 0.
func TestParseLeast(t *testing.T) {
	if got, err := parseLeast("--probe-min", ""); got != nil || err != nil {
		t.Errorf("got %v, %v for what is not given", got, err)
	}
	for in, want := range map[string]ratio.Ratio{"0": 0, "0.9": ratio.Of(9, 10), "1": ratio.One, "100%": ratio.One} {
		if got, err := parseLeast("--probe-min", in); err != nil || *got != want {
			t.Errorf("parseLeast(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"-0.1", "-1", "-0", "1.000001", "2", "101%", "x", ".", "0.0000001"} {
		if got, err := parseLeast("--probe-min", in); err == nil {
			t.Errorf("parseLeast(%q) = %v, want an error", in, got)
		}
	}
}

func TestParseRange(t *testing.T) {
	for _, tt := range []struct {
		in       string
		from, to int
		ok       bool
	}{
		{"", 0, 0, true},
		{"0:1", 0, 1, true},
		{"5:6", 5, 6, true},
		{"5:", 5, 0, true},
		{":5", 0, 5, true},
		{":", 0, 0, true},
		{"5:5", 0, 0, false},
		{"6:5", 0, 0, false},
		{"-1:5", 0, 0, false},
		{"0:0", 0, 0, false},
		{"5", 0, 0, false},
		{"a:5", 0, 0, false},
		{"5:b", 0, 0, false},
	} {
		from, to, err := parseRange(tt.in)
		if err == nil && (from != tt.from || to != tt.to) || (err == nil) != tt.ok {
			t.Errorf("parseRange(%q) = %d, %d, %v, want %d, %d, %v", tt.in, from, to, err, tt.from, tt.to, tt.ok)
		}
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ in, want string }{
		{"36h", "2026-02-09T00:00:00Z"},
		{"7d", "2026-02-03T12:00:00Z"},
		{"2w", "2026-01-27T12:00:00Z"},
		{"2026-01-31", "2026-01-31T00:00:00Z"},
		{"2026-01-31T08:00:00+01:00", "2026-01-31T08:00:00+01:00"},
		{"-1d", ""},
		{"d", ""},
		{"soon", ""},
	} {
		got := ""
		if at, err := parseSince(tt.in, now); err == nil {
			got = at.Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("parseSince(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Each section has a unique word for --count.
func TestSectionWords(t *testing.T) {
	words := sectionWords()
	if slices.Sort(words); len(slices.Compact(words)) != len(summary.Sections()) {
		t.Errorf("words of sections are %v, want one of each", words)
	}
}

func TestShareBar(t *testing.T) {
	for _, tt := range []struct {
		n, of int
		want  string
	}{
		{0, 0, ""},
		{0, 7, "[..........]"},
		{1, 100, "[#.........]"},
		{99, 100, "[#########.]"},
		{7, 7, "[##########]"},
		{1, 1, "[##########]"},
	} {
		if got := shareBar(tt.n, tt.of, 10); got != tt.want {
			t.Errorf("shareBar(%d, %d) = %q, want %q", tt.n, tt.of, got, tt.want)
		}
	}
}
