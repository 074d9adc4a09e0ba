package contexts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A memory is compared with the texts of a context without the escapes and fences of the format.
func TestTextsOfContexts(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", `a\"b\\c\/d`: `a"b\c/d`, `a\nb\tc`: "a b c", `\u00e4x`: " x", `a\`: `a\`, `a\u00`: "a ", `\\n`: `\n`, "": "",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"<artifact id=1>\na > b\n</artifact id=1>": "a > b", "a": "a", "</artifact": "", "x>a</artifact>b</artifact>": "a</artifact>b"} {
		if got := unfence(in); got != want {
			t.Errorf("unfence(%q) = %q, want %q", in, got, want)
		}
	}
}

// The tokens of the segments add up to those of the context; what a format adds counts for the
// first.
func TestTokensOfSegments(t *testing.T) {
	for total, want := range map[token.Count]string{10: "10 [8 2]", 4: "4 [2 2]", 3: "3 [1 2]", 2: "3 [1 2]"} {
		segments := []*manifest.Segment{{Tokens: 1}, {Tokens: 2}}
		sum := settle(segments, total)
		if got := fmt.Sprint(sum, " ", []token.Count{segments[0].Tokens, segments[1].Tokens}); got != want {
			t.Errorf("of %d tokens: %s, want %s", total, got, want)
		}
	}
	if got := settle(nil, 5); got != 0 {
		t.Errorf("no segments have %d tokens", got)
	}
}

// A block that continues behind another one has a number, and its tokens count once.
func TestStretchesOfBlocks(t *testing.T) {
	h := &hold.Snapshot{Head: &store.Head{Summary: "cell"}, Summary: &hold.WindowSummary{ID: "sum"}}
	w := &transcript.Window{}
	for i, id := range []transcript.BlockID{"a", "b"} {
		h.Blocks, h.Rows = append(h.Blocks, transcript.Block{ID: id}), append(h.Rows, store.Block{ID: id, Form: []string{"whole", "line"}[i]})
		w.Entries = append(w.Entries, transcript.Entry{Block: id, Message: transcript.Message{Parts: []transcript.Part{transcript.Text("12345")}}})
	}
	out := &encoded{}
	for i, id := range []transcript.BlockID{"a", "a", "b", "a", "", "sum", "b", "a"} {
		out.spans = append(out.spans, transcript.Span{Block: id, Start: i, End: i + 1})
	}
	src := &source{held: h, meter: hold.Meter{Counter: letters{}}}
	size := src.entry(&w.Entries[0])
	var got []string
	for _, s := range messages(src, &fitted{opened: opened{window: w}}, out) {
		seg := s.Of.segment
		got = append(got, fmt.Sprint(seg.Kind, " ", seg.Ref, " ", seg.Tokens > 0, " ", s.Start, "-", s.End))
		if seg.Tokens != 0 && seg.Tokens != size {
			t.Errorf("%s has %d tokens, want %d", seg.Ref, seg.Tokens, size)
		}
	}
	want := "message a true 0-2; stub b true 2-3; message a:2 false 3-4; stub sum false 5-6; stub b:2 false 6-7; message a:3 false 7-8"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// letters counts each byte as a token.
type letters struct{}

func (letters) Count(text string) token.Count { return token.Count(len(text)) }
func (letters) Encoding() string              { return "letters" }

// A context cannot end with a query while the last reply waits for results.
func TestWindowsThatWait(t *testing.T) {
	call, result, text := transcript.ToolCall{ID: "1"}, transcript.ToolResult{CallID: "1"}, transcript.Text("x")
	for name, tt := range map[string]struct {
		parts []transcript.Part
		waits bool
	}{
		"nothing": {nil, false}, "words": {[]transcript.Part{text}, false}, "call": {[]transcript.Part{text, call}, true},
		"result": {[]transcript.Part{call, result}, false}, "call in the middle": {[]transcript.Part{call, text}, false}, "next call": {[]transcript.Part{call, result, transcript.ToolCall{ID: "2"}}, true},
	} {
		w := &transcript.Window{Session: &transcript.Session{}}
		for _, p := range tt.parts {
			w.Entries = append(w.Entries, transcript.Entry{Message: transcript.Message{Parts: []transcript.Part{p}}})
		}
		if err := waiting(w); tt.waits != errors.Is(err, api.ErrRequest) || !tt.waits && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A callStore has no context, and a call with a record that cannot be read.
type callStore struct{ store.Store }

func (callStore) Manifest(context.Context, governance.Scope, string) (*store.Manifest, error) {
	return nil, store.ErrNotFound
}

func (callStore) Calls(context.Context, governance.Scope, store.CallFilter) iter.Seq2[*store.Call, error] {
	return func(yield func(*store.Call, error) bool) { yield(&store.Call{Intent: []byte("[")}, nil) }
}

// A manifest of a call that is damaged is not said to be missing.
func TestDamagedManifestsOfCalls(t *testing.T) {
	e := &Contexts{Recorder: &record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Store: callStore{}}}}}}
	if _, err := e.Manifest(t.Context(), "a", &api.IDRequest{ID: "m_0123456789abcdef"}); !errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}

// A miserly embedder gives one vector, whatever it is asked.
type miserly struct{ asked int }

func (*miserly) Name() string { return "miserly" }

func (m *miserly) Embed(context.Context, []string) ([][]float32, error) {
	m.asked++
	return [][]float32{{1}}, nil
}

// An embedder is asked if there is a query and something to compare, and must give a vector for each
// text.
func TestEmbedders(t *testing.T) {
	pages := []*stacks.Resident{{Text: "a"}, {Text: "b"}}
	for _, tt := range []struct {
		query string
		pages []*stacks.Resident
		asked bool
	}{{"q", pages, true}, {"", pages, false}, {"q", nil, false}} {
		m := &miserly{}
		o, err := base.Options{Embedder: m}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		e := &Contexts{Recorder: &record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Opts: o}, Shared: &stacks.Shared{}}}}}
		s := &selection{}
		all, err := e.similar(t.Context(), "a", s, tt.query, tt.pages)
		if err != nil || len(all) != len(tt.pages) || (m.asked > 0) != tt.asked || (s.warning != "") != tt.asked || s.semantic != "" {
			t.Errorf("%q with %d pages: %v, %v, asked %d times, %+v", tt.query, len(tt.pages), all, err, m.asked, s)
		}
	}
	if _, err := embed(t.Context(), &miserly{}, "q", pages); err == nil || !strings.Contains(err.Error(), "1 vectors for 3 texts") {
		t.Errorf("too few vectors: %v", err)
	}
}
