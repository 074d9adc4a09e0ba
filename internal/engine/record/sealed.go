package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/transcript"
)

// A StoredIntent is the intent of a call as the store keeps it, with the document of its
// manifest.
type StoredIntent struct {
	api.CallIntent

	Document json.RawMessage `json:"document,omitempty"`
}

// The names that a manifest of a call has in place of those of an assembled context: nobody
// counts its tokens but the provider, and its segments are in no cell.
const (
	countedByProvider = "provider"
	inNoCell          = "sent"
	callPolicy        = "epochs/"
)

// callID is what the id of a call begins with that has a manifest.
const callID = "call_"

// CallManifest returns the id of the manifest of a call. It is empty if the call has an id
// that somebody else gave it.
func CallManifest(call string) string {
	digits, ok := strings.CutPrefix(call, callID)
	if !ok || len(digits) != 16 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return "m_" + digits
}

// SealCall seals the account of what is sent for a call, and puts it into the intent.
func (e *Recorder) SealCall(scope governance.Scope, c *store.Call, in *StoredIntent, account *api.CallAccount) error {
	id := CallManifest(c.ID)
	if id == "" || account == nil || len(account.Segments) == 0 {
		return nil
	}
	m := &manifest.Manifest{Header: manifest.Header{
		ID: id, Scope: NameFor("scope", cmp.Or(string(scope), "none")), Actor: NameFor("actor", string(e.Opts.Actor)), Created: c.Begun.UTC().Truncate(time.Millisecond),
		Session: transcript.SessionID(NameFor("session", string(c.Session))), Policy: fmt.Sprintf("%s%d", callPolicy, in.Epoch), Format: in.Dialect,
		Encoding: countedByProvider, Tier: tier.Full,
	}}
	at := 0
	for i := range account.Segments {
		s := &account.Segments[i]
		seg := &manifest.Segment{Kind: s.Kind, Cell: cmp.Or(s.Before, inNoCell), Commit: s.Commit, Start: at, Bytes: s.Bytes, Reason: manifest.ReasonWindow}
		if at += s.Bytes; s.Kind == manifest.KindFrame {
			seg.Reason = manifest.ReasonFrame
		} else {
			seg.Ref = s.Chain.String()
		}
		m.Items = append(m.Items, seg)
	}
	m.Items = append(m.Items, &manifest.Output{Bytes: at, Commit: commitParts(account.Segments)})
	if at != in.SentBytes {
		return &api.FieldError{Field: "sealed", Text: fmt.Sprintf("has segments of %d bytes, and %d are sent", at, in.SentBytes)}
	}
	sealed, err := manifest.Seal(m, e.Opts.Rand)
	if err != nil {
		return fmt.Errorf("%w: sealed: %w", api.ErrRequest, err)
	}
	in.Manifest, in.Seal, in.Document = id, sealed.Seal(), sealed.Bytes()
	return nil
}

// commitParts returns the commitment to a whole body: to the commitments of its segments, so
// that nobody has to read again what was sent before.
func commitParts(segments []api.CallSegment) digest.Digest {
	all := make([]byte, 0, len(segments)*digest.Size)
	for i := range segments {
		all = append(all, segments[i].Commit[:]...)
	}
	return manifest.CommitOutput(nil, all)
}

// NameFor returns a text as a name for a manifest. One that has characters which no name has,
// such as the id of a session that comes from the name of a file, gets a mark before it and
// dashes in their places.
func NameFor(mark, text string) string {
	if text == "" || manifest.ValidName(text) {
		return text
	}
	name := mark + ":" + strings.Map(func(r rune) rune {
		if manifest.ValidName("a" + string(r)) {
			return r
		}
		return '-'
	}, text)
	return name[:min(len(name), manifest.MaxName)]
}

// A SealedCall is a call with the manifest of what was sent for it.
type SealedCall struct {
	Call   *store.Call
	Intent StoredIntent
	Sealed *manifest.Sealed
}

// SealedCall returns the call that has an id, or whose manifest has it, with its manifest. It
// fails with [store.ErrNotFound] if there is none.
func (e *Recorder) SealedCall(ctx context.Context, scope governance.Scope, id string) (*SealedCall, error) {
	digits, found := strings.CutPrefix(id, "m_")
	if found {
		id = callID + digits
	}
	if CallManifest(id) == "" {
		return nil, store.ErrNotFound
	}
	for c, err := range e.Store.Calls(ctx, scope, store.CallFilter{ID: id}) {
		if err != nil {
			return nil, err
		}
		s := &SealedCall{Call: c}
		if err := parse(c.Intent, &s.Intent); err != nil {
			return nil, fmt.Errorf("%w: call %s: %w", store.ErrCorrupt, c.ID, err)
		}
		if s.Intent.Manifest == "" {
			return nil, fmt.Errorf("call %s was not managed, and has no manifest: %w", c.ID, store.ErrNotFound)
		}
		if s.Sealed, err = manifest.Parse(s.Intent.Document); err == nil && !s.Sealed.Seal().Equal(s.Intent.Seal) {
			err = errors.New("its seal is not the one that was recorded")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: manifest of call %s: %w", api.ErrIntegrity, c.ID, err)
		}
		return s, nil
	}
	return nil, store.ErrNotFound
}

// Manifest returns the manifest of a call as the store has those of contexts, with what came of
// the call.
func (s *SealedCall) Manifest() *store.Manifest {
	h := &s.Sealed.Manifest().Header
	m := &store.Manifest{
		ID: h.ID, Session: s.Call.Session, Created: h.Created, Format: h.Format, Tier: h.Tier, Seal: s.Sealed.Seal(), Body: s.Sealed.Bytes(),
	}
	if s.Call.State != store.CallIntent {
		m.Made = []store.ContextOutcome{{Manifest: h.ID, Actor: governance.Actor(h.Actor), Time: s.Call.Ended, Data: s.Call.Outcome}}
	}
	return m
}

// Ends returns the chain of the messages that were sent, and how many bytes.
func (s *SealedCall) Ends() (chain digest.Digest, bytes int) {
	for _, it := range s.Sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			if it.Ref != "" {
				chain, _ = digest.Parse(it.Ref) // it was made of one
			}
		case *manifest.Output:
			bytes = it.Bytes
		}
	}
	return chain, bytes
}
