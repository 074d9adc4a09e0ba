package mcp

import (
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

type recallArgs struct {
	ID      string `json:"id" jsonschema:"id from a stub, from get_messages or from search: of a block, an artifact or a summary (sum_...)"`
	From    int    `json:"from,omitempty" jsonschema:"first byte, counted from 0"`
	To      int    `json:"to,omitempty" jsonschema:"end offset in bytes, not included; 16384 bytes after from by default, 32768 at most"`
	Text    bool   `json:"text,omitempty" jsonschema:"return the text of a block instead of its JSON"`
	Session string `json:"session,omitempty" jsonschema:"return it only if it belongs to this session"`
}

// piece and maxPiece are the default and the largest number of bytes of an answer. Claude Code
// puts an answer of 64 KiB into a file instead of the window.
const (
	piece    = 16 << 10
	maxPiece = 32 << 10
)

type recallResult struct {
	ID      string               `json:"id"`
	Kind    transcript.Kind      `json:"kind,omitempty"`  // of a block
	Class   provenance.Class     `json:"class,omitempty"` // of an artifact
	Session transcript.SessionID `json:"session,omitempty"`
	State   store.State          `json:"state,omitempty"`
	SHA256  string               `json:"sha256"` // of all bytes
	Size    int                  `json:"size"`   // number of all bytes
	From    int                  `json:"from"`
	To      int                  `json:"to"`
	Next    int                  `json:"next,omitempty"` // offset of the next piece; 0 on the last
	Text    *string              `json:"text,omitempty"`
	Base64  string               `json:"base64,omitempty"` // in place of text if the bytes are not text
}

func recall() registrar {
	return &toolOf[recallArgs, recallResult]{
		Tool:  Tool{"recall", []*ops.Operation{&ops.Recall.Operation}},
		title: "Recall an original",
		about: "Return the original of a stub, a block, an artifact or a summary, byte for byte. A long one comes in pieces: call again with from set to next of the answer.",
		bound: func(p map[string]*jsonschema.Schema) {
			p["id"].MinLength = new(1)
			p["from"].Minimum, p["to"].Minimum = new(0.0), new(0.0)
		},
		run: func(ctx context.Context, c *call, in *recallArgs) (*reply[recallResult], error) {
			res, err := c.Recall(ctx, c.scope, &carrel.RecallRequest{Block: in.ID, Text: in.Text, From: in.From, To: in.To})
			if err != nil {
				return nil, err
			}
			if err := c.within(ctx, in.Session, in.ID, res.Session); err != nil {
				return nil, err
			}
			return recallReply(res, in), nil
		},
	}
}

// within returns an error unless the session of a block is the one that a word names. The
// argument of is the session of the block, and id is the block's id for the error. An empty word
// means any session.
func (c *call) within(ctx context.Context, word, id string, of transcript.SessionID) error {
	if word == "" {
		return nil
	}
	session, err := c.session(ctx, word)
	if err != nil {
		return err
	}
	if session != of {
		return fmt.Errorf("block %s in session %s: %w", id, session, store.ErrNotFound)
	}
	return nil
}

// recallReply returns a piece of an original. The bytes are one content of the reply and their
// description is the next, so that the reader has nothing to cut off.
func recallReply(res *carrel.RecallResult, in *recallArgs) *reply[recallResult] {
	limit := maxPiece
	if in.To == 0 {
		limit = piece
	}
	data := cut(res.Data, limit, in.From+len(res.Data) == res.Size)
	out := &recallResult{
		ID: string(res.Block), Kind: res.Kind, Class: res.Class, Session: res.Session, State: res.State,
		SHA256: res.Digest.String(), Size: res.Size, From: in.From, To: in.From + len(data),
	}
	if res.Artifact != "" {
		out.ID = string(res.Artifact)
	}
	note := fmt.Sprintf("[%s: bytes %d–%d of %d", out.ID, out.From, out.To, out.Size)
	if out.To < out.Size {
		out.Next = out.To
		note += fmt.Sprintf(", next: from=%d]", out.Next)
	} else {
		note += ", the end]"
	}
	if !utf8.Valid(data) {
		out.Base64 = base64.StdEncoding.EncodeToString(data)
		return &reply[recallResult]{text: []string{note + " These bytes are not text; the structured content has them as base64."}, out: out}
	}
	text := string(data)
	out.Text = &text
	return &reply[recallResult]{text: []string{text, note}, out: out}
}

// cut returns at most the first limit bytes of data. If data is text, cut does not split a
// character. The argument end is true if data has the last bytes of the original.
func cut(data []byte, limit int, end bool) []byte {
	if len(data) > limit {
		data, end = data[:limit], false
	}
	if end {
		return data
	}
	for n := 1; n < utf8.UTFMax && n < len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}
