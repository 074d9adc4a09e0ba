package carrel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
)

// example returns an engine with a session of Claude Code in it.
func example() (*carrel.Engine, *carrel.ImportResult) {
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	in, err := e.Import(context.Background(), governance.DefaultScope, &carrel.ImportRequest{
		Name: "session.jsonl",
		Data: demo.Session(),
	})
	if err != nil {
		log.Fatal(err)
	}
	return e, in
}

func ExampleEngine_Import() {
	_, in := example()
	fmt.Printf("%s: %d messages in %d blocks\n", in.Format, in.Messages, in.Blocks)
	for _, b := range in.Branches {
		fmt.Printf("%s of %d messages\n", b.Kind, b.Messages)
	}
	// Output:
	// claudecode: 88 messages in 47 blocks
	// fork of 3 messages
}

func ExampleEngine_Compress() {
	e, in := example()
	ctx := context.Background()
	res, err := e.Compress(ctx, governance.DefaultScope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the budget:", res.After <= res.Budget)
	fmt.Println("nothing is lost:", res.Tokens.Sum() == int64(in.Tokens))

	// What rules hold does not fit in a hundred tokens.
	_, err = e.Compress(ctx, governance.DefaultScope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 100}})
	if floor, ok := carrel.Floor(err); ok {
		fmt.Println("floor:", errors.Is(err, carrel.ErrBudget), floor.Need > 100)
	}
	// Output:
	// within the budget: true
	// nothing is lost: true
	// floor: true true
}

func ExampleEngine_Export() {
	e, in := example()
	out, err := e.Export(context.Background(), governance.DefaultScope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("as it came in:", out.Intact && bytes.Equal(out.Data, demo.Session()))

	out, err = e.Export(context.Background(), governance.DefaultScope, &carrel.ExportRequest{Session: in.Session, To: "openai"})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range out.Losses {
		fmt.Printf("message %d loses its %s\n", l.Message, l.What)
	}
	// Output:
	// as it came in: true
	// message 1 loses its thinking
	// message 37 loses its thinking
	// message 85 loses its thinking
}

func ExampleEngine_Recall() {
	e, in := example()
	ctx := context.Background()
	res, err := e.Compress(ctx, governance.DefaultScope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 10)}})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range res.Decisions {
		if !d.Changed() {
			continue
		}
		got, err := e.Recall(ctx, governance.DefaultScope, &carrel.RecallRequest{Block: d.Block.Short(), Text: true})
		if err != nil {
			log.Fatal(err)
		}
		line, _, _ := bytes.Cut(got.Data, []byte("\n"))
		fmt.Printf("turn %d, now %s: %s\n", got.Turn, got.State, line)
		break
	}
	// Output:
	// turn 2, now cold: Bash {"command":"ls -R cmd internal","description":"ls"}
}

func ExampleEngine_Search() {
	e, _ := example()
	found, err := carrel.Items(e.Search(context.Background(), governance.DefaultScope, &carrel.SearchRequest{Query: "pull request for the incident", Limit: 1}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found[0].Kind, found[0].Excerpt)
	// Output:
	// user Good. Open a pull request against release-2.41 and mention incident INC-20417.
}

func ExampleEngine_Undo() {
	e, in := example()
	ctx, scope := context.Background(), governance.DefaultScope
	res, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := e.Undo(ctx, scope, &carrel.UndoRequest{Op: res.Op}); err != nil {
		log.Fatal(err)
	}
	out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the window as it was:", bytes.Equal(out.Data, demo.Session()))
	// Output:
	// the window as it was: true
}

// A context is made of what triage finds worth a place, and its manifest
// explains every artifact.
func ExampleEngine_Assemble() {
	ctx := context.Background()
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	expired := time.Duration(0)
	list, err := carrel.Items(e.Put(ctx, "acme/support", &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{
		{
			Class: provenance.Verified, VerifiedBy: "dana", Title: "Refunds",
			Content: []byte("The refund limit of the desk is $400."),
		},
		{
			Class: provenance.Retrieved, Title: "Old wiki", TTL: &expired,
			Content: []byte("The refund limit is $200."),
		},
	}}))
	if err != nil {
		log.Fatal(err)
	}
	r, err := e.Assemble(ctx, "acme/support", &carrel.AssembleRequest{Query: "What is the refund limit?", Budget: 4000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tier", r.Tier)
	for _, u := range r.Used {
		fmt.Println("used:", u.Title)
	}
	sealed, err := carrel.SealedOf(e.Manifest(ctx, "acme/support", &carrel.IDRequest{ID: r.Manifest}))
	if err != nil {
		log.Fatal(err)
	}
	_, why, _ := sealed.Manifest().Explain(string(list[1].ID), 0)
	fmt.Println("left out:", list[1].Title, "because it is", why)
	// Output:
	// tier full
	// used: Refunds
	// left out: Old wiki because it is expired
}

// A list of messages is made to fit without a store.
func ExampleTrim() {
	messages := []byte(`{"messages": [{"role": "user", "content": "Say hello."}, {"role": "assistant", "content": "Hello."}]}`)
	t, err := carrel.Trim(context.Background(), messages, &carrel.CompressRequest{Target: carrel.Target{Tokens: 60_000}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(t.Data) == len(messages), t.Result.Changed)
	// Output: true 0
}

// A request that was cut off while a tool ran is mended.
func ExampleRepair() {
	res, err := carrel.Repair(&carrel.RepairRequest{Provider: "openai", Data: []byte(`{"messages": [
 {"role": "user", "content": "Look."},
 {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
 {"role": "user", "content": "Go on."}
]}`)})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Repairs {
		fmt.Println(f.Rule, f.Message, f.What)
	}
	fmt.Printf("%s\n", res.Data)
	// Output:
	// X1 2 made up a result for an unanswered call
	// {"messages": [
	//  {"role": "user", "content": "Look."},
	//  {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
	//  {"role": "tool", "tool_call_id": "a", "content": "[carrel: interrupted, no result was recorded]"},
	//  {"role": "user", "content": "Go on."}
	// ]}
}
