package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/server/mcp"
)

func TestExplore(t *testing.T) {
	d := newDesk(t, nil)
	tools, err := d.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools.Tools {
		b, _ := json.Marshal(x)
		t.Log(string(b))
	}
	for _, r := range []*result{
		call(t, d.ClientSession, "get_messages", nil),
		call(t, d.ClientSession, "status", nil),
		call(t, d.ClientSession, "search", m{"query": "wire3"}),
		call(t, d.ClientSession, "compress", m{"target": 3000}),
		call(t, d.ClientSession, "assemble", m{"query": "wire3", "budget": 1000}),
		call(t, d.ClientSession, "recall", m{"id": "ffff"}),
		call(t, d.ClientSession, "recall", m{"id": messages(t, d.ClientSession).Messages[3].ShortID}),
		call(t, d.ClientSession, "discard_messages", m{"short_ids": []string{messages(t, d.ClientSession).Messages[0].ShortID, "ffff"}}),
		call(t, d.ClientSession, "discard_messages", m{"short_ids": []string{messages(t, d.ClientSession).Messages[0].ShortID}}),
		call(t, d.ClientSession, "discard_messages", m{}),
		call(t, d.ClientSession, "status", m{"foo": 3}),
		call(t, d.ClientSession, "pin", m{"ids": []string{messages(t, d.ClientSession).Messages[3].ShortID}}),
	} {
		t.Logf("%v\n%s\n%s", r.isError, strings.Join(r.text, "\n---\n"), r.json)
	}
	t.Log(d.InitializeResult())
	_ = slices.Max[[]int]
	_ = context.Background
	_ = cmp.Diff
	_ = jsonschema.Ptr[int]
	_ = mcp.Tools
	_ = carrel.ErrBudget
	_ = sdk.NewClient
}
