package responses

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

// drawBody draws a request that breaks rules more often than not.
func drawBody(t *rapid.T) []byte {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	id := func(prefix string) string {
		return pick("id", "", "", fmt.Sprintf(`"id":"%s_1",`, prefix), fmt.Sprintf(`"id":"%s_2",`, prefix), `"id":"other",`)
	}
	call := func() string {
		return pick("call_id", `"call_id":"a",`, `"call_id":"b",`, `"call_id":"c",`, `"call_id":"",`, "", `"call_id":"`+strings.Repeat("long", 17)+`",`)
	}
	content := func(key string) string {
		return pick(key, `"x"`, `"x"`, `""`, `[{"type":"input_text","text":"y"}]`, `[]`, `null`)
	}
	item := func() string {
		switch kind := pick("item", "user", "developer", "assistant", "reasoning", "function_call", "function_call", "function_call_output", "function_call_output",
			"custom_tool_call", "custom_tool_call_output", "local_shell_call", "shell_call", "shell_call_output", "web_search_call", "compaction", "thing"); kind {
		case "user", "developer", "assistant":
			return fmt.Sprintf(`{"type":"message",%s"role":%q,"content":%s}`, id("msg"), kind, content("content"))
		case "reasoning":
			return fmt.Sprintf(`{"type":"reasoning",%s"summary":[],"encrypted_content":"e"}`, id("rs"))
		case "function_call":
			return fmt.Sprintf(`{"type":"function_call",%s%s"name":%s,"arguments":%s}`, id("fc"), call(), pick("name", `"f"`, `"f"`, `""`), pick("arguments", `"{}"`, `"{}"`, `{}`))
		case "custom_tool_call":
			return fmt.Sprintf(`{"type":"custom_tool_call",%s%s"name":"f","input":"x"}`, id("ctc"), call())
		case "local_shell_call", "shell_call":
			return fmt.Sprintf(`{"type":%q,%s"action":{"n":1}}`, kind, call())
		case "function_call_output", "custom_tool_call_output":
			return fmt.Sprintf(`{"type":%q,%s"output":%s}`, kind, call(), content("output"))
		case "shell_call_output":
			return fmt.Sprintf(`{"type":%q,%s"output":[{"stdout":"x","stderr":""}]}`, kind, call())
		default:
			return fmt.Sprintf(`{"type":%q,%s"n":1}`, kind, id("ws"))
		}
	}
	var list []string
	for range rapid.IntRange(0, 8).Draw(t, "items") {
		list = append(list, item())
	}
	return []byte(`{"input":[` + strings.Join(list, ",") + `]}`)
}

// judged returns the numbers of the rules that a body breaks, according to a judge that shares
// no code with this package.
func judged(data []byte) []string {
	if r := upstream.JudgeResponses(data); r != nil {
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

// For any window, an item with an id of the server keeps its reasoning before it, and kept
// calls, reasoning and opaque items keep their bytes.
func TestEncodeKeepsReasoningWithItsItems(t *testing.T) {
	sample := formattest.Samples(t, "*.json", "tools")["tools"]
	rapid.Check(t, func(t *rapid.T) {
		s, err := format{}.Decode("", sample)
		if err != nil {
			t.Fatal(err)
		}
		w := &transcript.Window{Session: s}
		blocks := transcript.Group("", 0, s.Messages)
		bare := make(map[int]bool)
		for i := range blocks {
			fate := rapid.SampledFrom([]string{"keep", "keep", "bare", "leave out"}).Draw(t, "fate")
			for _, m := range blocks[i].Messages {
				bare[m] = fate == "bare"
				if fate == "leave out" {
					delete(bare, m)
				}
			}
		}
		for i := range s.Messages {
			without, there := bare[i]
			if e := transcript.Keep(&s.Messages[i], ""); without {
				w.Entries = append(w.Entries, e.WithoutThinking())
			} else if there {
				w.Entries = append(w.Entries, e)
			}
		}
		enc, err := format{}.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Entries) == 0 {
			return
		}
		r := upstream.JudgeKeptResponses(sample, enc.Data)
		if r != nil && r.Rule != "K4" && r.Rule != "R0" { // what is bound is the engine's
			t.Fatalf("%v\n%s", r, enc.Data)
		}
	})
}
