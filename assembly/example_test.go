package assembly_test

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

// A document is measured with its fence, Fit chooses its form, and the caller writes it. The
// function Brief of the winner keeps each text that it makes, by its size.
func ExampleFit() {
	count := func(text string) token.Count { return token.Count(len(text) / 4) } // see package token for better ones
	text, _ := assembly.Neutralize(strings.Repeat("A refund takes ten days.\n", 40))
	origin := assembly.Origin{ID: "a41c09de", Class: provenance.Document, Origin: "file:policy.md"}
	origin.Tokens = count(assembly.Fence(origin, text))

	short := make(map[token.Count]string)
	plan, err := assembly.Fit(&assembly.Request{
		Budget: 330,
		Query:  20,
		Winners: []assembly.Winner{{
			Class:  origin.Class,
			Tokens: origin.Tokens,
			Brief: func(limit token.Count) token.Count {
				text, n := assembly.Shorten(assembly.Brief, origin, text, []string{"refund"}, limit, count)
				short[n] = text
				return n
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Tier, plan.Total <= 330)
	switch c := plan.Choices[0]; c.Form {
	case manifest.FormWhole:
		fmt.Print(assembly.Fence(origin, text))
	case manifest.FormBrief:
		head, _, _ := strings.Cut(short[c.Tokens], "\n")
		fmt.Println(head)
	case assembly.Out:
		fmt.Println(c.Reason)
	}
	// Output:
	// summarized true
	// <artifact id="a41c09de" class="document" source="file:policy.md" form="brief" fence="66825eca">
}
