package carrel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
)

// Artifacts are listed newest first, and each condition leaves out what it does not fit.
func TestArtifactsAreListed(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	doc := func(id string, change func(*carrel.NewArtifact)) *carrel.NewArtifact {
		r := &carrel.NewArtifact{ID: store.ArtifactID(id), Class: provenance.Document, Content: []byte("text of " + id)}
		if change != nil {
			change(r)
		}
		return r
	}
	b.put(t,
		doc("plain", nil),
		doc("short", func(r *carrel.NewArtifact) { r.TTL = new(time.Second) }),
		doc("later", func(r *carrel.NewArtifact) { r.TTL = new(time.Hour); r.Subject = "ports" }),
		doc("fetched", func(r *carrel.NewArtifact) { r.Source = "func:policy"; r.Subject = "ports" }),
		doc("vouched", func(r *carrel.NewArtifact) { r.Class, r.VerifiedBy = provenance.Verified, "dana" }),
		doc("removed", nil), doc("purged", nil), doc("last", nil))
	stashed, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(strings.Repeat("a line of a tool\n", 99))})
	if err != nil {
		t.Fatal(err)
	}
	for op, job := range map[string]func() (*carrel.RemovalResult, error){
		"remove": func() (*carrel.RemovalResult, error) {
			return b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{"removed"}})
		},
		"purge": func() (*carrel.RemovalResult, error) {
			return b.Purge(t.Context(), scope, &carrel.IDsRequest{IDs: []string{"purged"}})
		},
	} {
		if _, err := job(); err != nil {
			t.Fatal(op, err)
		}
	}
	b.turn(func() { b.now = b.now.Add(time.Minute) })
	stash := string(stashed.ID)
	for _, tt := range []struct {
		name string
		req  carrel.ArtifactsRequest
		want string
	}{
		{"live ones", carrel.ArtifactsRequest{}, stash + " last vouched fetched later short plain"},
		{"two", carrel.ArtifactsRequest{Cursor: carrel.Cursor{Limit: 2}}, stash + " last"},
		{"more than there are", carrel.ArtifactsRequest{Cursor: carrel.Cursor{Limit: 99}}, stash + " last vouched fetched later short plain"},
		{"all", carrel.ArtifactsRequest{All: true}, stash + " last purged removed vouched fetched later short plain"},
		{"of a class", carrel.ArtifactsRequest{Class: provenance.Document}, "last fetched later short plain"},
		{"all of a class", carrel.ArtifactsRequest{Class: provenance.Document, All: true}, "last purged removed fetched later short plain"},
		{"with a status", carrel.ArtifactsRequest{Status: store.StatusTombstoned}, "removed"},
		{"that expired", carrel.ArtifactsRequest{Expired: true}, "short"},
		{"about a subject", carrel.ArtifactsRequest{Subject: "ports"}, "fetched later"},
		{"the newest about a subject", carrel.ArtifactsRequest{Subject: "ports", Cursor: carrel.Cursor{Limit: 1}}, "fetched"},
		{"from a source", carrel.ArtifactsRequest{Source: "func:policy"}, "fetched"},
		{"about a subject and from a source", carrel.ArtifactsRequest{Subject: "ports", Source: "func:other"}, ""},
		{"of the stash", carrel.ArtifactsRequest{Stash: true}, stash},
		{"all of the stash", carrel.ArtifactsRequest{Stash: true, All: true}, stash},
		{"removed ones of the stash", carrel.ArtifactsRequest{Stash: true, Status: store.StatusTombstoned}, ""},
	} {
		list, err := carrel.Items(b.Artifacts(t.Context(), scope, &tt.req))
		if err != nil || list == nil {
			t.Fatalf("%s: %v, %v", tt.name, list, err)
		}
		var ids []string
		for _, a := range list {
			ids = append(ids, string(a.ID))
			if a.Expired != (a.ID == "short") || a.Stash != (a.ID == stashed.ID) {
				t.Errorf("%s: %+v", tt.name, a)
			}
			if a.Status == store.StatusPurged && a.Title+a.Subject+a.Source != "" {
				t.Errorf("%s: something is known of what was purged: %+v", tt.name, a)
			}
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// An id names the artifact that has it, also if those of older ones go on where it ends.
func TestAnIDNamesItsArtifact(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	for i := range 20 {
		b.put(t, &carrel.NewArtifact{ID: store.ArtifactID(fmt.Sprint("notes-", i)), Class: provenance.Document, Content: fmt.Append(nil, "text ", i)})
	}
	first := b.put(t, &carrel.NewArtifact{ID: "notes", Class: provenance.Document, Content: []byte("the notes")})[0]
	if got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "notes"}); err != nil || string(got.Content) != "the notes" {
		t.Errorf("get: %+v, %v", got, err)
	}
	second := b.put(t, &carrel.NewArtifact{ID: "notes", Class: provenance.Document, Content: []byte("other notes")})[0]
	if second.ID != first.ID || second.Version != first.Version+1 {
		t.Errorf("put again it is %s at version %d, was %s at %d", second.ID, second.Version, first.ID, first.Version)
	}
	for _, tt := range []struct {
		id   string
		want error
	}{
		{"note", carrel.ErrAmbiguous},
		{"notes-1", nil},
		{"notes-20", store.ErrNotFound},
		{"", carrel.ErrRequest},
	} {
		if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: tt.id}); !errors.Is(err, tt.want) {
			t.Errorf("get %q: %v, want %v", tt.id, err, tt.want)
		}
	}
	b.put(t, &carrel.NewArtifact{ID: "alone", Class: provenance.Document, Content: []byte("x")}, &carrel.NewArtifact{ID: "other", Class: provenance.Document, Content: []byte("y")})
	if got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "al"}); err != nil || got.ID != "alone" {
		t.Errorf("by its beginning: %+v, %v", got, err)
	}
	_, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "note"})
	if err == nil || !strings.Contains(err.Error(), "it could be notes-0 or notes-1") {
		t.Errorf("what fits several says %v", err)
	}
}

// Who asks about an artifact, and not for it, is told without a question to its source.
// Who has it fetched again begins its time anew, also if the source has nothing new.
func TestGetInfoAndRefetch(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.sources["func:policy"] = "refunds up to $200"
	req := chunk("refunds up to $200")
	req.ID, req.Source, req.Title, req.TTL = "policy", "func:policy", "Refunds", new(time.Hour)
	plain := chunk("plain")
	plain.ID = "plain"
	a := b.put(t, req, plain)[0]
	asked := b.asked
	info, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy", Info: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&carrel.GetResult{Artifact: a}, info); diff != "" || b.asked != asked {
		t.Errorf("info asks %d times (-want +got):\n%s", b.asked-asked, diff)
	}
	b.turn(func() { b.now = b.now.Add(2 * time.Hour) })
	stale, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy"})
	if err != nil || !stale.Expired || stale.Fetch != "" || b.asked != asked {
		t.Errorf("what has expired: %+v, %v, asked %d times", stale, err, b.asked-asked)
	}
	got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy", Refetch: true})
	if err != nil || got.Expired || got.Fetch != manifest.OutcomeUnchanged || string(got.Content) != "refunds up to $200" || b.asked != asked+1 {
		t.Errorf("fetched again: %+v, %v, asked %d times", got, err, b.asked-asked)
	}
	if want := b.now.Add(time.Hour); !got.Expires.Equal(want) || got.Version != a.Version+1 {
		t.Errorf("it expires %v at version %d, want %v at %d", got.Expires, got.Version, want, a.Version+1)
	}
	log, err := carrel.Items(b.Log(t.Context(), scope, &carrel.LogRequest{Since: a.Version}))
	if err != nil || len(log) != 1 || log[0].Op != "refetch" || string(log[0].Data) != `{"artifacts":1}` {
		t.Errorf("the log has %+v, %v", log, err)
	}
	if later, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy"}); err != nil || later.Version != got.Version || later.Title != "Refunds" {
		t.Errorf("got later: %+v, %v", later, err)
	}
	if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "plain", Refetch: true}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("fetched again without a source: %v", err)
	}
	b.turn(func() { b.sources["func:policy"] = errors.New("no answer") })
	if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy", Refetch: true}); err == nil {
		t.Error("what cannot be fetched was got")
	}
	for _, job := range []func() (*carrel.RemovalResult, error){
		func() (*carrel.RemovalResult, error) {
			return b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{"policy"}})
		},
		func() (*carrel.RemovalResult, error) {
			return b.Purge(t.Context(), scope, &carrel.IDsRequest{IDs: []string{"plain"}})
		},
	} {
		if _, err := job(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "policy"}); err != nil || got.Status != store.StatusTombstoned || got.Fetch != "" {
		t.Errorf("what was removed: %+v, %v, want it as it is, and no question to its source", got, err)
	}
	for _, info := range []bool{false, true} {
		if got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "plain", Info: info}); !errors.Is(err, carrel.ErrGone) || got != nil {
			t.Errorf("what was purged, info %t: %+v, %v", info, got, err)
		}
	}
}

// A pin is written, logged and seen, and so is that it is gone.
func TestPinArtifact(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	a := b.put(t, &carrel.NewArtifact{ID: "notes", Class: provenance.Document, Title: "Notes", Content: []byte("the notes")}, &carrel.NewArtifact{ID: "gone", Class: provenance.Document, Content: []byte("x")})[0]
	if _, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{"gone"}}); err != nil {
		t.Fatal(err)
	}
	want := a
	version := a.Version + 1
	for _, pinned := range []bool{true, false} {
		version++
		b.turn(func() { b.now = b.now.Add(time.Minute) })
		got, err := b.PinArtifact(t.Context(), scope, &carrel.PinArtifactRequest{ID: "not", Pinned: pinned})
		if err != nil {
			t.Fatal(err)
		}
		want.Pinned, want.Version = pinned, version
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("pinned %t (-want +got):\n%s", pinned, diff)
		}
		now, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "notes"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, now.Artifact); diff != "" {
			t.Errorf("pinned %t, it is now (-want +got):\n%s", pinned, diff)
		}
		for row, err := range b.store.Artifacts(t.Context(), scope, version-1) {
			if err != nil || row.ID != "notes" || !row.Updated.Equal(b.now) {
				t.Errorf("pinned %t, the store has %+v, %v", pinned, row, err)
			}
		}
		log, err := carrel.Items(b.Log(t.Context(), scope, &carrel.LogRequest{Since: version - 1}))
		if op := map[bool]string{true: "pin", false: "unpin"}[pinned]; err != nil || len(log) != 1 || log[0].Op != op || string(log[0].Data) != `{"artifacts":["notes"]}` {
			t.Errorf("pinned %t, the log has %+v, %v", pinned, log, err)
		}
	}
	if got, err := b.PinArtifact(t.Context(), scope, &carrel.PinArtifactRequest{ID: "gone", Pinned: true}); !errors.Is(err, carrel.ErrRequest) || got != nil {
		t.Errorf("what was removed was pinned: %+v, %v", got, err)
	}
}

// A manifest is named by its id, by the beginning of it with or without the prefix, or as
// the last one.
func TestManifestsAreNamed(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	if _, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: "@last"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the last of none: %v", err)
	}
	b.put(t, chunk("The port is 8443."))
	in := load(t, b.Engine, conversation(t))
	first := b.assemble(t, &carrel.AssembleRequest{Query: "which port?"}).Manifest
	second := b.assemble(t, &carrel.AssembleRequest{Query: "which port is it?", Session: in.Session, Budget: 9000}).Manifest
	third := b.assemble(t, &carrel.AssembleRequest{Query: "which port then?"}).Manifest
	for _, tt := range []struct {
		id, want string
		err      error
	}{
		{first, first, nil},
		{first[:9], first, nil},
		{first[2:9], first, nil},
		{first[2:], first, nil},
		{second[:17], second, nil},
		{"@last", third, nil},
		{"", "", carrel.ErrRequest},
		{"m_", "", carrel.ErrAmbiguous},
		{"x", "", store.ErrNotFound},
		{"m_0123456789abcdef", "", store.ErrNotFound},
		{"m_0123456789abcdef0", "", store.ErrNotFound},
	} {
		m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: tt.id})
		var sealed *manifest.Sealed
		if err == nil {
			sealed, err = m.Sealed()
		}
		if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%q: %v, want %v", tt.id, err, tt.err)
			continue
		}
		if err == nil && (m.ID != tt.want || sealed.Manifest().Header.ID != tt.want) {
			t.Errorf("%q is %s, want %s", tt.id, m.ID, tt.want)
		}
	}
	_, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: "m_"})
	if err == nil || !strings.Contains(err.Error(), third+" or "+second) {
		t.Errorf("what fits several says %v", err)
	}
	for _, tt := range []struct {
		name    string
		session bool
		limit   int
		want    []string
	}{
		{"all", false, 0, []string{third, second, first}},
		{"two", false, 2, []string{third, second}},
		{"of the session", true, 0, []string{second}},
	} {
		session := in.Session
		if !tt.session {
			session = ""
		}
		list, err := carrel.Items(b.Manifests(t.Context(), scope, &carrel.ManifestsRequest{Session: session, Cursor: carrel.Cursor{Limit: tt.limit}}))
		var got []string
		for _, m := range list {
			got = append(got, m.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

// What is redacted is not kept anywhere: not in a text, a title or a subject, of an
// artifact, of the stash or of a memory, whether a request or an option asks for it.
func TestRedaction(t *testing.T) {
	const person = "dana@example.com"
	if secret.RedactPersonal(person) == person {
		t.Fatal("nothing is redacted")
	}
	for _, byOption := range []bool{true, false} {
		b := newBench(t, stores.New(t), carrel.Options{Redact: byOption})
		list := b.put(t, &carrel.NewArtifact{ID: "doc", Class: provenance.Document, Content: []byte("ask " + person), Title: "of " + person, Subject: person, Redact: !byOption})
		stashed, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(strings.Repeat("ask "+person+"\n", 99)), Title: "of " + person, Redact: !byOption})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Text: "The team asks " + person + " first.", Title: "of " + person, Subject: person, Redact: !byOption})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []store.ArtifactID{list[0].ID, stashed.ID, kept.Artifact.ID} {
			got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(id)})
			if err != nil {
				t.Fatal(err)
			}
			if all := fmt.Sprintf("%+v %s", got.Artifact, got.Content); strings.Contains(all, person) || !strings.Contains(all, secret.RedactPersonal(person)) {
				t.Errorf("by option %t: %s", byOption, all)
			}
		}
	}
}

// A session keeps when it was created, and says when it last changed.
func TestASessionKeepsItsDates(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	d := newDiary()
	id := b.imports(t, d)
	created := b.now
	dates := func(what string, updated time.Time) {
		t.Helper()
		info, err := b.Session(t.Context(), scope, &carrel.SessionRequest{Session: id})
		if err != nil {
			t.Fatal(err)
		}
		if !info.Created.Equal(created) || !info.Updated.Equal(updated) || created.IsZero() {
			t.Errorf("%s: created %v and updated %v, want %v and %v", what, info.Created, info.Updated, created, updated)
		}
	}
	dates("imported", created)
	b.turn(func() { b.now = b.now.Add(time.Hour) })
	d.asks("And now the pier.")
	b.imports(t, d)
	dates("imported again", created.Add(time.Hour))
	b.turn(func() { b.now = b.now.Add(time.Hour) })
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 200}, ProbeMin: anything()}); err != nil {
		t.Fatal(err)
	}
	dates("compressed", created.Add(2*time.Hour))
}
