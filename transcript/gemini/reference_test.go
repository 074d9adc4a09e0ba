package gemini

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// drawBody draws a request that breaks rules more often than not. Half of the requests break
// only rules about the order of contents.
func drawBody(t *rapid.T) []byte {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	clean := rapid.Bool().Draw(t, "clean")
	or := func(odd ...string) []string { // returns the faulty values, or none if clean
		if clean {
			return nil
		}
		return odd
	}
	id := func() string { return pick("id", "", "", `"id":"a",`, `"id":"b",`) }
	name := func() string {
		return pick("name", append(or(`"name":""`), `"name":"f"`, `"name":"f"`, `"name":"g"`)...)
	}
	sign := func() string {
		return pick("signature", append(or(`,"thoughtSignature":"*"`), "", "", "", `,"thoughtSignature":"c2ln"`, `,"thought_signature":"c2-_"`, `,"thoughtSignature":"`+Skipped+`"`)...)
	}
	part := func(role string) string {
		kinds := []string{"text", "call", "call", "thought"}
		if !strings.Contains(role, "model") {
			kinds = []string{"text", "response", "response", "image"}
		}
		switch pick("part", append(or("text", "thought", "empty", "call", "response", "code", "odd"), kinds...)...) {
		case "text":
			return `{"text":"x"` + sign() + `}`
		case "thought":
			return `{"text":"hm","thought":true` + sign() + `}`
		case "empty":
			return `{"text":""` + sign() + `}`
		case "call":
			return fmt.Sprintf(`{"functionCall":{%s%s%s}%s}`, id(), name(), pick("args", append(or(`,"args":7`), "", `,"args":{"n":1}`)...), sign())
		case "response":
			return fmt.Sprintf(`{"functionResponse":{%s%s%s}}`, id(), name(), pick("response", append(or(""), `,"response":{"output":"y"}`, `,"response":{"error":"z"}`, `,"response":{"n":1}`)...))
		case "image":
			return `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
		case "code":
			return `{"executable_code":{"code":"x"}}`
		default:
			return pick("odd", `{}`, `{"text":"x","functionCall":{"name":"f"}}`, `{"thought":true}`, `{"text":null}`)
		}
	}
	least := len(or("")) // minimum of parts in a content
	var list []string
	for range rapid.IntRange(0, 7).Draw(t, "contents") {
		role := pick("role", `"role":"user",`, `"role":"user",`, `"role":"model",`, `"role":"model",`, "")
		var parts []string
		for range rapid.IntRange(1-least, 3).Draw(t, "parts") {
			parts = append(parts, part(role))
		}
		list = append(list, fmt.Sprintf(`{%s"parts":[%s]}`, role, strings.Join(parts, ",")))
	}
	return []byte(`{"contents":[` + strings.Join(list, ",") + `]}`)
}

// judged returns the number of the rule that a body breaks, according to a judge that shares
// no code with this package.
func judged(data []byte) []string {
	if r := upstream.JudgeGemini(data); r != nil {
		return []string{r.Rule}
	}
	return []string{}
}

// Validate reports a violation of a rule if and only if the judge does.
func TestValidateAgreesWithJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawBody(t)
		found, err := format{}.Validate(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		rules := judged(data)
		named := func(v transcript.Violation) bool { return slices.Contains(rules, v.Rule) }
		if (len(found) > 0) != (len(rules) > 0) || len(found) > 0 && !slices.ContainsFunc(found, named) {
			t.Fatalf("the judge refuses by %v, found %v\n%s", rules, found, data)
		}
		if !slices.IsSortedFunc(found, func(a, b transcript.Violation) int { return a.Message - b.Message }) {
			t.Fatalf("violations are out of order: %v", found)
		}
	})
}

// For any faulty conversation, the encoding of a changed window breaks no rule.
func TestEncodeMendsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.Mends(t, format{}, judged, drawBody(t)) })
}

// For any window, each signature stays on its part, and no part gets another one's.
func TestEncodeKeepsSignaturesOnTheirParts(t *testing.T) {
	sample := formattest.Samples(t, "*.json", "tools")["tools"]
	was := signatures(t, sample)
	rapid.Check(t, func(t *rapid.T) {
		s, err := format{}.Decode("", sample)
		if err != nil {
			t.Fatal(err)
		}
		w := &transcript.Window{Session: s}
		for _, b := range transcript.Group("", 0, s.Messages) {
			fate := rapid.SampledFrom([]string{"keep", "keep", "bare", "shorten", "leave out"}).Draw(t, "fate")
			for _, m := range b.Messages {
				e := transcript.Keep(&s.Messages[m], "")
				switch fate {
				case "leave out":
					continue
				case "bare":
					e = e.WithoutThinking()
				case "shorten":
					for _, r := range e.Results() {
						e = e.WithResult(r.CallID, "short")
					}
				}
				w.Entries = append(w.Entries, e)
			}
		}
		enc, err := format{}.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		for part, signature := range signatures(t, enc.Data) {
			if was[part] != signature {
				t.Fatalf("%s has the signature %q, had %q\n%s", part, signature, was[part], enc.Data)
			}
		}
	})
}

// signatures returns the signatures of the calls and texts in a body, empty ones too, by the
// content of the call or text.
func signatures(tb rapid.TB, data []byte) map[string]string {
	b, err := parse("", data)
	if err != nil {
		tb.Fatal(err)
	}
	signed := make(map[string]string)
	for i := range b.contents {
		for _, p := range b.contents[i].parts {
			if p.kind == calls || p.signature != "" {
				signed[p.kind+" "+p.name+" "+p.text+string(p.input.Of(data))] = p.signature
			}
		}
	}
	return signed
}
