package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

var alphabet = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// refused is a second opinion on a list of messages, in another style: a
// machine that reads blocks one by one and knows only which ids it waits for.
// It returns the rules about conversations that are broken, in alphabetical
// order and once each.
func refused(data []byte) []string {
	var body struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return []string{err.Error()}
	}
	broken := make(map[string]bool)
	every := []string{}   // ids of all calls
	waiting := []string{} // ids that the next message must answer
	first := false        // the message is the first behind the calls
	for i, m := range body.Messages {
		last := i == len(body.Messages)-1
		if i == 0 && m.Role != "user" {
			broken["A1"] = true
		}
		if m.Role != "user" && len(waiting) > 0 {
			broken["A2"], waiting = true, nil
		}
		blocks, isList := m.Content.([]any)
		text, isText := m.Content.(string)
		switch {
		case !isList && !isText:
			broken["A0"] = true
		case len(blocks) == 0 && text == "" && last && m.Role == "assistant":
		case len(blocks) == 0 && strings.TrimSpace(text) == "":
			broken["A10"] = true
		}
		calls, words := []string{}, false
		for _, b := range blocks {
			block := b.(map[string]any)
			str := func(key string) string { s, _ := block[key].(string); return s }
			switch str("type") {
			case "tool_result":
				at := slices.Index(waiting, str("tool_use_id"))
				switch {
				case m.Role != "user" || at < 0:
					broken["A3"] = true
				case !first:
					broken["A5"] = true
				}
				if words {
					broken["A4"] = true
				}
				if at >= 0 {
					waiting = slices.Delete(waiting, at, at+1)
				}
				continue
			case "tool_use":
				if m.Role != "assistant" || !alphabet.MatchString(str("id")) || str("name") == "" {
					broken["A0"] = true
				}
				if slices.Contains(every, str("id")) {
					broken["A16"] = true
				}
				every = append(every, str("id"))
				if m.Role == "assistant" && !slices.Contains(calls, str("id")) {
					calls = append(calls, str("id"))
				}
			case "thinking":
				if str("signature") == "" {
					broken["A8"] = true
				}
				if m.Role != "assistant" {
					broken["A0"] = true
				}
			case "text":
				if strings.TrimSpace(str("text")) == "" {
					broken["A10"] = true
				}
			}
			words = true
		}
		first = false
		if m.Role == "assistant" && !last {
			waiting, first = calls, true
		}
	}
	if len(body.Messages) == 0 {
		broken["A1"] = true
	}
	if len(waiting) > 0 {
		broken["A2"] = true
	}
	return sorted(broken)
}

func sorted(set map[string]bool) []string {
	list := []string{}
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// rules returns the rules that Validate finds broken.
func rules(t reporter, data []byte) []string {
	found, err := Format{}.Validate(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	set := make(map[string]bool)
	last := -1
	for _, v := range found {
		set[v.Rule] = true
		if v.Message < last {
			t.Fatalf("violations are out of order: %v", found)
		}
		last = v.Message
	}
	return sorted(set)
}

type reporter interface{ Fatalf(string, ...any) }

// drawBody draws a request, more often wrong than not. Sane ones have calls in
// replies and results in users' messages only.
func drawBody(t *rapid.T, sane bool) []byte {
	id := rapid.SampledFrom([]string{"a", "b", "c", "é", ""})
	block := func(role string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kinds := []string{"text", "text", "tool_use", "tool_use", "tool_result", "tool_result", "thinking", "empty"}
			if sane {
				kinds = map[string][]string{
					"user":      {"text", "empty", "tool_result", "tool_result", "tool_result"},
					"assistant": {"text", "empty", "thinking", "tool_use", "tool_use"},
					"system":    {"text", "empty"},
				}[role]
			}
			switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
			case "text":
				return `{"type":"text","text":"x"}`
			case "empty":
				return `{"type":"text","text":" "}`
			case "tool_use":
				return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id.Draw(t, "id"), rapid.SampledFrom([]string{"run", "run", ""}).Draw(t, "name"))
			case "tool_result":
				return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"x"}`, id.Draw(t, "id"))
			default:
				return fmt.Sprintf(`{"type":"thinking","thinking":"x","signature":%q}`, rapid.SampledFrom([]string{"s", "s", ""}).Draw(t, "signature"))
			}
		})
	}
	message := rapid.Custom(func(t *rapid.T) string {
		role := rapid.SampledFrom([]string{"user", "user", "user", "assistant", "assistant", "assistant", "system"}).Draw(t, "role")
		content := rapid.SampledFrom([]string{`,"content":"x"`, `,"content":""`, ``, "list", "list", "list", "list"}).Draw(t, "content")
		if content == "list" {
			content = `,"content":[` + strings.Join(rapid.SliceOfN(block(role), 0, 4).Draw(t, "blocks"), ",") + `]`
		}
		return fmt.Sprintf(`{"role":%q%s}`, role, content)
	})
	list := rapid.SliceOfN(message, 0, 8).Draw(t, "messages")
	return []byte(`{"messages":[` + strings.Join(list, ",") + `]}`)
}

func TestValidateAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawBody(t, false)
		if diff := cmp.Diff(refused(data), rules(t, data)); diff != "" {
			t.Fatalf("rules (-reference +Validate):\n%s\n%s", diff, data)
		}
	})
}

// Whatever is wrong with the order of a conversation, a changed window of it
// is right.
func TestEncodeMendsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawBody(t, true)
		s, err := Format{}.Decode("", data)
		if err != nil {
			t.Fatal(err)
		}
		out := encodeMore(t, s)
		if got := refused(out); len(got) > 0 {
			t.Fatalf("refused by %v:\n%s\n%s", got, data, out)
		}
	})
}

// encodeMore writes a session with one more message.
func encodeMore(t reporter, s *transcript.Session) []byte {
	w := transcript.Whole(s)
	w.Entries = append(w.Entries, transcript.Stub("", "one more"))
	enc, err := Format{}.Encode(w)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return enc.Data
}
