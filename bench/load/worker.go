package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// turns is the number of messages in a client's own session before it begins the next one.
const turns = 40

// A session is a session that a client writes, with its acknowledged messages.
type session struct {
	id       transcript.SessionID
	messages [][]byte
	blocks   []transcript.BlockID // blocks of the messages, as far as they were listed
}

// A worker is one client.
type worker struct {
	n      int
	client *client.Client
	scope  governance.Scope
	rng    *rand.Rand
	tally  *tally

	own       []*session // the last one is the one in use
	shared    *session   // the part that this client wrote
	artifacts map[store.ArtifactID][]byte
	contexts  map[string]digest.Digest // by id of the manifest
}

func newWorker(o *options, n int, c *client.Client) *worker {
	w := &worker{
		n: n, client: c, scope: o.scope, rng: rand.New(rand.NewPCG(o.seed, uint64(n))), tally: newTally(),
		shared:    &session{id: sharedBy(n)},
		artifacts: make(map[store.ArtifactID][]byte), contexts: make(map[string]digest.Digest),
	}
	w.begin()
	return w
}

// sharedBy names the session that a client shares with three others.
func sharedBy(n int) transcript.SessionID {
	return transcript.SessionID(fmt.Sprintf("shared-%d", n/4))
}

// begin begins a new session.
func (w *worker) begin() {
	w.own = append(w.own, &session{id: transcript.SessionID(fmt.Sprintf("client-%d-%d", w.n, len(w.own)))})
}

// work runs random operations until the end time.
func (w *worker) work(ctx context.Context, end time.Time) {
	for time.Now().Before(end) && ctx.Err() == nil {
		switch r := w.rng.IntN(100); {
		case r < 45:
			w.appendOwn(ctx)
		case r < 50:
			w.appendShared(ctx)
		case r < 60:
			w.put(ctx)
		case r < 85:
			w.recall(ctx)
		default:
			w.assemble(ctx)
		}
	}
}

// words are the words that messages are made of.
var words = strings.Fields(`pool queue drain close worker retry budget ledger deploy staging profile ticket branch
	shutdown timeout metric config error panic index page currency incident review merge release test suite`)

// prose returns some words.
func (w *worker) prose(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[w.rng.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// message returns the next message of a session. All messages differ.
func (w *worker) message(s *session) []byte {
	role := [...]string{"user", "assistant"}[len(s.messages)%2]
	return fmt.Appendf(nil, `{ "role":%q, "content":"client %d, message %d of %s: <%s> & größe %d"}`,
		role, w.n, len(s.messages), s.id, w.prose(20+w.rng.IntN(180)), w.rng.Uint32())
}

func (w *worker) appendOwn(ctx context.Context) {
	s := w.own[len(w.own)-1]
	raw, at := w.message(s), len(s.messages)
	w.tally.time("append", func() error {
		_, err := w.client.Append(ctx, w.scope, &carrel.AppendRequest{Session: s.id, Messages: []json.RawMessage{raw}, At: &at})
		if err == nil {
			s.messages = append(s.messages, raw)
		}
		return err
	})
	if len(s.messages) == turns {
		w.begin()
	}
}

func (w *worker) appendShared(ctx context.Context) {
	raw := w.message(w.shared)
	w.tally.time("append, shared", func() error {
		for {
			_, err := w.client.Append(ctx, w.scope, &carrel.AppendRequest{Session: w.shared.id, Messages: []json.RawMessage{raw}})
			switch {
			case conflicts(err):
				w.tally.conflicts++
				continue
			case err == nil:
				w.shared.messages = append(w.shared.messages, raw)
			}
			return err
		}
	})
}

func (w *worker) put(ctx context.Context) {
	content := fmt.Appendf(nil, "client %d, fact %d: %s\x00\xff", w.n, len(w.artifacts), w.prose(40))
	w.tally.time("put", func() error {
		list, err := carrel.Items(w.client.Put(ctx, w.scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Retrieved, Content: content, Subject: fmt.Sprintf("client %d", w.n)}}}))
		if err == nil {
			w.artifacts[list[0].ID] = content
		}
		return err
	})
}

// recall recalls a message of one of the client's sessions.
func (w *worker) recall(ctx context.Context) {
	s := w.own[w.rng.IntN(len(w.own))]
	if len(s.messages) == 0 {
		return
	}
	i := w.rng.IntN(len(s.messages))
	if i >= len(s.blocks) {
		w.tally.time("list", func() error { return w.list(ctx, s) })
	}
	if i >= len(s.blocks) {
		return // the error is recorded
	}
	w.tally.time("recall", func() error {
		res, err := w.client.Recall(ctx, w.scope, &carrel.RecallRequest{Block: string(s.blocks[i])})
		if err == nil && !bytes.Equal(res.Data, s.messages[i]) {
			err = fmt.Errorf("message %d of session %s is recalled as %q, want %q", i, s.id, res.Data, s.messages[i])
		}
		return err
	})
}

// list lists the blocks of a session. Each message is one block.
func (w *worker) list(ctx context.Context, s *session) error {
	res, err := w.client.Messages(ctx, w.scope, &carrel.MessagesRequest{Session: s.id})
	if err != nil {
		return err
	}
	if len(res.Messages) != len(s.messages) {
		return fmt.Errorf("session %s has %d blocks, want %d", s.id, len(res.Messages), len(s.messages))
	}
	s.blocks = s.blocks[:0]
	for _, b := range res.Messages {
		s.blocks = append(s.blocks, b.ID)
	}
	return nil
}

func (w *worker) assemble(ctx context.Context) {
	req := &carrel.AssembleRequest{Query: "what about " + w.prose(5) + "?", Budget: 8000, Format: "openai"}
	if s := w.own[len(w.own)-1]; len(s.messages) > 0 {
		req.Session = s.id
	}
	w.tally.time("assemble", func() error {
		res, err := w.client.Assemble(ctx, w.scope, req)
		if err != nil {
			return err
		}
		if res.TokenCount > res.Budget {
			return fmt.Errorf("context %s has %d tokens, more than the budget of %d", res.Manifest, res.TokenCount, res.Budget)
		}
		w.contexts[res.Manifest] = digest.Of(res.Data)
		return nil
	})
}

// conflicts reports whether err is a conflict of a server, also of one that has another name for it.
func conflicts(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return errors.Is(err, store.ErrConflict) || ok && e.Problem.Status == http.StatusConflict
}
