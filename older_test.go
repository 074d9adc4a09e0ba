package carrel_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// olderStore opens the store in testdata/older, which a build wrote that knew blocks by
// their places and had no earlier windows. It has the session of newDiary, imported
// before and after a compaction, and the same after it alone, as session 5e551022.
func olderStore(t *testing.T) *bench {
	t.Helper()
	packed, err := os.Open("testdata/older/compacted.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "older.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems, err := s.Check(context.WithoutCancel(t.Context())); err != nil || len(problems) > 0 {
			t.Errorf("check: %v, %v", problems, err)
		}
		_ = s.Close()
	})
	return newBench(t, s, carrel.Options{})
}

// A session of an older store is open as it was. What the client had compacted is there
// once it is imported again, under the ids that the store had for it, with its pins.
func TestAnOlderStoreGainsWhatWasCompacted(t *testing.T) {
	d := newDiary()
	d.compacts("The user wants the beam test fixed.")
	d.asks("Go on.")
	d.runs("make build", "built lamp 1.4.2\n", false)
	d.says("The change is not committed yet.")
	const followed, once = transcript.SessionID("5e551011-0000-4000-8000-000000000000"), transcript.SessionID("5e551022-0000-4000-8000-000000000000")
	for _, tt := range []struct {
		id      transcript.SessionID
		pinned  string
		earlier []string // that the store has; of the other session it has none
		now     []string
	}{
		{
			followed, "7038c11ff1d1d86d",
			[]string{"0de42be5706d7103", "25b3383cbcb536a0", "7038c11ff1d1d86d", "39319e99b118bd6b", "3073be93bb294c16", "3b650466f6f6218d"},
			[]string{"b9b0ceb1fc89d7b4", "e6c5141a54fd52f7", "ae6abba71c996fbd", "1976e82c7368bdf8"},
		},
		{once, "5340c2546da937c8", nil, []string{"2e569e8874745c2e", "5340c2546da937c8", "5ff91e6072055d61", "755f75db9fd2afbc"}},
	} {
		t.Run(string(tt.id[:8]), func(t *testing.T) {
			b := olderStore(t)
			file := []byte(strings.ReplaceAll(string(d.file()), string(followed), string(tt.id)))
			ids := func(blocks []carrel.BlockInfo) []string {
				var list []string
				for _, info := range blocks {
					list = append(list, string(info.ID))
					if info.Pinned != (string(info.ID) == tt.pinned) {
						t.Errorf("block %s: pinned %t", info.ID, info.Pinned)
					}
					got, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(info.ID)})
					if err != nil || len(got.Data) == 0 || !bytes.Contains(file, got.Data) {
						t.Errorf("recall of %s: %v", info.ID, err)
					}
				}
				return list
			}
			earlier, now := blocksOf(t, b, tt.id)
			if diff := cmp.Diff(tt.now, ids(now)); diff != "" || len(earlier) != 0 && tt.earlier == nil {
				t.Errorf("before: %d earlier blocks (-want +got):\n%s", len(earlier), diff)
			}
			short := &carrel.ImportRequest{Name: "s.jsonl", Data: bytes.Join(bytes.SplitAfter(file, []byte("\n"))[:5], nil)}
			if _, err := b.Import(t.Context(), scope, short); !errors.Is(err, carrel.ErrShorter) {
				t.Errorf("a shorter copy: %v", err)
			}
			for again := range 2 {
				in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s.jsonl", Data: file})
				if err != nil || in.Changed != (again == 0) || in.Earlier != 6 {
					t.Fatalf("import %d: %+v, %v", again+1, in, err)
				}
			}
			earlier, now = blocksOf(t, b, tt.id)
			if diff := cmp.Diff(tt.now, ids(now)); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
			if got := ids(earlier); len(got) != 6 || tt.earlier != nil && !cmp.Equal(tt.earlier, got) {
				t.Errorf("earlier blocks are %v, want %v", got, tt.earlier)
			}
			if out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: tt.id, Whole: true}); err != nil || !bytes.Equal(out.Data, file) {
				t.Errorf("the file is not what was imported: %v", err)
			}
		})
	}
}
