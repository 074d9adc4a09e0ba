package chat

import (
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A Head holds the fields of a body other than its messages.
type Head struct {
	Model string
	Tools rawjson.Span
	Lossy int // offset after the first text that is not valid Unicode, or 0
}

// Note records in h the offset of r if r has read a text that is not valid Unicode.
func (h *Head) Note(r *rawjson.Reader) {
	if h.Lossy == 0 && r.Lossy() {
		h.Lossy = r.Position()
	}
}

// Session returns a new session of a format, with the tools, model and warnings of the head.
func (h *Head) Session(format string, data []byte) *transcript.Session {
	s := &transcript.Session{Format: format, Model: h.Model}
	if h.Tools.End > 0 {
		s.Tools = h.Tools.Of(data)
	}
	if h.Lossy > 0 {
		s.Warnings = append(s.Warnings, transcript.Warning{
			Line: transcript.LineOf(data, h.Lossy),
			Text: "a text is not valid Unicode (kept as it is, read with U+FFFD)",
		})
	}
	return s
}

// Roles lists the roles that a format's messages may have. Hint is the hint of an error about a
// role: it names the roles to use.
type Roles struct {
	Names []string
	Hint  string
}

// Read reads a role.
func (a *Roles) Read(r *rawjson.Reader) (string, error) {
	at := r.Offset()
	role, err := r.String()
	if err != nil || slices.Contains(a.Names, role) {
		return role, err
	}
	e := r.Fail(at, "unknown role %q", role)
	e.Hint = a.Hint
	return "", e
}

// Missing returns the error of a message without a role, which begins at start.
func (a *Roles) Missing(r *rawjson.Reader, start int) error {
	e := r.Fail(start, "a message needs a role")
	e.Hint = a.Hint
	return e
}
