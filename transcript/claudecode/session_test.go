package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

const fresh = "0b5f2c1e-7d7a-4c3b-9e0f-5a6b7c8d9e0f"

// A window encoded as a new session has the same messages, in rows with new, unique ids
// that depend on the new session's id.
func TestEncodeAsNewSession(t *testing.T) {
	for name, data := range samples() {
		t.Run(name, func(t *testing.T) {
			s, err := format{}.Decode("x.jsonl", data)
			if err != nil {
				t.Fatal(err)
			}
			encode := func(id string) []byte {
				w := transcript.Whole(s)
				w.As = transcript.SessionID(id)
				out, err := format{}.Encode(w)
				if err != nil {
					t.Fatal(err)
				}
				if string(out.Session) != id {
					t.Errorf("session is %s, want %s", out.Session, id)
				}
				return out.Data
			}
			got := encode(fresh)
			if !bytes.Equal(got, encode(fresh)) {
				t.Error("the same id gives other bytes")
			}
			ids := chain(t, got, fresh)
			for id := range chain(t, encode(strings.Replace(fresh, "0b", "0c", 1)), strings.Replace(fresh, "0b", "0c", 1)) {
				if ids[id] {
					t.Errorf("row %s is in two sessions", id)
				}
			}
			for line := range strings.Lines(string(data)) {
				var row struct{ UUID string }
				if json.Unmarshal([]byte(line), &row) == nil && ids[row.UUID] {
					t.Errorf("row %s is in the old session, too", row.UUID)
				}
			}
			again, err := format{}.Decode("y.jsonl", got)
			if err != nil {
				t.Fatal(err)
			}
			var old []transcript.Message // messages, after the repairs that the provider's rules need
			entries, _ := transcript.Repair(transcript.Whole(s).Entries)
			for i := range entries {
				old = append(old, entries[i].Message)
			}
			if diff := cmp.Diff(words(old), words(again.Messages)); diff != "" {
				t.Errorf("the new session says something else (-old +new):\n%s", diff)
			}
		})
	}
}

// chain returns the ids of a session's rows. It checks that each id is new, and that each
// row refers only to rows before it.
func chain(t *testing.T, data []byte, session string) map[string]bool {
	t.Helper()
	ids := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		var row struct {
			UUID    string
			Parent  string `json:"parentUuid"`
			Logical string `json:"logicalParentUuid"`
			Session string `json:"sessionId"`
		}
		if json.Unmarshal([]byte(line), &row) != nil || row.UUID == "" {
			continue
		}
		if ids[row.UUID] || !text.IsUUID(row.UUID) {
			t.Errorf("%q is not a new id of a row", row.UUID)
		}
		if row.Session != session && row.Session != "" {
			t.Errorf("row %s is of session %s, want %s", row.UUID, row.Session, session)
		}
		for _, to := range []string{row.Parent, row.Logical} {
			if to != "" && !ids[to] {
				t.Errorf("row %s refers to %s, which is not before it", row.UUID, to)
			}
		}
		ids[row.UUID] = true
	}
	if len(ids) == 0 {
		t.Error("there is no row")
	}
	return ids
}

// Rows between the messages are written too, and no message changes, even if its text is
// an id.
func TestEncodeAsNewSessionKeepsTheRest(t *testing.T) {
	const rows = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"u1"},"toolUseResult":"u1","timestamp":"2026-01-01T00:00:00.000Z"}
{"type":"attachment","uuid":"t1","parentUuid":"u1","sessionId":"s","attachment":{"type":"note"}}
{"type":"assistant","uuid":"a1","parentUuid":"t1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"a1"}]},"timestamp":"2026-01-01T00:00:01.000Z"}
{"type":"file-history-snapshot","messageId":"u1","snapshot":{"messageId":"u1","at":["a1","other"]}}
no JSON
`
	s, err := format{}.Decode("x.jsonl", []byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.As = fresh
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	want := rows
	var row struct{ UUID string }
	for i, old := range []string{"u1", "t1", "a1"} {
		if err := json.Unmarshal(bytes.Split(out.Data, []byte("\n"))[i], &row); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{`"uuid":`, `"parentUuid":`, `"messageId":`, `"at":[`} {
			want = strings.ReplaceAll(want, key+`"`+old+`"`, key+`"`+row.UUID+`"`)
		}
	}
	want = strings.ReplaceAll(want, `"sessionId":"s"`, `"sessionId":"`+fresh+`"`)
	if diff := cmp.Diff(want, string(out.Data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Rows with one id get one new id, which no other row has.
func TestRowsWithTheSameID(t *testing.T) {
	s := &transcript.Session{}
	for _, id := range []string{"a", "a", "b"} {
		s.Items = append(s.Items, transcript.Item{Raw: []byte(`{"uuid":"` + id + `"}` + "\n")})
	}
	if got := strings.Split(string(renew(s, fresh)), "\n"); got[0] != got[1] || got[1] == got[2] || got[0] == `{"uuid":"a"}` {
		t.Errorf("the rows a, a and b are %q", got)
	}
}

func TestIsSessionID(t *testing.T) {
	for id, want := range map[string]bool{
		fresh:                               true,
		strings.ToUpper(fresh):              false, // file systems may ignore the case of names
		"":                                  false,
		fresh[1:]:                           false,
		fresh + "0":                         false,
		strings.Replace(fresh, "-", "0", 1): false,
		strings.Replace(fresh, "0", "-", 1): false,
		strings.Replace(fresh, "0", "g", 1): false,
		strings.Replace(fresh, "0", "/", 1): false,
		strings.Replace(fresh, "0", ":", 1): false,
		strings.Replace(fresh, "b", "`", 1): false,
	} {
		if got := (format{}).IsSessionID(transcript.SessionID(id)); got != want {
			t.Errorf("IsSessionID(%q) = %v, want %v", id, got, want)
		}
	}
}
