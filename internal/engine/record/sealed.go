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

// A StoredIntent is the intent of a call in the store, with the document of its manifest.
type StoredIntent struct {
	api.CallIntent

	Document json.RawMessage `json:"document,omitempty"`
}

// Names that the manifest of a call uses in place of those of an assembled context: only the
// provider counts its tokens, and its segments are in no cell.
const (
	countedByProvider = "provider"
	inNoCell          = "sent"
	callPolicy        = "epochs/"
)

// callID is the prefix of the ids of calls that can have a manifest.
const callID = "call_"

// CallManifest returns the id of the manifest of a call, or "" if another program assigned the id
// of the call.
func CallManifest(call string) string {
	digits, ok := strings.CutPrefix(call, callID)
	if !ok || len(digits) != 16 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return "m_" + digits
}

// SealCall seals the manifest of the request body of a call and adds it to the intent. It does
// nothing if the account has no segments, or if another program assigned the id of the call. It
// fails if the segments do not add up to the bytes sent.
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
		return fmt.Errorf("%w: seal the manifest of the call: %w", api.ErrRequest, err)
	}
	in.Manifest, in.Seal, in.Document = id, sealed.Seal(), sealed.Bytes()
	return nil
}

// commitParts returns the commitment to a whole body. It is computed from the commitments of the
// segments, so that earlier segments need not be read again.
func commitParts(segments []api.CallSegment) digest.Digest {
	all := make([]byte, 0, len(segments)*digest.Size)
	for i := range segments {
		all = append(all, segments[i].Commit[:]...)
	}
	return manifest.CommitOutput(nil, all)
}

// NameFor returns text as a valid name for a manifest. If text has characters that a name must not
// have, such as a session id from a file name, NameFor replaces them by dashes and puts the
// argument mark before it.
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

// A SealedCall is a call with the manifest of its request body.
type SealedCall struct {
	Call   *store.Call
	Intent StoredIntent
	Sealed *manifest.Sealed
}

// SealedCall returns the call with an id, or with a manifest of that id. It fails with
// [store.ErrNotFound] if there is none.
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
			return nil, fmt.Errorf("%w: decode the record of call %s: %w", store.ErrCorrupt, c.ID, err)
		}
		if s.Intent.Manifest == "" {
			return nil, fmt.Errorf("call %s was not managed, and has no manifest: %w", c.ID, store.ErrNotFound)
		}
		if s.Sealed, err = manifest.Parse(s.Intent.Document); err == nil && !s.Sealed.Seal().Equal(s.Intent.Seal) {
			err = errors.New("the seal of the document differs from the recorded one")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: read the manifest of call %s: %w", api.ErrIntegrity, c.ID, err)
		}
		return s, nil
	}
	return nil, store.ErrNotFound
}

// Manifest returns the manifest of a call, with the outcome of the call, in the form in which the
// store returns manifests of contexts.
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

// Ends returns two things that the manifest says of the request body: the digest of the chain of
// the messages sent, and the number of bytes.
func (s *SealedCall) Ends() (chain digest.Digest, bytes int) {
	for _, it := range s.Sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			if it.Ref != "" {
				chain, _ = digest.Parse(it.Ref) // a valid digest, as it was made from one
			}
		case *manifest.Output:
			bytes = it.Bytes
		}
	}
	return chain, bytes
}
