package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/store"
)

// Append adds messages to the end of a session, or starts a session.
func (e *Sessions) Append(ctx context.Context, scope governance.Scope, req *api.AppendRequest) (_ *api.ImportResult, err error) {
	defer base.During("append", &err, "to session "+string(req.Session))

	if err := checkAppend(req); err != nil {
		return nil, err
	}
	return base.Retry(ctx, func() (*api.ImportResult, error) { return e.append(ctx, scope, req) })
}

func checkAppend(req *api.AppendRequest) error {
	id := string(req.Session)
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	switch {
	case id == "" || len(id) > 128 || strings.Trim(id, letters+"._:-") != "" || !strings.Contains(letters, id[:1]):
		return fmt.Errorf("%w: session %q: want 1 to 128 letters, digits and . _ : -, a letter or digit first", api.ErrRequest, id)
	case len(req.Messages) == 0:
		return fmt.Errorf("%w: the list of messages is empty", api.ErrRequest)
	case req.At != nil && *req.At < 0:
		return fmt.Errorf("%w: at is %d: want 0 or more", api.ErrRequest, *req.At)
	}
	for i, m := range req.Messages {
		if !rawjson.Valid(m) {
			return fmt.Errorf("%w: message %d is not JSON", api.ErrRequest, i+1)
		}
	}
	return nil
}

func (e *Sessions) append(ctx context.Context, scope governance.Scope, req *api.AppendRequest) (*api.ImportResult, error) {
	var data []byte
	format, messages := "openai", 0
	if req.Format != "" {
		format = req.Format
	}
	h, err := e.Load(ctx, scope, req.Session)
	switch {
	case err == nil && h.Head.Format != "":
		data, format, messages = h.Session.Bytes(), h.Head.Format, h.Head.Messages
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	default:
		if data, err = frameOf(req); err != nil {
			return nil, err
		}
	}
	if req.At != nil && *req.At != messages {
		return nil, fmt.Errorf("%w: the session has %d messages, not %d as the request says: read it again", store.ErrConflict, messages, *req.At)
	}
	f, err := hold.FormatNamed(format)
	if err != nil {
		return nil, err
	}
	if data, err = appendMessages(data, hold.ListKey(format), req.Messages); err != nil {
		return nil, fmt.Errorf("%w: messages cannot be appended to a session in format %s: import its file", api.ErrPolicy, format)
	}
	s, err := f.Decode(string(req.Session), data)
	if err != nil {
		return nil, err
	}
	s.ID = req.Session
	imported := &api.ImportRequest{Name: string(req.Session), Format: format, Data: data, DryRun: req.DryRun}
	// Import over the revision that was read, so that messages which another writer adds
	// meanwhile are not overwritten.
	return e.importOver(ctx, scope, imported, s, h)
}

// frameOf returns a conversation in the format of the request. It has the system text of the
// request, but no messages yet.
func frameOf(req *api.AppendRequest) ([]byte, error) {
	frame := []byte("{")
	member := func(key, value string) {
		if value != "" {
			frame = rawjson.AppendString(append(frame, `"`+key+`":`...), value)
			frame = append(frame, ',')
		}
	}
	member("model", req.Model)
	switch {
	case req.Format == "anthropic":
		member("system", req.System)
	case req.Format == "responses":
		member("instructions", req.System)
	case req.Format == "gemini":
		if req.System != "" {
			frame = append(rawjson.AppendString(append(frame, `"systemInstruction":{"parts":[{"text":`...), req.System), "}]},"...)
		}
	case req.Format != "" && req.Format != "openai":
		return nil, fmt.Errorf("%w: a session cannot begin in format %q: want openai, anthropic, responses or gemini", api.ErrRequest, req.Format)
	case req.System != "":
		return nil, fmt.Errorf("%w: in format openai the system text is the first message: put it there", api.ErrRequest)
	}
	return append(frame, `"`+hold.ListKey(req.Format)+`":[]}`...), nil
}

// appendMessages returns body with messages added to the end of the list under a key. All other
// bytes stay the same.
func appendMessages(body []byte, under string, messages []json.RawMessage) ([]byte, error) {
	r := rawjson.NewReader(body)
	end, empty := -1, false
	err := r.Object(func(key string) error {
		if key != under {
			_, err := r.Skip()
			return err
		}
		list, err := r.Elements()
		if err != nil {
			return err
		}
		end, empty = r.Position()-1, len(list) == 0 // before the bracket
		return nil
	})
	if err != nil || end < 0 {
		return nil, errors.Join(err, errors.New("no messages"))
	}
	added := make([]byte, 0, len(messages)*64)
	for i, m := range messages {
		if i > 0 || !empty {
			added = append(added, ',')
		}
		added = append(added, m...)
	}
	return slices.Concat(body[:end], added, body[end:]), nil
}
