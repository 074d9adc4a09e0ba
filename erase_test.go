package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// A word that is in everything that was said in a session, and nowhere else.
const spoken = "zanzibar"

// talk returns a conversation of n turns with a word in every message.
func talk(word string, from, n int) []json.RawMessage {
	var list []json.RawMessage
	for i := from; i < from+n; i++ {
		for _, role := range []string{"user", "assistant"} {
			text := fmt.Sprintf("The %s of turn %d: we decided to use %s-%d in src/%s_%d.go. %s", role, i, word, i, word, i, strings.Repeat(word+" goes on and on. ", 40))
			m, err := json.Marshal(map[string]string{"role": role, "content": text})
			if err != nil {
				panic(err)
			}
			list = append(list, m)
		}
	}
	return list
}

// A lived session was written, compressed, contracted, assembled and handed over.
type lived struct {
	*bench
	id       transcript.SessionID
	file     []byte
	block    transcript.BlockID
	manifest string
	memory   store.ArtifactID
	next     transcript.SessionID // began with a packet of it
}

func live(t *testing.T, b *bench, id transcript.SessionID, word string) *lived {
	t.Helper()
	l := &lived{bench: b, id: id}
	for i := range 3 {
		if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: id, Messages: talk(word, 10*i, 10)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []carrel.Strategy{carrel.StrategyImportance, carrel.StrategyAnchored} {
		if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 4000}, Strategy: s}); err != nil {
			t.Fatal(s, err)
		}
	}
	if _, err := b.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id}); err != nil { // so that there are stubs that nothing refers to
		t.Fatal(err)
	}
	_, err := b.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: id, Init: true, Decisions: []string{"keep-" + word}})
	if err != nil {
		t.Fatal(err)
	}
	r := b.assemble(t, &carrel.AssembleRequest{Query: "what goes on?", Session: id, Budget: 60_000, Format: "text"})
	if !bytes.Contains(r.Data, []byte(word)) {
		t.Fatalf("the context has nothing of the session: %.300s", r.Data)
	}
	l.manifest = r.Manifest
	l.memory = b.commit(t, r.Manifest, "The place is called "+word+" by everybody.", 0.9).Artifact.ID
	packet, err := b.Handoff(t.Context(), scope, &carrel.HandoffRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	next, err := b.Accept(t.Context(), scope, &carrel.AcceptRequest{Name: "packet.md", Data: []byte(packet.Packet.Markdown())})
	if err != nil {
		t.Fatal(err)
	}
	l.next = next.Session
	more := []json.RawMessage{json.RawMessage(`{"role":"user","content":"Go on with the ` + word + `."}`)} // what a session is for
	if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: l.next, Messages: more}); err != nil {
		t.Fatal(err)
	}
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	l.block = list.Messages[2].ID
	out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	l.file = out.Data
	return l
}

// words returns in which files of a database a word is, after it was closed.
func words(t *testing.T, path, word string) (found []string) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(data), []byte(word)); n > 0 {
			found = append(found, fmt.Sprintf("%d times in %s", n, filepath.Base(name)))
		}
	}
	return found
}

func onSQLite(t *testing.T, path string) (*bench, func()) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, s, carrel.Options{}), func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A purge lists the contexts of a session and of those that began with its packets, newest first.
func TestPurgeListsContextsByAge(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	l := live(t, b, "s", spoken)
	want := []string{l.manifest}
	for _, id := range []transcript.SessionID{l.next, "s", l.next} {
		r := b.assemble(t, &carrel.AssembleRequest{Query: "what goes on?", Session: id, Budget: 60_000, Format: "text"})
		want = append([]string{r.Manifest}, want...)
	}
	res, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
	if err != nil || !slices.Equal(res.Manifests, want) {
		t.Errorf("%v, %v, want %v", res.Manifests, err, want)
	}
}

// After a purge nothing that was said is in any byte of the database, wherever it was
// before; other sessions are as they were; and everybody who asks is told.
func TestPurgedSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "carrel.db")
	b, end := onSQLite(t, path)
	other := live(t, b, "other", "kilimanjaro")
	l := live(t, b, "s", spoken)
	before, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(other.block)})
	if err != nil {
		t.Fatal(err)
	}
	end()
	if found := words(t, path, spoken); len(found) == 0 {
		t.Fatal("the word is nowhere: the test looks in the wrong place")
	}
	b, end = onSQLite(t, path)
	res, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != store.StatusPurged || res.Op == "" || res.Cells == 0 || !slices.Contains(res.Manifests, l.manifest) ||
		!slices.Contains(res.Memories, l.memory) || !slices.Equal(res.Derived, []transcript.SessionID{l.next}) {
		t.Errorf("purged %+v", res)
	}
	end()
	if found := words(t, path, spoken); len(found) > 0 {
		t.Errorf("after the purge the word is %q", found)
	}

	b, end = onSQLite(t, path)
	defer end()
	if problems, err := b.store.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("problems %q, %v", problems, err)
	}
	for name, job := range map[string]func() error{
		"recall": func() error {
			_, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(l.block)})
			return err
		},
		"messages": func() error {
			_, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: "s"})
			return err
		},
		"contract": func() error {
			_, err := b.Contract(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"session": func() error {
			_, err := b.Session(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"summary": func() error {
			_, err := b.Summary(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"why": func() error {
			_, err := b.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(l.block)})
			return err
		},
		"export": func() error { _, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: "s"}); return err },
		"append": func() error {
			_, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: talk("x", 0, 1)})
			return err
		},
		"mark": func() error { _, err := b.Mark(t.Context(), scope, &carrel.MarkRequest{Session: "s"}); return err },
		"restore": func() error {
			_, err := b.RestoreSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"remove": func() error {
			_, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"purge": func() error {
			_, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"memory": func() error {
			_, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(l.memory)})
			return err
		},
		"replay": func() error { _, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: l.manifest}); return err },
	} {
		if err := job(); !errors.Is(err, carrel.ErrGone) {
			t.Errorf("%s: %v, want %v", name, err, carrel.ErrGone)
		}
	}
	if v, err := b.VerifyManifest(t.Context(), scope, &carrel.IDRequest{ID: l.manifest}); err != nil || v.Erased == 0 {
		t.Errorf("the manifest: %+v, %v", v, err)
	}
	if found, err := carrel.Items(b.Search(t.Context(), scope, &carrel.SearchRequest{Query: spoken + " turn"})); err != nil || slices.ContainsFunc(found, func(f carrel.Found) bool { return f.Session == "s" }) {
		t.Errorf("found %+v, %v", found, err)
	}
	after, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(other.block)})
	if err != nil || !bytes.Equal(after.Data, before.Data) {
		t.Errorf("a block of another session: %v", err)
	}
	if _, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: other.manifest}); err != nil {
		t.Errorf("a context of another session: %v", err)
	}
	journal, err := carrel.Items(b.Journal(t.Context(), scope, &carrel.JournalRequest{Session: "s"}))
	if err != nil || journal[len(journal)-1].Op != "purge" || journal[len(journal)-1].ID != res.Op {
		t.Errorf("the receipt is not in the journal: %v", err)
	}
}

// The file of a session that was purged is taken in again only by who says so, and what
// was purged stays so.
func TestImportOfWhatWasPurged(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	data, err := json.Marshal(map[string]any{"messages": talk(spoken, 0, 3)})
	if err != nil {
		t.Fatal(err)
	}
	req := &carrel.ImportRequest{Name: "talk.json", Data: data}
	in, err := b.Import(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	old, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Import(t.Context(), scope, req); !errors.Is(err, carrel.ErrGone) || !strings.HasSuffix(err.Error(), "was purged") {
		t.Errorf("import: %v", err)
	}
	anew := *req
	anew.Anew = true
	again, err := b.Import(t.Context(), scope, &anew)
	if err != nil || again.Session != in.Session || again.Added != in.Blocks {
		t.Fatalf("import anew: %+v, %v", again, err)
	}
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil || len(list.Messages) != len(old.Messages) || list.Status != "" || list.Title == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	for i := range list.Messages {
		if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(list.Messages[i].ID)}); err != nil {
			t.Errorf("recall of a block: %v", err)
		}
		if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(old.Messages[i].ID)}); !errors.Is(err, carrel.ErrGone) {
			t.Errorf("recall of a block that was purged: %v", err)
		}
	}
	if res, err := b.Import(t.Context(), scope, req); err != nil || res.Changed {
		t.Errorf("import of the same again: %+v, %v", res, err)
	}
	out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil || !bytes.Equal(out.Data, data) {
		t.Errorf("export: %v", err)
	}
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
		t.Errorf("purge again: %v", err)
	}
}

// A session that was removed is nowhere, until it is restored as it was.
func TestRemovedSession(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	live(t, b, "older", "kilimanjaro")
	l := live(t, b, "s", spoken)
	b.turn(func() { b.now = b.now.Add(time.Second) })
	if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: talk(spoken, 40, 1)}); err != nil {
		t.Fatal(err)
	}
	list := func() []transcript.SessionID {
		t.Helper()
		infos, err := carrel.Items(b.Sessions(t.Context(), scope, &carrel.SessionsRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		var ids []transcript.SessionID
		for i := range infos {
			ids = append(ids, infos[i].Session)
		}
		return ids
	}
	before, beforeMessages := list(), func() *carrel.MessagesResult {
		r, _ := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: "s"})
		return r
	}()
	if last, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "@last"}); err != nil || last.Session != "s" {
		t.Fatal(last.Session, err)
	}
	if _, err := b.RestoreSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("restore of what was not removed: %v", err)
	}
	res, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
	if err != nil || res.Status != store.StatusTombstoned {
		t.Fatal(res, err)
	}
	if ids := list(); slices.Contains(ids, "s") || len(ids) != len(before)-1 {
		t.Errorf("listed: %q", ids)
	}
	removed, err := carrel.Items(b.RemovedSessions(t.Context(), scope, &carrel.None{}))
	if err != nil || len(removed) != 1 || removed[0].Session != "s" || removed[0].Title == "" || removed[0].Status != store.StatusTombstoned {
		t.Errorf("removed: %+v, %v", removed, err)
	}
	if last, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "@last"}); err != nil || last.Session == "s" {
		t.Errorf("@last is %s, %v", last.Session, err)
	}
	for name, job := range map[string]func() error{
		"recall": func() error {
			_, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(l.block)})
			return err
		},
		"messages": func() error {
			_, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: "s"})
			return err
		},
		"contract": func() error {
			_, err := b.Contract(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
		"append": func() error {
			_, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: talk("x", 0, 1)})
			return err
		},
		"remove again": func() error {
			_, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
			return err
		},
	} {
		if err := job(); !errors.Is(err, carrel.ErrPolicy) {
			t.Errorf("%s: %v, want %v", name, err, carrel.ErrPolicy)
		}
	}
	if found, err := carrel.Items(b.Search(t.Context(), scope, &carrel.SearchRequest{Query: "goes on turn", Limit: 100})); err != nil || slices.ContainsFunc(found, func(f carrel.Found) bool { return f.Session == "s" }) {
		t.Errorf("found %d, %v", len(found), err)
	}
	if _, err := b.RestoreSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if ids := list(); !slices.Equal(ids, before) {
		t.Errorf("listed: %q, want %q", ids, before)
	}
	after, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	after.Revision = beforeMessages.Revision
	if got, want := fmt.Sprintf("%+v", after), fmt.Sprintf("%+v", beforeMessages); got != want {
		t.Errorf("restored: %s, want %s", got, want)
	}
}

// Who inherited from the contract of a session that is purged is named.
func TestHeirsOfAPurgedSession(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	live(t, b, "s", spoken)
	if _, err := b.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: "heir", Init: true, Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	res, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
	if err != nil || !slices.Equal(res.Heirs, []transcript.SessionID{"heir"}) {
		t.Errorf("purged %+v, %v", res, err)
	}
	if _, err := b.Contract(t.Context(), scope, &carrel.SessionRequest{Session: "heir"}); err != nil {
		t.Error(err)
	}
}
