// Command generated makes one round trip with a client that a generator made from
// the OpenAPI document of a server: it is compiled beside that client, which is in
// this package, too.
//
//	go run . URL TOKEN
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

const (
	session = "11111111-2222-4333-8444-555555555555"
	needle  = "the deploy key rotates on Thursdays"
)

func main() {
	if err := roundTrip(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// roundTrip appends a message, finds it, recalls it, has the same write
// answered from what is known, and is told what is wrong with a bad request.
func roundTrip(ctx context.Context, url, credential string) error {
	c, err := NewClientWithResponses(url, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+credential)
		return nil
	}))
	if err != nil {
		return err
	}
	body := AppendBody{Messages: []any{map[string]any{"role": "user", "content": "Remember: " + needle + "."}}}
	params := &AppendParams{IdempotencyKey: ptr("once")}
	first, err := c.AppendWithResponse(ctx, session, params, body)
	if err != nil {
		return err
	}
	if first.JSON200 == nil || first.JSON200.Added != 1 {
		return fmt.Errorf("append: %s %s", first.Status(), first.Body)
	}
	again, err := c.AppendWithResponse(ctx, session, params, body)
	if err != nil {
		return err
	}
	if !bytes.Equal(again.Body, first.Body) {
		return fmt.Errorf("the same write again: %s %s", again.Status(), again.Body)
	}

	found, err := c.SearchWithResponse(ctx, &SearchParams{Query: "deploy key"})
	if err != nil {
		return err
	}
	if found.JSON200 == nil || len(found.JSON200.Items) != 1 {
		return fmt.Errorf("search: %s %s", found.Status(), found.Body)
	}
	recalled, err := c.RecallWithResponse(ctx, found.JSON200.Items[0].Block, &RecallParams{})
	if err != nil {
		return err
	}
	var message struct{ Role, Content string }
	if recalled.JSON200 == nil || recalled.JSON200.Data == nil ||
		json.Unmarshal(*recalled.JSON200.Data, &message) != nil || message.Content != "Remember: "+needle+"." {
		return fmt.Errorf("recall: %s %s", recalled.Status(), recalled.Body)
	}

	wrong, err := c.RecallWithResponse(ctx, "ffffffffffff", &RecallParams{})
	if err != nil {
		return err
	}
	problem := wrong.ApplicationproblemJSONDefault
	if wrong.StatusCode() != http.StatusNotFound || problem == nil || problem.Detail == "" {
		return fmt.Errorf("recall of nothing: %s %s", wrong.Status(), wrong.Body)
	}
	who, err := c.WhoamiWithResponse(ctx)
	if err != nil {
		return err
	}
	if who.JSON200 == nil || who.JSON200.Actor != "generated" {
		return fmt.Errorf("whoami: %s %s", who.Status(), who.Body)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
