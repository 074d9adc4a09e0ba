package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// compacted is a block that the provider left in place of older messages, written as
// nobody else would write it.
const compacted = `{ "type":"compaction" , "content":"The user wants the pool mended.", "signature":"EqQB\u002bopaque==","n":1.50 }`

// opaques are blocks that only the provider reads, in the order of [sealed].
var opaques = []string{
	compacted,
	`{"type":"redacted_thinking","data":"sealed\u003d1"}`,
	`{"id":"s1", "type":"server_tool_use","name":"web_search","input":{"query":"pool",  "n":1e2}}`,
	`{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","encrypted_content":"abc\/def"}]}`,
	`{"type":"mcp_tool_use","id":"m1","name":"look","server_name":"docs","input":{}}`,
	`{"type":"mcp_tool_result","tool_use_id":"m1","is_error":false,"content":[{"type":"text","text":"found"}]}`,
	`{"type":"container_upload","file_id":"file_1","x":null}`,
}

// sealed is a request with everything that only its provider reads.
func sealed() []byte {
	var b strings.Builder
	filler := func(from, to int) {
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"go test ./p%d"}}]}`, i, i)
			fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, strings.Repeat(fmt.Sprintf("ok p%d of many\n", i), 40))
		}
	}
	b.WriteString(`{"model":"claude-opus-4-8","messages":[{"role":"user","content":"Find why the pool hangs and mend it."}`)
	filler(0, 3)
	fmt.Fprintf(&b, `,{"role":"assistant","content":[%s,{"type":"text","text":"I go on."}]},{"role":"user","content":"Look the pool up."}`, opaques[0])
	filler(3, 6)
	fmt.Fprintf(&b, `,{"role":"assistant","content":[%s]},{"role":"user","content":[{"type":"text","text":"Here is the log."},%s]}`, strings.Join(opaques[1:6], ","), opaques[6])
	filler(6, 12)
	b.WriteString(`,{"role":"assistant","content":"It waits for a lock."},{"role":"user","content":"Then mend it."}]}`)
	return []byte(b.String())
}

// What only the provider reads is in an export as it came and in its order, or its
// block is not there. A compaction is always there, and a summary stands behind it.
func TestOpaqueBlocksAreCopied(t *testing.T) {
	for _, strategy := range carrel.Strategies() {
		for _, share := range []int64{10, 25, 50, 80} {
			t.Run(fmt.Sprintf("%s at %d", strategy, share), func(t *testing.T) {
				e, _ := summarizing(t, carrel.Options{Strategy: strategy})
				in := load(t, e, sealed())
				_, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(share, 100)}, ProbeMin: anything()})
				if err != nil && !errors.Is(err, carrel.ErrBudget) {
					t.Fatal(err)
				}
				data := export(t, e, in.Session)
				at := -1
				for _, raw := range opaques {
					found := bytes.Index(data, []byte(raw))
					if found >= 0 && found < at {
						t.Errorf("%s is not in its place in\n%s", raw, data)
					}
					at = max(at, found)
				}
				if !bytes.Contains(data, []byte(`"content":[`+compacted)) {
					t.Errorf("the compaction is not first in its message:\n%s", data)
				}
				if sum := bytes.Index(data, []byte("[carrel sum_")); sum >= 0 && sum < bytes.Index(data, []byte(compacted)) {
					t.Errorf("the summary stands where the provider does not read it:\n%s", data)
				}
			})
		}
	}
}

// The agent of the same provider gets them, too, and gives them back.
func TestOpaqueBlocksInRows(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, sealed())
	for _, format := range []string{"claudecode", "anthropic"} {
		out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: format})
		if err != nil || len(out.Losses) > 0 {
			t.Fatalf("%v, losses %+v", err, out.Losses)
		}
		if diff := cmp.Diff(sealedParts(t, "anthropic", sealed()), sealedParts(t, format, out.Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// sealedParts returns what of a conversation only its provider reads, without the
// spaces that a row of one line cannot have.
func sealedParts(t *testing.T, format string, data []byte) (list []string) {
	t.Helper()
	s := decoded(t, format, data)
	for i := range s.Messages {
		for _, p := range s.Messages[i].Parts {
			switch p := p.(type) {
			case transcript.Opaque:
				var b bytes.Buffer
				if err := json.Compact(&b, p.Raw); err != nil {
					t.Fatal(err)
				}
				list = append(list, b.String())
			case transcript.Thinking:
				list = append(list, p.Signature)
			}
		}
	}
	if len(list) != len(opaques) {
		t.Fatalf("%d of %d are in\n%s", len(list), len(opaques), data)
	}
	return list
}

// Nobody discards a compaction.
func TestCompactionIsNotDiscarded(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, sealed())
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Messages {
		b := &list.Messages[i]
		got, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(b.ID)})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(got.Data, []byte(compacted)) != (b.Rule == "compaction") {
			t.Errorf("block %d is under the rule %q: %s", i, b.Rule, got.Data)
		}
		if b.Rule != "compaction" {
			continue
		}
		if _, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: []string{string(b.ID)}}); !errors.Is(err, carrel.ErrPolicy) {
			t.Errorf("a discard of the compaction: %v", err)
		}
	}
}

// What a context puts before a session stands behind its compaction: the provider
// reads nothing that is before it.
func TestContextStandsBehindACompaction(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, sealed())
	_, err := carrel.Items(e.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Document, Content: []byte("Pools are never closed twice."), Pinned: true}}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []carrel.AssembleRequest{{Budget: 4 * in.Tokens}, {Budget: in.Tokens / 2}} {
		budget.Session, budget.Query, budget.Format = in.Session, "the pool", "anthropic"
		out, err := e.Assemble(t.Context(), scope, &budget)
		if err != nil {
			t.Fatal(err)
		}
		pin, at := bytes.Index(out.Data, []byte("never closed twice")), bytes.Index(out.Data, []byte(compacted))
		if at < 0 || pin < at {
			t.Errorf("the pin is at %d, the compaction at %d of\n%s", pin, at, out.Data)
		}
	}
}
