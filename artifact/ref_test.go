package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/artifact"
)

func TestParseRef(t *testing.T) {
	for _, tt := range []struct {
		in, scheme, rest string // no scheme: no ref
	}{
		{"file:docs/policy.md", "file", "docs/policy.md"},
		{"file:/abs/path", "file", "/abs/path"},
		{"HTTPS://Host/Path", "https", "//Host/Path"},
		{"mcp:server/file:///x", "mcp", "server/file:///x"},
		{"func:name/rest", "func", "name/rest"},
		{"x-y+z.1:a", "x-y+z.1", "a"},
		{"file:Übersicht.md", "file", "Übersicht.md"},
		{"a0:x", "a0", "x"},
		{"z9:x", "z9", "x"},
		{"A:x", "a", "x"},
		{"Z:x", "z", "x"},
		{"file:a b\u00a0~", "file", "a b\u00a0~"},
		{"file:" + strings.Repeat("a", 4091), "file", strings.Repeat("a", 4091)},
		{in: "`:x"},
		{in: "{:x"},
		{in: "@:x"},
		{in: "[:x"},
		{in: "a/:x"},
		{in: "a;:x"},
		{in: "file:a\x1fb"},
		{in: "file:a\x7fb"},
		{in: "file:a\u0080b"},
		{in: "file:a\u009fb"},
		{in: ""},
		{in: "docs/policy.md"},
		{in: ":x"},
		{in: "file:"},
		{in: "1a:x"},
		{in: "a b:x"},
		{in: "fıle:x"},
		{in: "file:a\x00b"},
		{in: "file:a\nb"},
		{in: "file:a\u0085b"},
		{in: "file:\xff"},
		{in: "file:" + strings.Repeat("a", 4092)},
	} {
		got, err := artifact.ParseRef(tt.in)
		if (err == nil) != (tt.scheme != "") {
			t.Errorf("ParseRef(%.40q) = %.40q, %v", tt.in, got, err)
			continue
		}
		if got.Scheme() != tt.scheme || got.Rest() != tt.rest {
			t.Errorf("ParseRef(%q) has scheme %q and rest %q, want %q and %q", tt.in, got.Scheme(), got.Rest(), tt.scheme, tt.rest)
		}
	}
}

func TestSplit(t *testing.T) {
	type lines = artifact.Lines
	for _, tt := range []struct {
		ref, base artifact.Ref
		want      lines
	}{
		{"file:a", "file:a", lines{}},
		{"file:a#L10", "file:a", lines{10, 10}},
		{"file:a#L10-L20", "file:a", lines{10, 20}},
		{"file:a#L10-20", "file:a", lines{10, 20}},
		{"file:a#L7-L7", "file:a", lines{7, 7}},
		{"file:a#L1#L2", "file:a#L1", lines{2, 2}},
		{"https://h/p?q#L3", "https://h/p?q", lines{3, 3}},
		{"#L5", "", lines{5, 5}},
		{"file:a#L123456789", "file:a", lines{123456789, 123456789}},
		{"file:a#L1x", "file:a#L1x", lines{}},
		{"file:C#L", "file:C#L", lines{}},
		{"file:C#List", "file:C#List", lines{}},
		{"file:a#L0", "file:a#L0", lines{}},
		{"file:a#L01", "file:a#L01", lines{}},
		{"file:a#L20-L10", "file:a#L20-L10", lines{}},
		{"file:a#L1-", "file:a#L1-", lines{}},
		{"file:a#L-2", "file:a#L-2", lines{}},
		{"file:a#L1-LL2", "file:a#L1-LL2", lines{}},
		{"file:a#L1-L2-L3", "file:a#L1-L2-L3", lines{}},
		{"file:a#L1234567890", "file:a#L1234567890", lines{}},
	} {
		base, got := tt.ref.Split()
		if base != tt.base || got != tt.want {
			t.Errorf("Split of %q = %q, %v, want %q, %v", tt.ref, base, got, tt.base, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		content     string
		first, last int
		want        string
		gone        bool
	}{
		{"a\nb\nc\n", 0, 0, "a\nb\nc\n", false},
		{"", 0, 0, "", false},
		{"a\nb\nc\n", 1, 1, "a\n", false},
		{"a\nb\nc\n", 2, 3, "b\nc\n", false},
		{"a\nb\nc", 2, 3, "b\nc", false},
		{"a\nb\nc", 3, 99, "c", false},
		{"a\r\nb\r\n", 2, 2, "b\r\n", false},
		{"\n\n\n", 2, 2, "\n", false},
		{"a\nb\nc\n", 4, 4, "", true},
		{"a\nb\nc", 4, 9, "", true},
		{"", 1, 1, "", true},
	} {
		l := artifact.Lines{First: tt.first, Last: tt.last}
		got, err := l.Cut([]byte(tt.content))
		if string(got) != tt.want || errors.Is(err, artifact.ErrGone) != tt.gone || (err != nil) != tt.gone {
			t.Errorf("lines %v of %q = %q, %v, want %q, gone %t", l, tt.content, got, err, tt.want, tt.gone)
		}
	}
	_, err := artifact.Lines{First: 5, Last: 6}.Cut([]byte("a\nb"))
	if got, want := fmt.Sprint(err), "line 5: no longer there: the text has 2 lines"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

// What Cut returns is what splitting into lines gives, and appending to it does
// not write into the text.
func TestCutIsSplitting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(rapid.StringOf(rapid.SampledFrom([]rune("ab\n"))).Draw(t, "content"))
		first := rapid.IntRange(1, 6).Draw(t, "first")
		last := first + rapid.IntRange(0, 6).Draw(t, "more")
		lines := bytes.SplitAfter(content, []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		got, err := artifact.Lines{First: first, Last: last}.Cut(content)
		if first > len(lines) {
			if !errors.Is(err, artifact.ErrGone) {
				t.Fatalf("line %d of %q = %q, %v, want ErrGone", first, content, got, err)
			}
			return
		}
		if want := bytes.Join(lines[first-1:min(last, len(lines))], nil); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("lines %d to %d of %q = %q, %v, want %q", first, last, content, got, err, want)
		}
		before := bytes.Clone(content)
		if _ = append(got, "overwritten"...); !bytes.Equal(content, before) {
			t.Fatalf("appending to lines %d to %d of %q made it %q", first, last, before, content)
		}
	})
}

// FuzzRef checks that what ParseRef accepts can be taken apart and put together
// again.
func FuzzRef(f *testing.F) {
	for _, s := range []string{"file:a#L1-L2", "HTTP://h#L7", "mcp:a/b:c", ":", "a:\n", "file:#L1", "a:#L000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := artifact.ParseRef(s)
		if err != nil {
			if ref != "" {
				t.Fatalf("ParseRef(%q) = %q and an error", s, ref)
			}
			t.Skip()
		}
		if string(ref) != s {
			t.Fatalf("ParseRef(%q) = %q", s, ref)
		}
		scheme, rest := ref.Scheme(), ref.Rest()
		if scheme == "" || rest == "" || !strings.EqualFold(scheme+":"+rest, s) {
			t.Fatalf("%q has scheme %q and rest %q", s, scheme, rest)
		}
		base, lines := ref.Split()
		if lines == (artifact.Lines{}) {
			if base != ref {
				t.Fatalf("%q without lines is split into %q", s, base)
			}
			return
		}
		if lines.First < 1 || lines.Last < lines.First {
			t.Fatalf("%q has lines %+v", s, lines)
		}
		if b, l := artifact.Ref(string(base) + lines.String()).Split(); b != base || l != lines {
			t.Fatalf("%q splits into %q and %v, and these into %q and %v", s, base, lines, b, l)
		}
	})
}

func TestHolds(t *testing.T) {
	is := func(want string) func([]byte) bool {
		return func(content []byte) bool { return string(content) == want }
	}
	for _, tt := range []struct {
		name string
		have *artifact.Have
		want bool
	}{
		{"nothing", nil, false},
		{"nothing to compare with", &artifact.Have{ETag: `"1"`}, false},
		{"the same", &artifact.Have{Same: is("x")}, true},
		{"something else", &artifact.Have{Same: is("y")}, false},
	} {
		if got := tt.have.Holds([]byte("x")); got != tt.want {
			t.Errorf("a caller that has %s: Holds = %t, want %t", tt.name, got, tt.want)
		}
	}
}

func ExampleSourceFunc() {
	var clock artifact.Source = artifact.SourceFunc(
		func(context.Context, artifact.Ref, *artifact.Have) (*artifact.Fetched, error) {
			return &artifact.Fetched{Content: []byte("noon")}, nil
		})
	now, err := clock.Fetch(context.Background(), "func:clock", nil)
	fmt.Printf("%s %v\n", now.Content, err)
	// Output: noon <nil>
}
