package carrel_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// A store that an earlier build wrote opens, and gives back all that the build gave back: the
// bytes, states and pins of blocks, contracts, journals, artifacts and contexts. See
// testdata/earlier/make.sh.
func TestEarlierStore(t *testing.T) {
	s, err := sqlite.Open(t.Context(), earlierStore(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	checkEarlier(t, s)
}

// checkEarlier checks that a store gives back all that the build that wrote the store of
// testdata/earlier gave back.
func checkEarlier(t *testing.T, s store.Store) {
	t.Helper()
	made := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	e, err := carrel.New(s, &carrel.Options{Now: func() time.Time { return made }})
	if err != nil {
		t.Fatal(err)
	}
	expected, err := os.Open("testdata/earlier/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer expected.Close()
	checked := 0
	for lines := bufio.NewScanner(expected); lines.Scan(); checked++ {
		words := strings.Fields(lines.Text())
		got, err := earlier(t, e, words)
		if err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		} else if diff := cmp.Diff(words[2:], got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", lines.Text(), diff)
		}
	}
	if checked == 0 {
		t.Error("nothing was checked")
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check = %q, %v, want no problem", problems, err)
	}
}

// earlierStore returns the path of a copy of the store that an earlier build wrote.
func earlierStore(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("testdata/earlier/store.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "carrel.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// earlier returns what the engine says of the thing that the first two words of a line of
// expected.txt name, in the words of the rest of the line.
func earlier(t *testing.T, e *carrel.Engine, line []string) ([]string, error) {
	const scope = governance.DefaultScope
	sum := func(data []byte) string { return strings.TrimPrefix(digest.Of(data).String(), "sha256:") }
	switch kind, id := line[0], line[1]; kind {
	case "block":
		r, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: line[2]})
		if err != nil {
			return nil, err
		}
		messages, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: transcript.SessionID(id)})
		if err != nil {
			return nil, err
		}
		pin := "free"
		for _, m := range messages.Messages {
			if m.ID == r.Block && m.Pinned {
				pin = "pinned"
			}
		}
		return []string{string(r.Block), string(r.State), pin, sum(r.Data)}, nil
	case "contract":
		statements, err := e.Contract(t.Context(), scope, &carrel.SessionRequest{Session: transcript.SessionID(id)})
		return []string{sum([]byte(strings.Join(statements.Statements, "\n") + "\n"))}, err
	case "entry":
		entries, err := carrel.Items(e.Journal(t.Context(), scope, &carrel.JournalRequest{Session: transcript.SessionID(id)}))
		for _, entry := range entries {
			if fmt.Sprint(entry.Revision) == line[2] {
				return []string{line[2], entry.Op, entry.ID}, err
			}
		}
		return nil, err
	case "artifact":
		r, err := e.Get(t.Context(), scope, &carrel.GetRequest{ID: id})
		if err != nil {
			return nil, err
		}
		return []string{sum(r.Content)}, nil
	case "context":
		data, err := e.Replay(t.Context(), scope, &carrel.IDRequest{ID: id})
		return []string{sum(data.Data)}, err
	default:
		return nil, fmt.Errorf("nothing is called %q", kind)
	}
}
