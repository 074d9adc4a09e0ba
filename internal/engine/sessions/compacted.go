package sessions

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/transcript"
)

// behindCompaction returns the import with the earlier windows of the session added. The client's
// compaction left one message. If no stored window has this message, all stored windows are earlier
// windows, the newest included. Otherwise only the windows before the window with this message are
// earlier windows. Messages that the client kept belong to the present window.
func behindCompaction(req *api.ImportRequest, s *transcript.Session, old *hold.Snapshot) (*api.ImportRequest, *transcript.Session, error) {
	known := old.Session
	windows := append(slices.Clone(known.Earlier), known.Messages)
	n := len(windows)
	for i, w := range slices.Backward(windows) {
		if slices.ContainsFunc(w, func(m transcript.Message) bool { return digest.Of(known.Raw(&m)).String() == req.Compaction }) {
			n = i
			break
		}
	}
	var bodies [][]byte
	for i, w := range windows[:n] {
		var kept [][]byte
		if i == len(known.Earlier) { // the client kept the messages that are also in the present window
			for k := range s.Messages {
				kept = append(kept, s.Raw(&s.Messages[k]))
			}
		}
		if list := without(known, w, kept); len(list) > 0 {
			bodies = append(bodies, slices.Concat([]byte(`{"`+hold.ListKey(s.Format)+`":[`), bytes.Join(list, []byte(",")), []byte("]}")))
		}
	}
	if len(bodies) == 0 {
		return req, s, nil
	}
	f, err := hold.FormatNamed(s.Format)
	if err != nil {
		return nil, nil, err
	}
	with := new(*req)
	with.Data = chat.Windows(bodies, req.Data)
	d, err := f.Decode(req.Name, with.Data)
	if err != nil {
		return nil, nil, err
	}
	d.ID = s.ID
	return with, d, nil
}

// without returns the bytes of messages, without the messages whose bytes are in kept. An element
// of kept removes one message, the last with these bytes. System text is left out too, because it
// belongs to every window.
func without(s *transcript.Session, messages []transcript.Message, kept [][]byte) (list [][]byte) {
	var out [][]byte
	for i := range slices.Backward(messages) {
		raw := s.Raw(&messages[i])
		if at := slices.IndexFunc(kept, func(k []byte) bool { return bytes.Equal(k, raw) }); at >= 0 {
			kept = slices.Delete(kept, at, at+1)
			continue
		}
		if bytes.HasPrefix(raw, []byte("{")) { // one item, or several separated by commas
			out = append(out, raw)
		}
	}
	slices.Reverse(out)
	return out
}
