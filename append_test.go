package carrel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func words(role, text string) json.RawMessage {
	return fmt.Appendf(nil, `{"role": %q, "content":%q , "x":1.50}`, role, text)
}

func TestAppend(t *testing.T) {
	ctx := t.Context()
	e, err := New(stores.New(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	one, three := 1, 3
	add := func(req *AppendRequest) error {
		_, err := e.Append(ctx, "local", req)
		return err
	}
	first := &AppendRequest{Session: "run:7", Model: "gpt-5", Messages: []json.RawMessage{words("user", "build it")}}
	if err := add(first); err != nil {
		t.Fatal(err)
	}
	more := &AppendRequest{Session: "run:7", At: &one, Messages: []json.RawMessage{words("assistant", "how?"), words("user", "with make")}}
	if err := add(more); err != nil {
		t.Fatal(err)
	}
	if err := add(more); !errors.Is(err, store.ErrConflict) {
		t.Errorf("what was sent twice: %v", err)
	}
	out, err := e.Export(ctx, "local", &ExportRequest{Session: "run:7"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"gpt-5","messages":[` + string(bytes.Join([][]byte{
		words("user", "build it"), words("assistant", "how?"), words("user", "with make"),
	}, []byte(","))) + `]}`
	if string(out.Data) != want {
		t.Errorf("the conversation is\n%s, want\n%s", out.Data, want)
	}
	for _, tt := range []struct {
		name string
		req  *AppendRequest
		want error
	}{
		{"no session", &AppendRequest{Messages: first.Messages}, ErrRequest},
		{"a path for a session", &AppendRequest{Session: "../x", Messages: first.Messages}, ErrRequest},
		{"no message", &AppendRequest{Session: "a"}, ErrRequest},
		{"no JSON", &AppendRequest{Session: "a", Messages: []json.RawMessage{[]byte("{")}}, ErrRequest},
		{"a format of files", &AppendRequest{Session: "a", Format: "claude-code", Messages: first.Messages}, ErrRequest},
		{"a session that is not there at 3", &AppendRequest{Session: "a", At: &three, Messages: first.Messages}, store.ErrConflict},
	} {
		if err := add(tt.req); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	var syntax *transcript.SyntaxError
	if err := add(&AppendRequest{Session: "a", Messages: []json.RawMessage{[]byte("7")}}); !errors.As(err, &syntax) {
		t.Errorf("a number for a message: %v", err)
	}
}

// However messages are parted among requests, the session is the same, byte for
// byte, and so are its blocks.
func TestAppendInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		n := rapid.IntRange(1, 12).Draw(t, "messages")
		var messages []json.RawMessage
		for i := range n {
			messages = append(messages, words([]string{"user", "assistant"}[i%2], fmt.Sprint("word ", i)))
		}
		format := rapid.SampledFrom([]string{"", "openai", "anthropic"}).Draw(t, "format")
		write := func(cuts []int) (*MessagesResult, []byte) {
			e, err := New(stores.New(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, to := range append(cuts, n) {
				if to <= at {
					continue
				}
				req := &AppendRequest{Session: "s", Format: format, At: &at, Messages: messages[at:to]}
				if _, err := e.Append(ctx, governance.DefaultScope, req); err != nil {
					t.Fatal(err)
				}
				at = to
			}
			list, err := e.Messages(ctx, governance.DefaultScope, &MessagesRequest{Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			out, err := e.Export(ctx, governance.DefaultScope, &ExportRequest{Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			return list, out.Data
		}
		whole, want := write(nil)
		pieces, got := write(rapid.SliceOfN(rapid.IntRange(1, n), 0, 4).Draw(t, "cuts"))
		if !bytes.Equal(got, want) {
			t.Fatalf("in pieces\n%s, at once\n%s", got, want)
		}
		if len(pieces.Messages) != len(whole.Messages) || pieces.Total != whole.Total {
			t.Fatalf("in pieces %d blocks of %d tokens, at once %d of %d", len(pieces.Messages), pieces.Total, len(whole.Messages), whole.Total)
		}
	})
}
