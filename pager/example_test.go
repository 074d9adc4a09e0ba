package pager_test

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func Example() {
	msgs := []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("Fix the timeout in pool.go.")}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.Text(strings.Repeat("The pool reads its timeout from a flag. ", 50)),
		}},
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("Now test it.")}},
	}
	blocks := transcript.Group("example", 0, msgs)

	texts := make([]string, len(blocks))
	for i := range blocks {
		texts[i] = blocks[i].Text(msgs)
	}
	mentions := pager.NewMentions(texts)
	entries := func(i int, f pager.Form) []transcript.Entry {
		v := pager.View{
			Block: &blocks[i], Messages: msgs, Tokens: token.Estimate(texts[i], token.KindProse),
			Names: func(from, to, n int) []string { return mentions.Of(i, from, to, n) },
		}
		return pager.Entries(msgs, &blocks[i], f, v.Stub(f))
	}

	r := &pager.Request{Budget: 100, Size: func(i int, f pager.Form) token.Count {
		size := token.Count(0)
		for _, e := range entries(i, f) {
			size += token.Estimate(e.Text(), token.KindProse)
		}
		return size
	}}
	hits := pager.NewIntent("test pool").Hits(texts)
	for i, rule := range pager.Rules(msgs, blocks, &pager.RuleOptions{Last: -1}) {
		r.Blocks = append(r.Blocks, pager.Candidate{
			ID: blocks[i].ID, Turn: blocks[i].Turn, Rule: rule, Form: pager.Whole,
			Signals: pager.Signals{Hits: hits[i], Terms: 2, Age: len(blocks) - blocks[i].Turn},
		})
	}
	plan, err := pager.Make(r) // a *FloorError if rules keep too much
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, d := range plan.Decisions {
		for _, e := range entries(i, d.To) {
			fmt.Printf("%s (%s): %.75s\n", d.To, d.Rule, e.Text())
		}
	}
	// Output:
	// whole (first-task): Fix the timeout in pool.go.
	// line (): [carrel e1b48bea: paged reply, 501 tokens; recall by id] The pool reads its
	// whole (newest-user): Now test it.
}
