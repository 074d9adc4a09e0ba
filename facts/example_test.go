package facts_test

import (
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/transcript"
)

func ExampleEach() {
	facts.Each("pool.go:118: Close took 1.5 s at 4c1f9ab, see v1.2.3", func(id facts.Identifier, at int) {
		fmt.Printf("%2d %-8s %s\n", at, id.Kind, id.Text)
	})
	// Output:
	//  0 file     pool.go
	//  8 number   118
	// 24 quantity 1.5 s
	// 33 hash     4c1f9ab
	// 46 version  v1.2.3
}

func ExampleGraph_Call() {
	var msgs []transcript.Message
	call := func(id, name, input, result string) {
		msgs = append(msgs,
			transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{
				transcript.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)},
			}},
			transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{
				transcript.ToolResult{CallID: id, Content: []transcript.Part{transcript.Text(result)}},
			}})
	}
	call("one", "Read", `{"file_path":"/srv/app/pool.go"}`, "package pool")
	call("two", "Edit", `{"file_path":"pool.go","old_string":"5","new_string":"30"}`, "The file was updated.")

	g := facts.NewGraph(msgs, transcript.Group("example", 0, msgs), &facts.Options{Project: "/srv/app"})
	s := g.Call("one")
	fmt.Printf("%s: %s was changed in block %d by call %s\n", s.State, s.About, s.By.Block, s.By.CallID)
	fmt.Println(g.Call("two").State)
	// Output:
	// stale: pool.go was changed in block 1 by call two
	// current
}
