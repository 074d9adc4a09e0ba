package handoff

import (
	"os"
	"strings"
	"testing"
)

// The example of the specification is a packet in canonical form, and the page
// names every rule, section and key.
func TestSpec(t *testing.T) {
	data, err := os.ReadFile("../doc/spec/handoff.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	_, rest, _ := strings.Cut(page, "<!-- example: packet -->\n```markdown\n")
	text, _, ok := strings.Cut(rest, "```\n\n## ")
	if !ok {
		t.Fatal("the page has no example")
	}
	p, err := Parse("example", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Markdown(); got != text {
		t.Errorf("the example is written as\n%s", got)
	}
	if found := findings(Check(p, nil)); found != "" {
		t.Errorf("findings:\n%s", found)
	}
	for _, r := range Rules() {
		if !strings.Contains(page, "| `"+string(r)+"` |") {
			t.Errorf("the page does not tell of the rule %s", r)
		}
	}
	fields := headFields
	for i := range layouts {
		fields = append(append(fields, field{key: string(layouts[i].section)}), layouts[i].fields...)
	}
	for _, f := range append(append(fields, intentFields...), intentLists...) {
		if !strings.Contains(page, f.key) || !strings.Contains(page, f.label) {
			t.Errorf("the page does not tell of %q, %q", f.key, f.label)
		}
	}
}
