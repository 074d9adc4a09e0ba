package mcp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

type recalled struct {
	ID             string
	Size, From, To int
	Next           int
	SHA256         string
	Text           *string
	Base64         string
}

// data returns the bytes of an answer, and checks that its texts say the same.
func (r *recalled) data(t rapid.TB, answer *result) []byte {
	if r.Text != nil {
		if answer.text[0] != *r.Text || len(answer.text) != 2 || r.Base64 != "" {
			t.Fatalf("%d texts, of which the first is not the bytes", len(answer.text))
		}
		return []byte(*r.Text)
	}
	data, err := base64.StdEncoding.DecodeString(r.Base64)
	if err != nil || !strings.Contains(answer.text[0], "not text") {
		t.Fatalf("base64: %v; text %q", err, answer.text)
	}
	return data
}

// Whatever is stored, and in pieces of whatever size, the pieces are the whole, byte
// for byte, one after the other.
func TestRecallInPiecesIsTheOriginal(t *testing.T) {
	e := newEngine(t, stores.New(t))
	c := connect(t, mcp.New(whole(e), nil), nil)
	rapid.Check(t, func(rt *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "ä", "€", "𝄞", "\x00", "\n", "<&>", "\u2028", "\xff", "\xe2\x82", "\ufffd"})
		content := strings.Join(rapid.SliceOfN(unit, 1, 60).Draw(rt, "units"), "")
		content = strings.Repeat(content, rapid.IntRange(1, 800).Draw(rt, "times"))
		step := rapid.SampledFrom([]int{0, 1 << 20, len(content)/5 + 5}).Draw(rt, "step")
		arts, err := carrel.Items(e.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: []byte(content)}}}))
		if err != nil {
			rt.Skip(err) // what is no content at all
		}
		var got []byte
		for from, calls := 0, 0; ; calls++ {
			args := m{"id": arts[0].ID, "from": from}
			if step > 0 {
				args["to"] = min(from+step, len(content))
			}
			var r recalled
			answer := done(t, c, "recall", args, &r)
			data := r.data(rt, answer)
			if r.From != from || r.To != from+len(data) || r.Size != len(content) || len(data) == 0 || calls > 100 {
				rt.Fatalf("call %d: %+v with %d bytes, asked from %d", calls, r, len(data), from)
			}
			if sum := sha256.Sum256([]byte(content)); r.SHA256 != hex.EncodeToString(sum[:]) {
				rt.Fatalf("sha256 %s", r.SHA256)
			}
			if r.Text == nil && utf8.ValidString(content) {
				rt.Fatalf("text comes as base64, cut within a character at %d or %d", r.From, r.To)
			}
			got = append(got, data...)
			if r.Next == 0 {
				break
			}
			from = r.Next
		}
		if string(got) != content {
			rt.Fatalf("%d bytes are not the %d that were stored", len(got), len(content))
		}
	})
}

func TestRecallOfALongOriginal(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("0123456789abcde\n", 12_500) // 200,000 bytes
	st, err := d.engine.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(long)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		args     m
		from, to int
		note     string
	}{
		{"by default 16,384 bytes", m{}, 0, 16384, "bytes 0–16384 of 200000, next: from=16384]"},
		{"on from there", m{"from": 16384}, 16384, 32768, "bytes 16384–32768 of 200000, next: from=32768]"},
		{"to the end", m{"from": 199_990}, 199_990, 200_000, "bytes 199990–200000 of 200000, the end]"},
		{"a range", m{"from": 100, "to": 200}, 100, 200, "bytes 100–200 of 200000, next: from=200]"},
		{"at most 32,768 bytes", m{"to": 200_000}, 0, 32_768, "bytes 0–32768 of 200000, next: from=32768]"},
		{"the very end", m{"from": 200_000}, 200_000, 200_000, "bytes 200000–200000 of 200000, the end]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["id"] = st.ID
			r := done(t, d.ClientSession, "recall", tt.args, nil)
			if r.text[0] != long[tt.from:tt.to] || r.text[1] != "["+string(st.ID)+": "+tt.note {
				t.Errorf("%d bytes and %q", len(r.text[0]), r.text[1])
			}
		})
	}
	for _, args := range []m{{"from": -1}, {"from": 200_001}, {"to": 200_001}, {"from": 9, "to": 8}, {"from": 1e30}, {"from": "x"}, {"from": 1.5}} {
		args["id"] = st.ID
		if _, p := refused(t, d.ClientSession, "recall", args); p.Type != "carrel:problem/usage" {
			t.Errorf("%v: %+v", args, p)
		}
	}
}

// A block is recalled by what a stub has of its id, as it came in or as what it says,
// and a summary by its own.
func TestRecallOfBlocksAndSummaries(t *testing.T) {
	d := newDesk(t)
	read := messages(t, d.ClientSession).reads()[0]
	if r := done(t, d.ClientSession, "recall", m{"id": read, "session": "@last"}, nil); !strings.HasPrefix(r.text[0], `{"content":null,"role":"assistant"`) {
		t.Errorf("as it came in: %.80q", r.text[0])
	}
	if r := done(t, d.ClientSession, "recall", m{"id": "block-" + read, "text": true}, nil); !strings.Contains(r.text[0], "part 0 wire0\npart 0 wire0\n") {
		t.Errorf("what it says: %.80q", r.text[0])
	}
	if r := call(t, d.ClientSession, "compress", m{"target": 2000, "strategy": "anchored"}); r.isError {
		t.Fatal(r.text)
	}
	sum, err := d.engine.Summary(t.Context(), scope, &carrel.SessionRequest{Session: d.session})
	if err != nil {
		t.Fatal(err)
	}
	if r := done(t, d.ClientSession, "recall", m{"id": sum.ID}, nil); r.text[0] != sum.Summary.Markdown() {
		t.Errorf("the summary: %q", r.text[0])
	}
	load(t, d.engine, scope, "other.json", (&chat{}).say("user", "Another thing.").bytes(t))
	if _, p := refused(t, d.ClientSession, "recall", m{"id": read, "session": "@last"}); p.Type != "carrel:problem/not-found" {
		t.Errorf("a block of another session: %+v", p)
	}
}

// What is no text is said to be none, and comes as base64.
func TestRecallOfWhatIsNoText(t *testing.T) {
	d := newDesk(t)
	const content = "\xff\xfe\x00lamp"
	arts, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: []byte(content)}}}))
	if err != nil {
		t.Fatal(err)
	}
	var r recalled
	answer := done(t, d.ClientSession, "recall", m{"id": arts[0].ID}, &r)
	if r.Text != nil || string(r.data(t, answer)) != content {
		t.Errorf("recalled %+v, %q", r, answer.text)
	}
}
