package account_test

import (
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func Example() {
	msgs := []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("Fix the timeout in pool.go.")}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Text("I run the tests first."),
			transcript.ToolCall{ID: "one", Name: "Bash", Input: json.RawMessage(`{"command":"go test ./pool"}`)},
		}},
		{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: "one", Content: []transcript.Part{
				transcript.Text("ok  \tpool\t0.2s"),
			}},
		}},
	}
	blocks := transcript.Group("example", 0, msgs)

	units, state := account.Read(msgs, blocks, nil)
	pieces := facts.History(msgs, blocks, nil)
	r := &account.Request{
		Units: units, Worth: account.NewWorth(units, pieces, facts.Estimate(pieces, nil), nil),
		Blocks: make([]account.Block, len(blocks)), Budget: 100,
		Count: func(unit int) token.Count { return token.Estimate(units[unit].Quotation(), token.KindProse) },
	}
	for i := range blocks {
		r.Blocks[i] = account.Block{Tokens: 500, Frame: 8, Mark: token.Estimate(account.Mark(blocks[i].ID)+"\n", token.KindProse), Traced: true}
	}
	plan, err := account.Make(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	from := 0
	for i := range blocks {
		to := from
		for to < len(units) && int(units[to].Block) == i {
			to++
		}
		if plan.Opened[i] { // else the block stays whole, or leaves the window
			fmt.Printf("%s: %s\n", account.Role(&blocks[i]), account.Text(units[from:to], plan.Kept[from:to], blocks[i].ID))
		}
		from = to
	}
	fmt.Print(state.Text(""))
	// Output:
	// user: Fix the timeout in pool.go.
	// assistant: I run the tests first.
	// $
	// go test ./pool
	// → ok pool 0.2s
	// last command: go test ./pool
	//   → ok pool 0.2s
}
