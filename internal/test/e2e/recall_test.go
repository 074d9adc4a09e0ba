package e2e

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/store"
)

// An original is what the model recalls, piece by piece.
type original struct {
	id   string
	data bytes.Buffer
	done bool
}

// step returns the step in which the model recalls all of what the newest pointer
// points to. It does as the server says: on from where the piece before ended.
func (o *original) step() upstream.Step {
	return upstream.Step{
		Name: "recall", Times: 20,
		When: func(r *upstream.Request) bool { return upstream.Main(r) && o.more(r) },
		Make: func(r *upstream.Request) upstream.Reply {
			return upstream.Say(upstream.Call{
				Name: toolName(r, "recall"), Input: map[string]any{"id": o.id, "from": o.data.Len()},
			})
		},
	}
}

// more takes in what a request brings and reports whether there is more to recall.
func (o *original) more(r *upstream.Request) bool {
	if o.id == "" {
		o.id = pointedTo(r)
		return true
	}
	for _, res := range r.Results() {
		var piece struct {
			Text *string
			Next int
		}
		if o.done || json.Unmarshal([]byte(res.Text), &piece) != nil || piece.Text == nil {
			return false
		}
		o.data.WriteString(*piece.Text)
		o.done = piece.Next == 0
	}
	return !o.done
}

// pointedTo returns the id in the newest pointer that a request has.
func pointedTo(r *upstream.Request) string {
	pointer := regexp.MustCompile(`^\[carrel: stashed \d+ bytes, \d+ lines as ([0-9a-f]+)`)
	id := ""
	for _, text := range r.Texts() {
		if m := pointer.FindStringSubmatch(text); m != nil {
			id = m[1]
		}
	}
	return id
}

// foundIn returns the id of the block with a text, from what a search found: it is of
// before a compaction.
func foundIn(t *testing.T, r *upstream.Request, text string) string {
	for _, res := range r.Results() {
		var list struct {
			Found []struct {
				ID      string
				State   store.State
				Excerpt string
			}
		}
		if err := json.Unmarshal([]byte(res.Text), &list); err != nil {
			t.Errorf("what was found is %q", res.Text)
		}
		for _, f := range list.Found {
			if strings.Contains(f.Excerpt, text) && f.State == store.StateCold {
				return f.ID
			}
		}
		t.Errorf("no block from before the compaction says %q:\n%s", text, res.Text)
	}
	return ""
}

// idOf returns the id of the message with a text, from the list that a request brings.
func idOf(t *testing.T, r *upstream.Request, text string) string {
	for _, res := range r.Results() {
		var list struct {
			Messages []struct {
				ID      string `json:"short_id"`
				Preview string
			}
		}
		if err := json.Unmarshal([]byte(res.Text), &list); err != nil {
			t.Errorf("the list is %q", res.Text)
		}
		for _, m := range list.Messages {
			if strings.Contains(m.Preview, text) {
				return m.ID
			}
		}
	}
	t.Errorf("no message says %q", text)
	return ""
}
