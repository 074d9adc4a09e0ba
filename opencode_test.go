package carrel_test

import (
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/opencode"
)

// A session of OpenCode is compressed by every strategy, and what it is exported as passes the
// judge of requests.
func TestOpenCode(t *testing.T) {
	const id, again = "ses_df67b5c32ffef79giXaOrGD9lw", "ses_df67b5c32ffeAgainAgain00000"
	w := transcript.Whole(decoded(t, "openai", fakesession.Chat(12, 3)))
	w.As = id
	enc, err := opencode.Format.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range carrel.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			e, _ := summarizing(t, carrel.Options{Strategy: strategy})
			in := load(t, e, enc.Data)
			res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens * 7 / 10}, ProbeMin: anything()})
			if err != nil || res.Changed == 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			if in.Format != "opencode" || in.Session != id {
				t.Errorf("imported as %+v", in)
			}
			for _, to := range []string{"opencode", "responses", "openai", "anthropic", "claudecode"} {
				out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: to})
				if err != nil {
					t.Fatal(err)
				}
				if to == "opencode" {
					continue
				}
				if r := upstream.Judge("opencode", enc.Data, to, out.Data); r != nil {
					t.Errorf("%s: %v\n%s", to, r, out.Data)
				}
			}
			out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, As: again})
			if err != nil {
				t.Fatal(err)
			}
			_, found, err := carrel.Validate("opencode", out.Data)
			if s := decoded(t, "opencode", out.Data); err != nil || len(found) > 0 || s.ID != again || len(out.Data) >= len(enc.Data) {
				t.Errorf("session %s of %d bytes, from one of %d: %v, %v", s.ID, len(out.Data), len(enc.Data), found, err)
			}
		})
	}
}
