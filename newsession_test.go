package carrel_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/internal/test/stores"
)

// An export begins a new session only where there are sessions, and only with an id
// that is one, and is not taken.
func TestExportAsNewSession(t *testing.T) {
	const id = "0b5f2c1e-7d7a-4c3b-9e0f-5a6b7c8d9e0f"
	e := newEngine(t, stores.New(t))
	in := load(t, e, demo.Session())
	for _, tt := range []struct {
		name string
		req  carrel.ExportRequest
		want error
	}{
		{"its own format", carrel.ExportRequest{As: id}, nil},
		{"the same again", carrel.ExportRequest{As: id, To: "claudecode"}, nil},
		{"another format", carrel.ExportRequest{As: id, To: "anthropic"}, carrel.ErrRequest},
		{"no UUID", carrel.ExportRequest{As: "next"}, carrel.ErrRequest},
		{"its own id", carrel.ExportRequest{As: in.Session}, carrel.ErrRequest},
	} {
		req := tt.req
		req.Session = in.Session
		out, err := e.Export(t.Context(), scope, &req)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if tt.want == nil && (out.Session != id || out.Intact || !bytes.Contains(out.Data, []byte(id)) || bytes.Contains(out.Data, []byte(in.Session))) {
			t.Errorf("%s: session %s, intact %v, want %s alone", tt.name, out.Session, out.Intact, id)
		}
	}
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 6000}}); err != nil {
		t.Fatal(err)
	}
	out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, As: id})
	if err != nil || out.Session != id || !bytes.Contains(out.Data, []byte("[carrel ")) {
		t.Errorf("session %s, %v, want the window of the compressed one", out.Session, err)
	}
}
