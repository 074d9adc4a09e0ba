package manifest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
)

var update = flag.Bool("update", false, "write the examples into the specification")

// spec is the specification.
var spec = filepath.Join("..", "doc", "spec", "manifest.md")

// The example of the specification is what the package makes, and verifies.
func TestSpecificationExample(t *testing.T) {
	s := mustSeal(t, small())
	for mark, want := range map[string]string{"document": readable(t, s), "digests": listDigests(s)} {
		text, block := readSpec(t, mark)
		if *update {
			before, after, _ := strings.Cut(text, opening(mark)+block)
			if err := os.WriteFile(spec, []byte(before+opening(mark)+want+after), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, block); diff != "" {
			t.Errorf("the example %q is not what is made (-made +written); run the test with -update:\n%s", mark, diff)
		}
	}
	_, block := readSpec(t, "document")
	var data bytes.Buffer
	if err := json.Compact(&data, []byte(strings.SplitN(block, "\n", 2)[1])); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(data.Bytes())
	if err == nil {
		err = got.Verify()
	}
	if err != nil {
		t.Error(err)
	}
	if err := verifyAlone(data.Bytes()); err != nil {
		t.Error(err)
	}
}

// opening is what stands before an example.
func opening(mark string) string { return "<!-- example: " + mark + " -->\n```" }

// readSpec returns the specification and what is in one of its fenced blocks,
// from the language on.
func readSpec(t *testing.T, mark string) (text, block string) {
	t.Helper()
	data, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), opening(mark))
	block, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("the specification has no example %q", mark)
	}
	return string(data), block
}

// readable writes a document with its header on many lines and each item on
// one.
func readable(t *testing.T, s *Sealed) string {
	t.Helper()
	var doc struct {
		Header json.RawMessage   `json:"header"`
		Items  []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(s.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("json\n{\n  \"header\": ")
	if err := json.Indent(&out, doc.Header, "  ", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteString(",\n  \"items\": [\n")
	for i, it := range doc.Items {
		comma := ","
		if i == len(doc.Items)-1 {
			comma = ""
		}
		fmt.Fprintf(&out, "    %s%s\n", it, comma)
	}
	fmt.Fprintf(&out, "  ],\n  \"schema\": %q,\n  \"seal\": %q\n}\n", Schema, s.Seal())
	return out.String()
}

// listDigests writes the digests on the way to the seal.
func listDigests(s *Sealed) string {
	d := write(&s.manifest, s.salts)
	out := fmt.Sprintf("text\nbytes           %d\nSHA-256(header) %v\n", len(s.Bytes()), digest.Of(d.header.Of(d.data)))
	for i, sum := range s.digests() {
		out += fmt.Sprintf("itemDigest %-4d %v\n", i+1, sum)
	}
	return out + fmt.Sprintf("seal            %v\n", s.Seal())
}

// Every word of the closed lists is in the specification, and every key.
func TestSpecificationIsComplete(t *testing.T) {
	data, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(data), "## Example")
	var words []string
	for _, r := range append(Included(), Excluded()...) {
		words = append(words, string(r))
	}
	for _, k := range kinds {
		words = append(words, string(k))
	}
	for _, o := range []FetchOutcome{OutcomeUnchanged, OutcomeChanged, OutcomeGone, OutcomeForbidden, OutcomeUnavailable} {
		words = append(words, string(o))
	}
	for _, c := range provenance.Classes() {
		words = append(words, string(c))
	}
	for _, tag := range tags {
		words = append(words, string(tag))
	}
	m := small()
	m.Header.Review = true
	var doc any
	if err := json.Unmarshal(mustSeal(t, m).Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	words = append(words, keys(doc)...)
	if len(words) < 100 {
		t.Errorf("only %d words", len(words))
	}
	for _, w := range words {
		if !strings.Contains(text, "`"+w+"`") {
			t.Errorf("%s is not in the specification", w)
		}
	}
}

// keys returns the keys of a JSON value.
func keys(v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			list = append(append(list, k), keys(v)...)
		}
	case []any:
		for _, v := range v {
			list = append(list, keys(v)...)
		}
	}
	return list
}

// The members of each object are those of the table in the specification, and the same may be left
// out.
func TestMembersAreThoseOfTheSpecification(t *testing.T) {
	header, segment, omission, set, fetch, output := new(Header).members(), new(Segment).members(), new(Omission).members(), new(Set).members(), new(Fetch).members(), new(Output).members()
	text, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	for title, members := range map[string][]member{
		"### Header": header[:], "**`segment`**": segment[:], "**`omission`**": omission[:], "**`set`**": set[:], "**`fetch`**": fetch[:], "**`output`**": output[:],
	} {
		_, table, _ := strings.Cut(string(text), "\n"+title)
		_, table, _ = strings.Cut(table, "\n|---|---|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		want, got := make(map[string]bool), make(map[string]bool)
		for row := range strings.Lines(table) {
			cells := strings.Split(row, "|")
			want[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[3]) == "opt."
		}
		for _, m := range members {
			got[m.key] = m.optional
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-specification +code):\n%s", title, d)
		}
	}
}
