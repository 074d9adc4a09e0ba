package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
)

// The calls in Claude Code's log are the requests that its model was asked: as many, with as many
// messages, and nothing of them is missing.
func TestClaudeCodeLogsItsCalls(t *testing.T) {
	a := newAgent(t,
		upstream.Step{Reply: upstream.Say(upstream.Thinking("look first"), upstream.Text("let me look"), bash("echo heron"))},
		said("the word is heron"), said("it was heron"))
	a.ask("choose a word")
	a.ask("which word was it?", "--continue")
	a.nothingRefused()
	file, data := a.session()
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: file, Data: data})
	if err != nil || len(in.Warnings) > 0 {
		t.Fatalf("import: %v, warnings %v", err, in.Warnings)
	}
	calls, err := carrel.Items(e.Calls(t.Context(), governance.DefaultScope, &carrel.CallsRequest{Session: in.Session, Logged: true}))
	if err != nil {
		t.Fatal(err)
	}
	asked := a.fake.OfKind(upstream.KindMain)
	if strings.HasPrefix(a.call(a.program, "--version"), "2.1.197 ") { // keeps no log
		asked = nil
	}
	if len(calls) != len(asked) {
		t.Fatalf("%d calls in the log, %d were asked", len(calls), len(asked))
	}
	for i, r := range asked {
		var body struct {
			Model    string
			Messages []json.RawMessage
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		c := &calls[len(calls)-1-i]
		if c.Model != body.Model || c.Messages != len(body.Messages) || c.Missing != 0 || c.State != store.CallDone || c.Usage.Prompt() == 0 || c.Usage.Output == 0 {
			t.Errorf("call %d is %+v, want one of %s with %d messages", i, c, body.Model, len(body.Messages))
		}
	}
}
