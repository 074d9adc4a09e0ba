package gemini

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Skipped is the signature that the vendor documents for calls without a model's signature.
const Skipped = "skip_thought_signature_validator"

// otherSkipped is the other signature that the vendor documents for this purpose.
const otherSkipped = "context_engineering_is_the_way_to_go"

// Validate implements [transcript.Format].
func (format) Validate(data []byte) ([]transcript.Violation, error) {
	b, err := parse("", data)
	if err != nil {
		return nil, err
	}
	c := checker{Violations: chat.Violations{List: layout.Key}, body: b}
	if len(b.contents) == 0 {
		c.Report("G0", -1, "contents is not specified")
	}
	for i := range b.contents {
		c.content(i)
		c.order(i)
	}
	c.signatures()
	slices.SortStableFunc(c.Found, func(a, b transcript.Violation) int { return cmp.Compare(a.Message, b.Message) })
	return c.Found, nil
}

// A checker collects violations.
type checker struct {
	chat.Violations

	body *body
}

// reportPart reports a violation by one part of a content.
func (c *checker) reportPart(rule string, i, k int, text string, args ...any) {
	c.Report(rule, i, text, args...)
	c.Found[len(c.Found)-1].Field += fmt.Sprintf(".parts.%d", k)
}

// content checks the rules about one content alone.
func (c *checker) content(i int) {
	in := &c.body.contents[i]
	if len(in.parts) == 0 {
		c.Report("G6", i, "parts must not be empty")
	}
	for k := range in.parts {
		p := &in.parts[k]
		switch {
		case p.data != 1:
			c.reportPart("G6", i, k, "required oneof field 'data' must have one initialized field")
		case p.empty():
			c.reportPart("G6", i, k, "the text is empty")
		case in.misplaced(p):
			c.reportPart("G9", i, k, "a %s in a content of role %s", p.kind, in.role)
		}
		if p.kind != calls && p.kind != responds {
			continue
		}
		if p.name == "" {
			c.reportPart("G7", i, k, "Name cannot be empty.")
		}
		if !p.sound(c.body.Data) {
			c.reportPart("G7", i, k, "args and response must be objects")
		}
	}
}

// sound reports whether a call has an object as its args, or no args, or whether a response has an
// object as its field response.
func (p *part) sound(data []byte) bool {
	if p.input.End == 0 {
		return p.kind == calls
	}
	return data[p.input.Start] == byte(rawjson.Object)
}

// of returns the parts of a kind.
func (c *content) of(kind string) []*part {
	var list []*part
	for k := range c.parts {
		if c.parts[k].kind == kind {
			list = append(list, &c.parts[k])
		}
	}
	return list
}

// asked returns the calls that content i may answer: those of the content before it.
func (b *body) asked(i int) []*part {
	if i == 0 || b.contents[i-1].role != roleModel {
		return nil
	}
	return b.contents[i-1].of(calls)
}

// order checks a content against the one before it.
func (c *checker) order(i int) {
	in := &c.body.contents[i]
	if in.role == roleModel {
		switch {
		case i == 0:
			c.Report("G1", i, "the first content is of role model, not user")
		case c.body.contents[i-1].role == roleModel:
			c.Report("G2", i, "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		if i+1 < len(c.body.contents) && c.body.contents[i+1].role == roleModel && len(in.of(calls)) > 0 {
			c.Report("G3", i, "the calls have no response in the next content")
		}
		return
	}
	asked, answers := c.body.asked(i), in.of(responds)
	switch {
	case len(asked) == 0 && len(answers) > 0:
		c.Report("G4", i, "Please ensure that function response turn comes immediately after a function call turn.")
	case len(asked) != len(answers):
		c.Report("G3", i, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: %d for %d.", len(answers), len(asked))
	case !match(asked, answers):
		c.Report("G5", i, "a response is for none of the calls before it")
	}
}

// match reports whether each response in answers is for a different call in asked. A response is for
// a call with the same id or, if one of the two has no id, with the same name.
func match(asked, answers []*part) bool {
	byID := make(map[string][]int, len(asked)) // calls with an id, in order
	for i, call := range asked {
		if call.id != "" {
			byID[call.id] = append(byID[call.id], i)
		}
	}
	taken := make([]bool, len(asked))
	var rest []*part
	for _, p := range answers {
		if queue := byID[p.id]; len(queue) > 0 {
			taken[queue[0]], byID[p.id] = true, queue[1:]
			continue
		}
		rest = append(rest, p)
	}
	named := make(map[string][]*part) // remaining calls by name
	for i, call := range asked {
		if !taken[i] {
			named[call.name] = append(named[call.name], call)
		}
	}
	for _, p := range rest {
		queue := named[p.name]
		if len(queue) == 0 || p.id != "" && queue[0].id != "" {
			return false
		}
		named[p.name] = queue[1:]
	}
	return true
}

// signatures checks that signatures are valid, and present where the current turn needs them.
func (c *checker) signatures() {
	for i := range c.body.contents {
		for k, p := range c.body.contents[i].parts {
			if !signs(p.signature) {
				c.reportPart("G8", i, k, "Base64 decoding failed for the thought_signature")
			}
		}
	}
	for _, i := range c.body.unsigned(false) {
		c.Report("G8", i, "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.")
	}
}

// signs reports whether a text is empty or a possible signature.
func signs(text string) bool {
	if text == Skipped || text == otherSkipped {
		return true
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	_, err := base64.RawStdEncoding.DecodeString(text)
	return err == nil
}

// unsigned returns the indexes of replies in the current turn whose first call has no
// signature. Unless always is true, it returns none if no reply of the turn has a signature.
func (b *body) unsigned(always bool) (list []int) {
	from := len(b.contents)
	for from > 0 {
		if c := &b.contents[from-1]; c.role != roleModel && len(c.of(responds)) == 0 {
			break
		}
		from--
	}
	for i := from; i < len(b.contents); i++ {
		c := &b.contents[i]
		if c.role != roleModel {
			continue
		}
		for k := range c.parts {
			always = always || c.parts[k].signature != ""
		}
		if asks := c.of(calls); len(asks) > 0 && asks[0].signature == "" {
			list = append(list, i)
		}
	}
	if !always {
		return nil
	}
	return list
}
