package formattest

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// mutate draws a damaged copy of a sample.
func mutate(t *rapid.T, sample []byte) []byte {
	data := slices.Clone(sample)
	for range rapid.IntRange(1, 4).Draw(t, "wounds") {
		if len(data) == 0 {
			break
		}
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		end := min(len(data), at+rapid.IntRange(0, 40).Draw(t, "length"))
		with := rapid.SampledFrom(splinters).Draw(t, "with")
		switch rapid.SampledFrom([]string{"replace", "repeat", "insert"}).Draw(t, "wound") {
		case "replace":
			data = slices.Concat(data[:at], []byte(with), data[end:])
		case "repeat":
			data = slices.Concat(data[:end], data[at:])
		default:
			data = slices.Concat(data[:at], []byte(with), data[at:])
		}
	}
	return data
}

// splinters are texts that mutate inserts into a sample.
var splinters = []string{
	"", "\x00", "\xff", "\"", "\\", "\\u0000", `\ud800`, "{", "}", "[", "]", ",", ":", "null", "true", "[]", "{}", `""`,
	"1e999", "-", "\n", "\r\n", "\ufeff", `"role"`, `"messages"`, `"type":"tool_result"`, `{"type":"text"}`,
	`{"role":"user","content":null}`, `{"role":"assistant","content":[]}`, `"input"`, `{"type":"reasoning","id":"rs_1"}`,
}

// hostile returns inputs designed to break decoders.
func hostile(samples map[string][]byte) [][]byte {
	deep := strings.Repeat("[", 100_000)
	many := strings.Repeat(`{"role":"user","content":"x"},`, 20_000)
	texts := []string{
		"", " ", "\x00", "\ufeff", "null", "0", `""`, "{}", "[]", "[[]]", "[null]", "[{}]", "{\"messages\":{}}", "{\"messages\":null}",
		deep, `{"messages":` + deep, `{"messages":[{"role":"user","content":` + deep,
		strings.Repeat(`{"a":`, 100_000),
		`{"messages":[{"role":"user","content":"` + "a\x00b" + `"}]}`,
		`{"messages":[{"role":"user","content":"a\u0000b"}]}`,
		`{"messages":[{"role":"user","content":"a\ud800b\udc00c\ud83d"}]}`,
		"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
		`{"messages":[],"messages":[{"role":"user","content":"x"}]}`,
		`{"messages":[],"mess\u0061ges":[{"role":"user","content":"x"}]}`,
		`{"messages":[{"role":"user","role":"assistant","content":"x"}]}`,
		`{"messages":[{"role":"user","content":"x","content":"y"}]}`,
		`{"messages":[{"role":"user","content":"x"}],"n":` + strings.Repeat("9", 10_000) + `}`,
		`{"messages":[{"role":"user","content":"x"}],"n":1e99999}`,
		`{"messages":[{"role":"user","content":"x"}],"n":01}`,
		`{"messages":[{"role":"user","content":"x"}]} {"messages":[]}`,
		`{"messages":[{"role":7,"content":"x"}]}`,
		`{"messages":[{"role":"user","content":7}]}`,
		`{"messages":[{"role":"user","content":[7]}]}`,
		`{"messages":[{"role":"user","content":[{}]}]}`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{}]}]}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":1,"type":2}}]}]}`,
		`{"input":null}`, `{"input":7}`, `{"input":""}`, `{"input":[]}`, `{"input":"a\ud800b","model":"m"}`, `{"input":["x"]}`, `{"input":[[]]}`, `{"input":[{}]}`,
		`{"input":"x","input":[]}`, `{"input":` + deep, `{"input":[{"type":7}]}`, `{"input":[{"type":"message"}]}`, `{"input":[{"type":"_call","call_id":"a"}]}`,
		`{"input":[{"type":"function_call"}]}`, `{"input":[{"type":"function_call_output","output":7}]}`, `{"input":[{"type":"_output","call_id":"a"}]}`,
		`{"input":[{"type":"reasoning","summary":7,"content":[7]}]}`, `{"input":[{"type":"shell_call_output","call_id":"a","output":[7,{"stdout":7}]}]}`,
		`{"input":[{"type":"item_reference","id":"x"},{"type":"function_call_output","call_id":"a","output":"x"}],"previous_response_id":7}`,
		`{"input":[` + strings.TrimSuffix(many, ",") + `]}`,
		`[` + strings.TrimSuffix(many, ",") + `]`,
	}
	data := make([][]byte, 0, len(texts))
	for _, text := range texts {
		data = append(data, []byte(text))
	}
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		sample := samples[name]
		data = append(data,
			slices.Concat(sample, sample),
			slices.Concat(sample, []byte("\n\n")),
			slices.Concat([]byte("\ufeff"), sample),
			bytes.ReplaceAll(sample, []byte("\n"), []byte("\r\n")),
			bytes.ReplaceAll(sample, []byte(`"`), []byte(`'`)),
		)
	}
	return data
}
