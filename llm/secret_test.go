package llm

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// A canary goes through every way out that the standard library has.
func TestSecretIsNeverShown(t *testing.T) {
	const canary = "canary-in-a-mine"
	type options struct {
		Key    Secret
		hidden Secret
		Keys   []Secret
		ByName map[string]Secret
		Ref    *Secret
	}
	s := NewSecret(canary)
	values := []any{s, &s, options{s, s, []Secret{s}, map[string]Secret{"a": s}, &s}, []any{s}, struct{ s any }{s}, struct{ o options }{options{hidden: s}}}
	var out bytes.Buffer
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%10.3s", "%!"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, errors.New(fmt.Sprint(v)), fmt.Errorf("%v", v))
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("message", "key", v)
		}
		if b, err := json.Marshal(v); err != nil {
			t.Error(err)
		} else {
			out.Write(b)
		}
		_ = xml.NewEncoder(&out).Encode(v) // what it cannot encode, it does not show
		_ = gob.NewEncoder(&out).Encode(v)
		func() {
			defer func() { fmt.Fprintln(&out, recover()) }()
			panic(v)
		}()
	}
	if i := strings.Index(out.String(), canary); i >= 0 {
		t.Errorf("shown: …%s", out.String()[max(0, i-80):i+len(canary)])
	}
	if hex := fmt.Sprintf("%x", canary); strings.Contains(strings.ToLower(out.String()), hex) {
		t.Error("shown in hexadecimal")
	}
	if got := strings.Count(out.String(), "[secret]"); got < 50 {
		t.Errorf("masked %d times, want 50 or more", got)
	}
	if s.Reveal() != canary || s.IsZero() {
		t.Error("the text is gone")
	}
}

func TestNoSecret(t *testing.T) {
	for _, s := range []Secret{{}, NewSecret("")} {
		if !s.IsZero() || s.Reveal() != "" {
			t.Errorf("zero is %t and the text %q", s.IsZero(), s.Reveal())
		}
	}
}
