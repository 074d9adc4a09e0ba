package anthropic

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// samples returns the conversations in testdata, and one with CRLF.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := make(map[string][]byte)
	names, err := filepath.Glob("testdata/*.json")
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = data
	}
	all["crlf"] = bytes.ReplaceAll(all["tools"], []byte("\n"), []byte("\r\n"))
	return all
}

func TestFormat(t *testing.T) { formattest.Run(t, Format{}, samples(t)) }

func TestFromOpenAI(t *testing.T) {
	names, err := filepath.Glob("../openai/testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			formattest.RunCross(t, openai.Format{}, Format{}, data)
		})
	}
}

func TestToOpenAI(t *testing.T) {
	for name, data := range samples(t) {
		t.Run(name, func(t *testing.T) { formattest.RunCross(t, Format{}, openai.Format{}, data) })
	}
}

func FuzzDecode(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Format{}.Decode("x", data)
		if err != nil {
			return
		}
		if diff := cmp.Diff(string(data), string(s.Bytes())); diff != "" {
			t.Fatal(diff)
		}
		w := transcript.Whole(s)
		w.Entries = append(w.Entries, transcript.Stub("", "more"))
		enc, err := Format{}.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Format{}).Validate(enc.Data); err != nil {
			t.Fatal(err)
		}
	})
}
