package responses

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// Validate implements [transcript.Format].
func (format) Validate(data []byte) ([]transcript.Violation, error) {
	b, err := parse("", data)
	if err != nil {
		return nil, err
	}
	c := checker{Violations: chat.Violations{List: layout.Key}, body: b, open: make(map[string]int), called: make(map[string]bool)}
	if len(b.items) == 0 && b.elsewhere == "" {
		c.Report("R0", -1, "there are no items")
	}
	for i := range b.items {
		c.item(i)
	}
	if n := len(b.runs); n > 0 {
		for i := b.runs[n-1].from; i < len(b.items); i++ {
			delete(c.open, b.items[i].call) // calls of the last reply are pending
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		if b.elsewhere == "" {
			c.Report("R1", c.open[id], "No tool output found for %s %s", words(b.items[c.open[id]].kind), id)
		}
	}
	slices.SortStableFunc(c.Found, func(a, b transcript.Violation) int { return cmp.Compare(a.Message, b.Message) })
	return c.Found, nil
}

// A checker collects violations.
type checker struct {
	chat.Violations

	body   *body
	open   map[string]int  // calls without an output so far: id to index of the item
	called map[string]bool // ids of all calls so far
}

func (c *checker) item(i int) {
	it := &c.body.items[i]
	if it.kind == "message" && it.content.Empty() {
		c.Report("R0", i, "the message has no content")
	}
	if it.needsContent() && it.content.Empty() {
		c.Report("R0", i, "the output is missing")
	}
	if it.kind == "reasoning" && it.id != "" && !c.leads(i+1) {
		c.Report("R3", i, "Item '%s' of type 'reasoning' was provided without its required following item", it.id)
	}
	if it.oddID() {
		c.Report("R4", i, "Invalid 'input[%d].id': '%s'. Expected an ID that begins with '%s'", i, it.id, prefixes[it.kind])
	}
	if it.twice {
		c.Report("R5", i, "Duplicate item found with id %s", it.id)
	}
	switch {
	case outputs[it.kind] != "":
		c.call(i, it)
	case it.class == answered && it.isText():
		c.output(i, it)
	}
}

// leads reports whether item i can follow reasoning in its reply.
func (c *checker) leads(i int) bool {
	return i < len(c.body.items) && (c.body.items[i].class == replied || c.body.items[i].class == compacted)
}

func (c *checker) call(i int, it *item) {
	if it.odd() {
		c.Report("R6", i, "the %s needs a call_id of at most 64 bytes, a name, and its input as a text", words(it.kind))
	}
	if c.called[it.call] {
		c.Report("R7", i, "the call_id %s is that of another call", it.call)
	} else {
		c.open[it.call] = i
	}
	c.called[it.call] = true
}

// output checks that an output answers an open call of its kind.
func (c *checker) output(i int, it *item) {
	at, open := c.open[it.call]
	switch {
	case open && it.answers(c.body.items[at].kind):
		delete(c.open, it.call)
	case c.body.elsewhere != "" && !c.called[it.call]:
		// the call is at the server
	default:
		c.Report("R2", i, "No tool call found for %s with call_id %s", words(it.kind), it.call)
	}
}

// words returns a type as the provider's error messages write it, with spaces for underscores.
func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
