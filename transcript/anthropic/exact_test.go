package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// Marks that the provider would refuse are left out, and the others stay: those of tools and
// system text before those of messages, and that of the request.
func TestTidyLeavesTheMarksThatMayStay(t *testing.T) {
	const (
		mark = `"cache_control":{"type":"ephemeral"}`
		hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	)
	text := func(name, mark string) string {
		return `{"type":"text","text":"` + name + `"` + strings.TrimSuffix(","+mark, ",") + `}`
	}
	say := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	for _, tt := range []struct {
		name   string
		fields string
		list   []string
		gone   []string // "message name" of the marks that are left out
		kept   int
	}{
		{"four marks", "", []string{say(text("a", mark), text("b", mark)), say(text("c", mark), text("d", mark))}, nil, 4},
		{"five marks", "", []string{say(text("a", mark), text("b", mark)), say(text("c", mark), text("d", mark), text("e", mark))}, []string{"0"}, 4},
		{"six marks, two of which are in the system text", `"system":[` + text("x", mark) + "," + text("y", mark) + "],", []string{say(text("a", mark)), say(text("b", mark), text("c", mark)), say(text("d", mark))}, []string{"0", "1"}, 4},
		{"five marks, all of which are in the system text", `"system":[` + text("v", mark) + "," + text("w", mark) + "," + text("x", mark) + "," + text("y", mark) + "," + text("z", mark) + "],", []string{say(text("a", ""))}, []string{"-1"}, 4},
		{"four marks and that of the request", mark + ",", []string{say(text("a", mark), text("b", mark), text("c", mark), text("d", mark))}, []string{"0"}, 4},
		{"an hour behind five minutes", "", []string{say(text("a", mark)), say(text("b", hour))}, []string{"1"}, 1},
		{"an hour before five minutes", "", []string{say(text("a", hour)), say(text("b", mark))}, nil, 2},
		{"two hours", "", []string{say(text("a", hour)), say(text("b", hour))}, nil, 2},
		{"a mark on empty text", "", []string{say(text("a", mark)), say(text("", mark), text("b", ""))}, []string{"1"}, 1},
		{"a mark on thinking", "", []string{ask, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s",` + mark + `},{"type":"text","text":"a"}]}`}, []string{"1"}, 0},
		{"a mark of a tool", `"tools":[{"name":"x",` + mark + `}],`, []string{say(text("a", hour))}, []string{"0"}, 1},
		{"no mark", "", []string{ask}, nil, 0},
	} {
		data, fixes, err := (format{}).Tidy([]byte(`{` + tt.fields + `"messages":[` + strings.Join(tt.list, ",") + `]}`))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var gone []string
		for _, f := range fixes {
			if f.Rule != "A11" || f.What != "cache mark left out" {
				t.Errorf("%s: the fix is %+v", tt.name, f)
			}
			gone = append(gone, fmt.Sprint(f.Message))
		}
		if d := cmp.Diff(tt.gone, gone); d != "" {
			t.Errorf("%s: messages without a mark (-want +got):\n%s", tt.name, d)
		}
		if n := strings.Count(string(data), "cache_control"); n != tt.kept {
			t.Errorf("%s: %d marks stay, want %d: %s", tt.name, n, tt.kept, data)
		}
		found, err := (format{}).Validate(data)
		if err != nil || strings.Contains(fmt.Sprint(found), "A11") {
			t.Errorf("%s: %v, %v", tt.name, found, err)
		}
	}
	if _, _, err := (format{}).Tidy([]byte("{")); err == nil {
		t.Error("what is no request is tidied")
	}
}

// A violation of the marks names the message that has the mark, or says that it is in the
// system text.
func TestWhereMarksAreReported(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	for request, want := range map[string]string{
		`{"messages":[` + ask + `,{"role":"user","content":[{"type":"text","text":"",` + mark + `},{"type":"text","text":"a"}]}]}`:                        "1 a cache mark on thinking or on empty text",
		`{"system":[{"type":"text","text":"",` + mark + `},{"type":"text","text":"a"}],"messages":[` + ask + `]}`:                                         "-1 a cache mark on thinking or on empty text, in the system text",
		`{"messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a",`+mark+`},`, 5), ",") + `]}]}`:           "-1 5 cache marks are more than 4",
		`{` + mark + `,"tools":[{"name":"x","input_schema":{"type":"object"},` + mark + `}],"messages":[` + ask + `]}`:                                    "",
		`{"cache_control":{"type":"ephemeral","ttl":"1h"},"tools":[{"name":"x","input_schema":{"type":"object"},` + mark + `}],"messages":[` + ask + `]}`: "-1 a cache mark of one hour stands behind one of five minutes",
	} {
		found, err := (format{}).Validate([]byte(request))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range found {
			if v.Rule == "A11" {
				got += fmt.Sprint(v.Message, " ", v.Text)
			}
		}
		if !strings.HasPrefix(got, strings.Split(want, ",")[0]) || want == "" && got != "" {
			t.Errorf("%.120s: got %q, want %q", request, got, want)
		}
	}
}

func TestResultsBeforeOthers(t *testing.T) {
	result, text := transcript.ToolResult{}, transcript.Text("x")
	for _, tt := range []struct {
		parts []transcript.Part
		want  bool
	}{{nil, true}, {[]transcript.Part{result, result}, true}, {[]transcript.Part{result, text}, true}, {[]transcript.Part{text, result}, false}, {[]transcript.Part{result, text, result}, false}, {[]transcript.Part{text, text}, true}} {
		if got := resultsFirst(tt.parts); got != tt.want {
			t.Errorf("%v has its results first: %v", tt.parts, got)
		}
	}
	for _, tt := range []struct {
		parts []transcript.Part
		want  bool
	}{
		{nil, false}, {[]transcript.Part{text}, false}, {[]transcript.Part{transcript.Text(" \n")}, true}, {[]transcript.Part{text, transcript.Text("")}, true}, {[]transcript.Part{transcript.ToolResult{Content: []transcript.Part{transcript.Text("")}}}, true}, {[]transcript.Part{transcript.ToolResult{Content: []transcript.Part{transcript.Text(" ")}}}, false}, {[]transcript.Part{result}, false},
	} {
		if got := hasBlank(tt.parts); got != tt.want {
			t.Errorf("%v has a blank text: %v", tt.parts, got)
		}
	}
	for model, want := range map[string]version{"claude-opus-4-8": {"opus", 4, 8}, "claude-3-5-sonnet-20241022": {"sonnet", 3, 5}, "claude-sonnet-5": {"sonnet", 5, 0}, "CLAUDE-Opus-4-123": {"opus", 4, 0}, "claude-opus": {"opus", 0, 0}, "opus-4": {}, "claude-4_9": {"", 4, 9}} {
		if got, ok := versionOf(model); got != want || ok != (want.major > 0) {
			t.Errorf("%s is %+v, %v, want %+v", model, got, ok, want)
		}
	}
	for _, tt := range []struct {
		v    version
		want string // from 4.6, from 5.0, takes system messages
	}{{version{"opus", 4, 8}, "true false true"}, {version{"opus", 4, 7}, "true false false"}, {version{"sonnet", 4, 8}, "true false false"}, {version{"sonnet", 5, 0}, "true true true"}, {version{"", 4, 5}, "false false false"}, {version{"", 4, 6}, "true false false"}, {version{"", 6, 0}, "true true true"}} {
		if got := fmt.Sprint(tt.v.from(4, 6), tt.v.from(5, 0), tt.v.systemMessages()); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.v, got, tt.want)
		}
	}
}
