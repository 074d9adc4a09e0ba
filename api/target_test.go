package api

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A target is tokens above 0, or a share above 0 and up to the whole.
func TestParseTarget(t *testing.T) {
	for _, tt := range []struct {
		in     string
		tokens token.Count
		share  ratio.Ratio
		ok     bool
	}{
		{"", 0, 0, false},
		{"1", 1, 0, true},
		{"0", 0, 0, false},
		{"-1", 0, 0, false},
		{"12,904", 12904, 0, true},
		{"12_904", 12904, 0, true},
		{"100%", 0, ratio.One, true},
		{"0.0001%", 0, 1, true},
		{"0%", 0, 0, false},
		{"-1%", 0, 0, false},
		{"-50%", 0, 0, false},
		{"100.0001%", 0, 0, false},
		{"%", 0, 0, false},
		{"half", 0, 0, false},
	} {
		got, err := ParseTarget(tt.in)
		if got.Tokens != tt.tokens || got.Share != tt.share || (err == nil) != tt.ok {
			t.Errorf("ParseTarget(%q) = %v, %v, want %d, %v, %v", tt.in, got, err, tt.tokens, tt.share, tt.ok)
		}
	}
}

// A target comes back from JSON and from its text as it was.
func TestTargetComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Target{Tokens: token.Count(rapid.IntRange(1, 1<<31-1).Draw(t, "tokens"))}
		if rapid.Bool().Draw(t, "share") {
			want = Target{Share: ratio.Ratio(rapid.Int64Range(1, int64(ratio.One)).Draw(t, "of a million"))}
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Target
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%s comes back as %v, %v", data, got, err)
		}
		if got, err := ParseTarget(want.String()); err != nil || got != want {
			t.Errorf("%v comes back as %v, %v", want, got, err)
		}
	})
	for _, text := range []string{`"half"`, `0.5`, `"0.5"`, `"0%"`, `true`, `{}`} {
		if json.Unmarshal([]byte(text), new(Target)) == nil {
			t.Errorf("%s is no target", text)
		}
	}
}
