package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Only returns the text of a message whose only part is a text. For any other message ok is false.
func Only(parts []transcript.Part) (text string, ok bool) {
	if len(parts) != 1 {
		return "", false
	}
	t, ok := parts[0].(transcript.Text)
	return string(t), ok
}

// Placeholder returns the text that replaces media which the format cannot carry.
func Placeholder(p transcript.Media) string {
	return "[" + strings.TrimSpace(p.Kind+" "+p.MIME) + "]"
}

// Flat returns the texts among parts, with placeholders for media.
func Flat(parts []transcript.Part) string {
	var texts []string
	for _, p := range parts {
		switch p := p.(type) {
		case transcript.Text:
			texts = append(texts, string(p))
		case transcript.Media:
			texts = append(texts, Placeholder(p))
		case transcript.Thinking, transcript.ToolCall, transcript.ToolResult, transcript.Opaque:
		}
	}
	return strings.Join(texts, "\n")
}

// DataURL returns a data URL with the data of a medium. If p has no data, it returns the URL of the
// medium, or "" if p has none.
func DataURL(p transcript.Media) string {
	if p.Data != "" && p.MIME != "" {
		return "data:" + p.MIME + ";base64," + p.Data
	}
	return p.URL
}

// Sound encodes a sound for OpenAI's APIs, or returns nil if they do not accept its type.
func Sound(p transcript.Media) []byte {
	if p.Data == "" || p.MIME != "audio/wav" && p.MIME != "audio/mp3" {
		return nil
	}
	raw := rawjson.AppendString([]byte(`{"type": "input_audio", "input_audio": {"data": `), p.Data)
	raw = rawjson.AppendString(append(raw, `, "format": `...), strings.TrimPrefix(p.MIME, "audio/"))
	return append(raw, "}}"...)
}

// CallID returns a call id that OpenAI's APIs accept: id itself if it has at most 64 bytes, and
// otherwise the beginning of id with a hash of it. If own is true, the id is from the same format
// and stays whatever its length. An empty id is always replaced.
func CallID(own bool, id string) string {
	const longest = 64
	if id != "" && (own || len(id) <= longest) {
		return id
	}
	h := sha256.Sum256([]byte(id))
	return "call_" + strings.ToValidUTF8(id[:min(16, len(id))], "") + hex.EncodeToString(h[:8])
}

// Arguments returns the input of a call as a JSON object, and whether input was one. Any other
// input becomes a string under the key _raw.
func Arguments(input []byte) (raw []byte, ok bool) {
	trimmed := bytes.TrimSpace(input)
	switch {
	case len(trimmed) == 0:
		return []byte("{}"), true
	case trimmed[0] == '{' && rawjson.Valid(trimmed):
		return trimmed, true
	}
	return append(rawjson.AppendString([]byte(`{"_raw": `), string(input)), '}'), false
}

// Listing returns a JSON object with one member: a list of values under key.
func Listing(key string, values [][]byte) []byte {
	n := len(key) + len(`{"":[]}`)
	for _, v := range values {
		n += len(v) + 1
	}
	b := append(make([]byte, 0, n), `{"`+key+`":[`...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, "]}"...)
}

// Place converts the field Message of each fix from the index of an entry of the window to the
// index of the first message that was written for the entry. The list at has these indexes by
// entry.
func Place(fixes []transcript.Fix, at []int) {
	for i := range fixes {
		if m := fixes[i].Message; m < len(at) {
			fixes[i].Message = at[m]
		}
	}
}

// Drop returns an object without the members with a key for which the function drop returns true.
// raw must be valid.
func Drop(raw []byte, drop func(key string) bool) []byte {
	return transcript.Splice(raw, Dropping(raw, 0, drop)...)
}

// Dropping returns the cuts that remove members from an object: those with a key for which the
// function drop returns true. raw must be valid; offset is its position in the text that is cut.
func Dropping(raw []byte, offset int, drop func(key string) bool) []transcript.Cut {
	members := membersOf(raw)
	spans := make([]rawjson.Span, len(members))
	for i, m := range members {
		spans[i] = m.Whole
	}
	var cuts []transcript.Cut
	for _, s := range rawjson.Remove(spans, func(i int) bool { return drop(members[i].Key) }) {
		cuts = append(cuts, transcript.Cut{From: offset + s.Start, To: offset + s.End})
	}
	return cuts
}

// Set returns the object raw with value under key. It replaces the member with this key, or appends
// one if there is none. raw must be valid, without a key that comes twice.
func Set(raw []byte, key string, value []byte) []byte {
	members := membersOf(raw)
	for _, member := range members {
		if member.Key == key {
			return transcript.Splice(raw, transcript.Cut{From: member.Value.Start, To: member.Value.End, With: value})
		}
	}
	if len(members) == 0 {
		return slices.Concat([]byte(`{"`+key+`": `), value, []byte("}"))
	}
	end := members[len(members)-1].Whole.End
	with := slices.Concat([]byte(`, "`+key+`": `), value)
	return transcript.Splice(raw, transcript.Cut{From: end, To: end, With: with})
}

// membersOf returns the members of a valid object.
func membersOf(raw []byte) []rawjson.Member {
	members, err := rawjson.NewReader(raw).Members()
	if err != nil {
		panic("chat: " + err.Error())
	}
	return members
}

// Loose calls keep for each entry of run. The function keep may write the entry, and reports
// whether it did. Loose returns the tool results of the entries that keep did not write, in the
// order of their calls, and the other parts of these entries.
func Loose(run []transcript.Entry, calls []transcript.ToolCall, keep func(en *transcript.Entry) bool) (results []transcript.ToolResult, others []transcript.Part) {
	for i := range run {
		if keep(&run[i]) {
			continue
		}
		for _, p := range run[i].Parts {
			if res, ok := p.(transcript.ToolResult); ok {
				results = append(results, res)
			} else {
				others = append(others, p)
			}
		}
	}
	order := make(map[string]int, len(calls)) // index of a call + 1, by its id
	for i, c := range slices.Backward(calls) {
		order[c.ID] = i + 1
	}
	slices.SortStableFunc(results, func(a, b transcript.ToolResult) int { return order[a.CallID] - order[b.CallID] })
	return results, others
}

// Account records a loss for each part of another format's session that OpenAI's APIs cannot
// carry: tools, thinking, opaque parts, and media for which carries returns false. carries
// gets the role of the message that would hold the media.
func (l *Losses) Account(w *transcript.Window, carries func(role string, m transcript.Media) bool) {
	if n := len(w.Session.Tools); n > 0 {
		l.Add(-1, "tools", n)
	}
	for i := range w.Entries {
		role := string(w.Entries[i].Role)
		for _, p := range w.Entries[i].Parts {
			if res, ok := p.(transcript.ToolResult); ok {
				for _, c := range res.Content {
					l.lose(i, "tool", c, carries)
				}
				continue
			}
			if role == "tool" { // parts after results become a user's message
				l.lose(i, "user", p, carries)
				continue
			}
			l.lose(i, role, p, carries)
		}
	}
}

// lose records the loss of a part, unless the API can carry it.
func (l *Losses) lose(i int, role string, p transcript.Part, carries func(role string, m transcript.Media) bool) {
	switch p := p.(type) {
	case transcript.Thinking:
		l.Add(i, "thinking", len(p.Text)+len(p.Signature))
	case transcript.Media:
		if !carries(role, p) {
			l.Add(i, p.Kind, len(p.Raw))
		}
	case transcript.Opaque:
		l.Add(i, strconv.Quote(p.Type), len(p.Raw))
	case transcript.Text, transcript.ToolCall, transcript.ToolResult:
	}
}

// CleanID returns a call id in the characters that Anthropic's API allows: id itself, or its
// allowed characters followed by a hash, so that different ids stay different.
func CleanID(id string) string {
	clean := make([]byte, 0, len(id))
	for i := range len(id) {
		if inAlphabet(id[i]) {
			clean = append(clean, id[i])
		}
	}
	if len(clean) == len(id) && id != "" {
		return id
	}
	h := sha256.Sum256([]byte(id))
	return string(clean[:min(32, len(clean))]) + "_" + hex.EncodeToString(h[:6])
}

func inAlphabet(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
