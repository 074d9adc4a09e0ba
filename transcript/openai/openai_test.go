package openai

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
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
