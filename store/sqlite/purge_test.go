package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// remains returns those of the words that are in any file of a database. Another process copies the
// files first: closing one of them here would release the POSIX locks of this process.
func remains(t *testing.T, path string, words []string) (found []string) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil || len(names) == 0 {
		t.Fatalf("files of the database: %q, %v", names, err)
	}
	for _, name := range names {
		data, err := output(t, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if bytes.Contains(data, []byte(word)) {
				found = append(found, word+" in "+filepath.Base(name))
			}
		}
	}
	return found
}

// secret returns a word that occurs nowhere else.
func secret(n int) string { return fmt.Sprintf("canary%08dyranac", n*7919) }

// addSecret adds an artifact with a secret in its content, in its cell about, and in the index.
func addSecret(u *store.Update, n, size int) {
	cell := func(suffix string, kind store.CellKind) store.CellID {
		id := fmt.Sprintf("%06d%s", n, suffix)
		c := store.Cell{ID: store.CellID(id), Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte(strings.Repeat(secret(n)+" ", size))}
		c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
		u.Cells = append(u.Cells, c)
		return c.ID
	}
	id := store.ArtifactID(fmt.Sprintf("a%06d", n))
	u.Artifacts = append(u.Artifacts, store.Write{Artifact: store.Artifact{
		ID: id, Class: provenance.Memory, Status: store.StatusLive,
		Content: cell("text", store.CellText), About: cell("about", store.CellAbout),
	}})
	u.Index = append(u.Index, store.ArtifactText{Artifact: id, Text: "a common word and " + secret(n)})
}

func purgeOf(n int) *store.Update {
	return &store.Update{
		Entry: store.Entry{ID: fmt.Sprintf("purge%d", n), Op: "purge", Actor: governance.ActorUser, Time: epoch},
		Purge: []store.CellID{store.CellID(fmt.Sprintf("%06dtext", n)), store.CellID(fmt.Sprintf("%06dabout", n))},
	}
}

// When Update returns, the purged text is in none of the files, wherever its cells were in them.
func TestPurgeLeavesNothingInTheFiles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	rng := rand.New(rand.NewPCG(3, 4))
	many, each := 25, 3
	if raceDetector {
		many = 6
	}
	var present []string
	for n := range many {
		u := &store.Update{Entry: store.Entry{ID: fmt.Sprintf("op%d", n), Op: "put", Actor: governance.ActorUser, Time: epoch}}
		for i := range each {
			addSecret(u, n*each+i, 1+rng.IntN(4)*rng.IntN(120))
			present = append(present, secret(n*each+i))
		}
		if _, err := s.Update(t.Context(), scope, u); err != nil {
			t.Fatal(err)
		}
	}
	if found := remains(t, path, present); len(found) < len(present) {
		t.Fatalf("only %d of %d secrets are in the files before they are purged: the test looks in the wrong place", len(found), len(present))
	}
	var gone []string
	for k, n := range rng.Perm(many * each) {
		if _, err := s.Update(t.Context(), scope, purgeOf(n)); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, secret(n))
		if k%15 != 0 && k < many*each-1 {
			continue
		}
		if found := remains(t, path, gone); len(found) > 0 {
			t.Fatalf("after %d purges there are %d remains: %q", len(gone), len(found), found)
		}
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// After an erasure, no file has the lines of the contract or the words of the blocks.
func TestErasureLeavesNothingInTheFiles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	word, kept := secret(1), secret(2)
	for id, word := range map[transcript.SessionID]string{"s": word, "other": kept} {
		c := &store.Change{
			Head: store.Head{Created: epoch, Updated: epoch, Blocks: 1}, Blocks: []store.Block{{ID: transcript.BlockID(id), Turn: 1, State: store.StateLive}},
			Index:      []store.IndexEntry{{Block: transcript.BlockID(id), Words: postings.Counts(store.Words("a common word and " + word))}},
			Statements: []string{"remember " + word},
			Entry:      store.Entry{ID: "begin-" + string(id), Actor: governance.ActorUser, Time: epoch},
		}
		if _, err := s.Apply(t.Context(), scope, id, 0, c); err != nil {
			t.Fatal(err)
		}
	}
	if found := remains(t, path, []string{word, kept}); len(found) < 2 {
		t.Fatalf("before the erasure there are only %q", found)
	}
	c := &store.Change{
		Head:  store.Head{Status: store.StatusPurged, Created: epoch, Updated: epoch, Blocks: 1},
		Entry: store.Entry{ID: "erase", Actor: governance.ActorUser, Time: epoch}, Erase: true,
	}
	if _, err := s.Apply(t.Context(), scope, "s", 1, c); err != nil {
		t.Fatal(err)
	}
	if found := remains(t, path, []string{word}); len(found) > 0 {
		t.Errorf("after the erasure there remain %q", found)
	}
	if found := remains(t, path, []string{kept}); len(found) == 0 {
		t.Error("nothing is left of the other session")
	}
}

// While a reader sees an older state, a purge does not wait for long, and a later update clears the
// log.
func TestPurgeWhileSomebodyReads(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openAt(t, path)
	u := &store.Update{Entry: store.Entry{ID: "op", Op: "put", Actor: governance.ActorUser, Time: epoch}}
	addSecret(u, 1, 50)
	addSecret(u, 2, 50)
	if _, err := s.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Artifacts(t.Context(), scope, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(t.Context(), scope, purgeOf(1)); err != nil {
			t.Fatal(err)
		}
		if found := remains(t, path, []string{secret(1)}); len(found) == 0 {
			t.Error("nothing remains although it is being read: the test reads nothing")
		}
		break
	}
	if _, err := s.Update(t.Context(), scope, &store.Update{Entry: store.Entry{ID: "later", Actor: governance.ActorUser, Time: epoch}}); err != nil {
		t.Fatal(err)
	}
	if found := remains(t, path, []string{secret(1)}); len(found) > 0 {
		t.Errorf("after a later update there remain %q", found)
	}
}

// A connection caches the structure of the FTS5 index. Check does not report an outdated cache as
// damage.
func TestCheckAfterTheIndexWasRewritten(t *testing.T) {
	s := openAt(t, newPath(t))
	for n := range 20 {
		u := &store.Update{Entry: store.Entry{ID: fmt.Sprintf("op%d", n), Time: epoch}}
		addSecret(u, n, 3)
		if _, err := s.Update(t.Context(), "test", u); err != nil {
			t.Fatal(err)
		}
	}
	if hits, err := s.Hits(t.Context(), "test", []string{"common"}, 30); err != nil || len(hits) != 20 {
		t.Fatalf("hits: %v, %v", hits, err)
	}
	u := purgeOf(3)
	u.Entry.ID = "purge"
	if _, err := s.Update(t.Context(), "test", u); err != nil {
		t.Fatal(err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("problems %q, %v", problems, err)
	}
}

// For very common words only the newest artifacts are considered, but an older artifact with several
// of the words is still found.
func TestHitsOfCommonWords(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	u := &store.Update{Entry: store.Entry{ID: "op", Op: "put", Actor: governance.ActorUser, Time: epoch}}
	const many = 300 // more artifacts than are considered
	for n := range 2*many + 1 {
		addSecret(u, n, 1)
		text := "alpha"
		switch {
		case n == 0:
			text = "alpha beta"
		case n > many:
			text = "beta"
		}
		u.Index[n].Text = text
	}
	if _, err := s.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		terms []string
		limit int
		first int64
		count int
	}{
		{[]string{"alpha", "beta"}, 5, 1, 5},
		{[]string{"alpha"}, 5, many + 1, 5},
		{[]string{"beta"}, 9000, 2*many + 1, many + 1},
	} {
		hits, err := s.Hits(t.Context(), scope, tt.terms, tt.limit)
		if err != nil || len(hits) != tt.count || hits[0] != tt.first {
			t.Errorf("Hits of %q = %d, %v; want %d, first %d", tt.terms, hits, err, tt.count, tt.first)
		}
	}
}

// output returns the content of a file, read by another process.
func output(t *testing.T, name string) ([]byte, error) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := copyElsewhere(t, copied, name); err != nil {
		return nil, err
	}
	return os.ReadFile(copied)
}

const (
	copyFrom = "CARREL_COPY_FROM"
	copyTo   = "CARREL_COPY_TO"
)

// copyElsewhere copies a file in another process.
func copyElsewhere(t *testing.T, to, from string) error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestCopyChild$")
	cmd.Env = append(os.Environ(), copyFrom+"="+from, copyTo+"="+to, "GOCOVERDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// TestCopyChild is the child process of remains.
func TestCopyChild(t *testing.T) {
	from, to := os.Getenv(copyFrom), os.Getenv(copyTo)
	if from == "" {
		t.Skip("this is the child of another test")
	}
	copyFile(t, to, from)
}
