package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// artifactChecks are the checks of artifacts, the ledger, and purges and derivation of cells.
var artifactChecks = []check{
	{"the first update makes version 1 and the next one more", versionsCountUpdates},
	{"what was updated is read back field by field", readsBackUpdates},
	{"a scope that never saw an update is at version 0 and has nothing", emptyScope},
	{"Seq is the place in the scope, from 1 in the order of arrival", seqIsTheOrderOfArrival},
	{"an artifact is replaced and keeps its place", artifactsAreReplaced},
	{"Update fails with ErrConflict unless each artifact is at the version it names", updateRefusesOtherVersions},
	{"Update lets one of many writers of an artifact win", updateLetsOneWin},
	{"updates of different artifacts do not conflict", otherArtifactsDoNotConflict},
	{"an update with a bad part changes nothing", badUpdateChangesNothing},
	{"an update that refers to a missing record fails with ErrNotFound", badUpdateIsNotFound},
	{"an entry's id is unique in a scope, in journals and the log", logIDsAreUnique},
	{"Artifacts yields those written after a version, whatever their status, by Seq", artifactsAfter},
	{"Pick returns the artifacts that fit, by Seq, limit at most", pick},
	{"Hits finds whole words of artifacts", hitsAreWholeWords},
	{"Hits has first those with rarer terms or more of them, then the newest", hitsOrder},
	{"an index entry replaces the earlier entry of its artifact, and no entry keeps it", artifactTextIsReplaced},
	{"Manifest returns a manifest with its outcomes in order, or ErrNotFound", manifestHasOutcomes},
	{"Manifests yields those of a scope or a session, newest first and short", manifestsOrder},
	{"Users returns the ids of the manifests that use any of some artifacts, oldest first", users},
	{"Log yields the entries after a version, in order", logAfter},
	{"a cell that is purged is ErrGone and keeps kind and commitment", purgeErases},
	{"a purge leaves other cells, artifacts, edges and manifests alone", purgeLeavesTheRest},
	{"an artifact whose content is purged leaves the index, unless the update has a new entry", purgeForgetsWords},
	{"purging a cell twice is no error, and its id cannot be added again", purgeAgain},
	{"Derived returns cells derived directly or indirectly, by id and without the given ones", derived},
	{"times of artifacts are UTC in whole milliseconds", artifactTimes},
	{"any string names an artifact, a manifest and a cell of theirs", anyStringNamesAnArtifact},
	{"scopes are isolated in every method for artifacts", artifactScopesAreIsolated},
	{"iterators of artifacts see the database as it was when the iteration began", artifactIteratorsSeeASnapshot},
	{"iterators of artifacts may be stopped early and nested", artifactIteratorsStopEarly},
	{"the store shares no memory with artifacts in arguments and results", noArtifactIsShared},
	{"a canceled context is an error for artifacts and changes nothing", artifactContextDone},
	{"Info counts artifacts and manifests", infoOfArtifacts},
	{"Check finds nothing in an intact store with artifacts, also after a purge", checkOfArtifacts},
}

func versionsCountUpdates(t *testing.T, s store.Store) {
	for want := range store.Version(3) {
		if got, err := s.Version(t.Context(), scope); got != want || err != nil {
			t.Errorf("after %d updates, Version = %d, %v", want, got, err)
		}
		if got := update(t, s, scope, newUpdate(numbered("up", int(want)))); got != want+1 {
			t.Errorf("update %d made version %d", want+1, got)
		}
	}
	apply(t, s, scope, "s", 0, newChange("op"))
	if got, err := s.Version(t.Context(), scope); got != 3 || err != nil {
		t.Errorf("after a change of a session, Version = %d, %v; want 3 as before", got, err)
	}
}

func readsBackUpdates(t *testing.T, s store.Store) {
	u := fullUpdate("x")
	version := update(t, s, scope, u)
	want := &Contents{Version: version, Log: []store.Entry{u.Entry}, Manifests: []store.Manifest{*u.Manifest}}
	want.Log[0].Revision = store.Revision(version)
	made := *u.Outcome
	made.Version = version
	want.Manifests[0].Version, want.Manifests[0].Made = version, []store.ContextOutcome{made}
	for i := range u.Artifacts {
		a := u.Artifacts[i].Artifact
		a.Seq, a.Version = int64(i+1), version
		want.Artifacts = append(want.Artifacts, a)
	}
	for _, c := range u.Cells {
		want.Texts = append(want.Texts, Text{Cell: c})
	}
	slices.SortFunc(want.Texts, func(a, b Text) int { return strings.Compare(string(a.Cell.ID), string(b.Cell.ID)) })
	want.Texts[4].Edges = []store.Edge{
		{Derived: "xsent", Source: "xa1-text", Rel: "sent"}, {Derived: "xsent", Source: "xa2-text", Rel: "sent"},
	}
	equal(t, "contents", contents(t, s, scope), want)
}

func emptyScope(t *testing.T, s store.Store) {
	all := reads(s)
	for _, name := range sortedNames(all) {
		if n, err := all[name](t.Context(), scope); n != 0 || err != nil {
			t.Errorf("%s of an empty scope found %d, %v; want nothing", name, n, err)
		}
	}
	if _, err := s.Manifest(t.Context(), scope, "m"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Manifest of an empty scope: %v, want ErrNotFound", err)
	}
}

func seqIsTheOrderOfArrival(t *testing.T, s store.Store) {
	put(t, s, scope, [2]string{"c", "one"}, [2]string{"a", "two"})
	put(t, s, "another", [2]string{"z", "one"})
	bad := newUpdate("bad")
	add(bad, "refused", "text")
	bad.Purge = []store.CellID{"nowhere"}
	if _, err := s.Update(t.Context(), scope, bad); err == nil {
		t.Error("a purge of no cell is no error")
	}
	put(t, s, scope, [2]string{"b", "three"})
	for i, a := range contents(t, s, scope).Artifacts {
		if want := []store.ArtifactID{"c", "a", "b"}[i]; a.Seq != int64(i+1) || a.ID != want {
			t.Errorf("at place %d there is %s with Seq %d, want %s and its place", i+1, a.ID, a.Seq, want)
		}
		if want := []store.Version{1, 1, 2}[i]; a.Version != want {
			t.Errorf("%s is at version %d, want %d", a.ID, a.Version, want)
		}
	}
}

func artifactsAreReplaced(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	u, w := rewrite(t, s, "xa1", "up2")
	text := newCell("new", store.CellText, "another")
	u.Cells = []store.Cell{text}
	w.Class, w.Status, w.Pinned, w.Content, w.About = provenance.Verified, store.StatusRefuted, true, "new", "xa2-about"
	w.Bytes, w.Tokens, w.Encoding, w.Source, w.Address = 7, 8, "cl100k", "url", "elsewhere"
	w.Created, w.Updated, w.Expires, w.Gate = epoch.Add(1e9), epoch.Add(2e9), epoch.Add(3e9), []byte(`[]`)
	w.Seq = 77 // ignored: the store sets it
	before := contents(t, s, scope).Artifacts
	version := update(t, s, scope, u)
	want := w.Artifact
	want.Seq, want.Version = 1, version
	equal(t, "artifacts", contents(t, s, scope).Artifacts, []store.Artifact{want, before[1]})

	u, w = rewrite(t, s, "xa1", "up3")
	w.Gate, w.Expires, w.Source, w.Pinned, w.Address = nil, time.Time{}, "", false, ""
	update(t, s, scope, u)
	if got := artifact(t, s, scope, "xa1"); got.Gate != nil || !got.Expires.IsZero() || got.Source != "" || got.Pinned || got.Address != "" {
		t.Errorf("fields that were emptied came back as %+v", got)
	}
}

func updateRefusesOtherVersions(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	update(t, s, scope, newUpdate("up2"))
	before := contents(t, s, scope)
	for _, tt := range []struct {
		id store.ArtifactID
		at store.Version
	}{{"xa1", 0}, {"xa1", 2}, {"xa1", 3}, {"xa1", -1}, {"new", 1}, {"new", 2}, {"new", -1}} {
		u := newUpdate("up3")
		add(u, "sound", "text")
		w := add(u, string(tt.id)+"!", "text")
		w.ID, w.At = tt.id, tt.at
		u.Index = nil
		if _, err := s.Update(t.Context(), scope, u); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Update of %s at %d: %v, want ErrConflict", tt.id, tt.at, err)
		}
	}
	equal(t, "contents after the refusals", contents(t, s, scope), before)
	u, w := rewrite(t, s, "xa1", "up3")
	w.Pinned = true
	update(t, s, scope, u) // at version 1, while the scope is at 2
}

func updateLetsOneWin(t *testing.T, s store.Store) {
	put(t, s, scope, [2]string{"a", "text"})
	const writers = 8
	var updates []*store.Update
	for i := range writers {
		u, w := rewrite(t, s, "a", numbered("up", i))
		w.Source = numbered("w", i)
		updates = append(updates, u)
	}
	won := winners(t, writers, func(i int) error {
		_, err := s.Update(t.Context(), scope, updates[i])
		return err
	})
	if got := contents(t, s, scope); won != 1 || got.Version != 2 || len(got.Log) != 2 {
		t.Errorf("%d writers won, the scope is at version %d with %d entries; want 1, 2 and 2", won, got.Version, len(got.Log))
	}
}

func otherArtifactsDoNotConflict(t *testing.T, s store.Store) {
	const writers, updates = 16, 5
	versions := make([][]store.Version, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range updates {
				version, err := s.Update(t.Context(), scope, fullUpdate(fmt.Sprintf("w%d-%d-", w, n)))
				if err != nil {
					t.Errorf("Update: %v", err)
					return
				}
				versions[w] = append(versions[w], version)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(versions...)
	slices.Sort(all)
	for i, version := range all {
		if version != store.Version(i+1) {
			t.Fatalf("versions %v are not distinct and without gaps", all)
		}
	}
	got := contents(t, s, scope)
	const want = writers * updates
	if len(got.Artifacts) != 2*want || len(got.Manifests) != want || len(got.Log) != want || got.Version != want || len(got.Texts) != 5*want {
		t.Errorf("%d artifacts, %d manifests, %d entries, %d cells, version %d; want %d, %d, %d, %d, %d", len(got.Artifacts),
			len(got.Manifests), len(got.Log), len(got.Texts), got.Version, 2*want, want, want, 5*want, want)
	}
	for i, a := range got.Artifacts {
		if a.Seq != int64(i+1) {
			t.Fatalf("the artifact at place %d has Seq %d", i+1, a.Seq)
		}
	}
	for w := range writers {
		for n, version := range versions[w] {
			if a := artifact(t, s, scope, store.ArtifactID(fmt.Sprintf("w%d-%d-a1", w, n))); a.Version != version {
				t.Errorf("artifact %s is at version %d, Update said %d", a.ID, a.Version, version)
			}
		}
	}
}

// badUpdates lists updates of a scope that has fullUpdate("x"), each with one invalid part. In
// those with notFound, Update must fail with ErrNotFound.
var badUpdates = []struct {
	name     string
	notFound bool
	spoil    func(u *store.Update)
}{
	{"an artifact whose content is unknown", true, func(u *store.Update) { u.Artifacts[1].Content = "nowhere" }},
	{"an artifact about an unknown cell", true, func(u *store.Update) { u.Artifacts[1].About = "nowhere" }},
	{"an edge from an unknown cell", true, func(u *store.Update) { u.Edges[1].Source = "nowhere" }},
	{"an edge to an unknown cell", true, func(u *store.Update) { u.Edges[1].Derived = "nowhere" }},
	{"an index text of an unknown artifact", true, func(u *store.Update) { u.Index[1].Artifact = "nowhere" }},
	{"a purge of an unknown cell", true, func(u *store.Update) { u.Purge = []store.CellID{"xa1-text", "nowhere"} }},
	{"a manifest that uses an unknown artifact", true, func(u *store.Update) { u.Manifest.Uses[1] = "nowhere" }},
	{"an outcome of an unknown manifest", true, func(u *store.Update) { u.Outcome.Manifest = "nowhere" }},
	{"a cell that is there already", false, func(u *store.Update) { u.Cells[4] = newCell("xsent", store.CellSegment, "again"); u.Edges = nil }},
	{"a cell twice", false, func(u *store.Update) { u.Cells = append(u.Cells, u.Cells[0]) }},
	{"a commitment that does not hold", false, func(u *store.Update) { u.Cells[1].Commit[0] ^= 1 }},
	{"an edge twice", false, func(u *store.Update) { u.Edges = append(u.Edges, u.Edges[0]) }},
	{"an edge that is there already", false, func(u *store.Update) { u.Edges[0] = fullUpdate("x").Edges[0] }},
	{"an artifact twice", false, func(u *store.Update) { u.Artifacts = append(u.Artifacts, u.Artifacts[0]) }},
	{"an artifact without an id", false, func(u *store.Update) { u.Artifacts[1].ID = "" }},
	{"an artifact without content", false, func(u *store.Update) { u.Artifacts[1].Content = "" }},
	{"a class that does not exist", false, func(u *store.Update) { u.Artifacts[1].Class = "gossip" }},
	{"a status that does not exist", false, func(u *store.Update) { u.Artifacts[1].Status = "lukewarm" }},
	{"a manifest that is there already", false, func(u *store.Update) { u.Manifest.ID = "xm1" }},
	{"a manifest without an id", false, func(u *store.Update) { u.Manifest.ID = "" }},
	{"a manifest that uses an artifact twice", false, func(u *store.Update) { u.Manifest.Uses[1] = u.Manifest.Uses[0] }},
	{"an outcome of no manifest", false, func(u *store.Update) { u.Outcome.Manifest = "" }},
	{"an entry whose id is taken", false, func(u *store.Update) { u.Entry.ID = "xup1" }},
	{"an entry without an id", false, func(u *store.Update) { u.Entry.ID = "" }},
}

func badUpdateChangesNothing(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	before := contents(t, s, scope)
	for _, b := range badUpdates {
		u := fullUpdate("y")
		rw, w := rewrite(t, s, "xa1", "")
		w.Pinned = true
		u.Artifacts = append(u.Artifacts, rw.Artifacts...)
		u.Index = append(u.Index, store.ArtifactText{Artifact: "xa1", Text: "pears"})
		u.Purge = []store.CellID{"xa2-text"}
		b.spoil(u)
		if _, err := s.Update(t.Context(), scope, u); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: Update reports %v, want a refusal that is no conflict", b.name, err)
		}
		equal(t, "contents after "+b.name, contents(t, s, scope), before)
		if hits, err := s.Hits(t.Context(), scope, []string{"apple", "apples", "pears"}, 9); err != nil || !slices.Equal(hits, []int64{2, 1}) {
			t.Errorf("%s: Hits = %v, %v; want the 2 that were there", b.name, hits, err)
		}
		if _, err := collect(s.Cells(t.Context(), scope, []store.CellID{"ya1-text"})); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: its sound cells: %v, want ErrNotFound", b.name, err)
		}
	}
	if version := update(t, s, scope, fullUpdate("y")); version != 2 {
		t.Errorf("the update after the refusals made version %d, want 2", version)
	}
}

func badUpdateIsNotFound(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	for _, b := range badUpdates {
		u := fullUpdate("y")
		b.spoil(u)
		if _, err := s.Update(t.Context(), scope, u); errors.Is(err, store.ErrNotFound) != b.notFound {
			t.Errorf("%s: %v; is it ErrNotFound? want %v", b.name, err, b.notFound)
		}
	}
}

func logIDsAreUnique(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, newChange("op1"))
	update(t, s, scope, newUpdate("op2"))
	if _, err := s.Update(t.Context(), scope, newUpdate("op1")); err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("an entry of the log with the id of one in a journal: %v, want a refusal that is no conflict", err)
	}
	if _, err := s.Apply(t.Context(), scope, "s", 1, newChange("op2")); err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("an entry of a journal with the id of one in the log: %v, want a refusal that is no conflict", err)
	}
	update(t, s, "another", newUpdate("op1"))
	apply(t, s, "another", "s", 0, newChange("op2"))
}

func artifactsAfter(t *testing.T, s store.Store) {
	u := newUpdate("up1")
	for i, status := range []store.Status{
		store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned, store.StatusPurged,
	} {
		add(u, string(rune('f'-i)), "text").Status = status
	}
	update(t, s, scope, u)
	put(t, s, scope, [2]string{"g", "text"})
	u, w := rewrite(t, s, "d", "up3")
	w.Pinned = true
	update(t, s, scope, u)
	update(t, s, scope, newUpdate("up4"))
	for after, want := range map[store.Version]string{
		-1: "f e d c b a g", 0: "f e d c b a g", 1: "d g", 2: "d", 3: "", 4: "", 99: "", 1 << 50: "",
	} {
		yields(t, fmt.Sprintf("Artifacts after %d", after), s.Artifacts(t.Context(), scope, after), artifactID, want)
	}
}

func artifactID(a *store.Artifact) string { return string(a.ID) }

func pick(t *testing.T, s store.Store) {
	u := newUpdate("up1")
	for _, id := range []string{"b1", "a2", "a1", "AB", "a\xff\xff", "c"} {
		add(u, id, "text "+id)
	}
	u.Artifacts[1].Status, u.Artifacts[4].Status = store.StatusHeld, store.StatusHeld
	u.Artifacts[2].Address, u.Artifacts[0].Address, u.Artifacts[5].Address = "same", "same", ""
	u.Artifacts[3].Content, u.Artifacts[0].Content = "c-text", "c-text"
	update(t, s, scope, u)
	for _, tt := range []struct {
		pick  store.Pick
		limit int
		want  string
	}{
		{store.Pick{Prefix: "a"}, 9, "a2 a1 a\xff\xff"},
		{store.Pick{Prefix: "a"}, 2, "a2 a1"},
		{store.Pick{Prefix: "a\xff"}, 9, "a\xff\xff"},
		{store.Pick{Prefix: "a1"}, 9, "a1"},
		{store.Pick{Prefix: "a11"}, 9, ""},
		{store.Pick{Prefix: "%"}, 9, ""},
		{store.Pick{}, 3, "b1 a2 a1"},
		{store.Pick{}, 0, ""},
		{store.Pick{}, -1, ""},
		{store.Pick{Address: "same"}, 9, "b1 a1"},
		{store.Pick{Address: "same"}, 1, "b1"},
		{store.Pick{Address: "sam"}, 9, ""},
		{store.Pick{Status: store.StatusHeld}, 9, "a2 a\xff\xff"},
		{store.Pick{Status: store.StatusHeld}, 1, "a2"},
		{store.Pick{Status: store.StatusLive}, 9, "b1 a1 AB c"},
		{store.Pick{Status: store.StatusLive}, 2, "b1 a1"},
		{store.Pick{Status: store.StatusPurged}, 9, ""},
		{store.Pick{Cells: []store.CellID{"c-text", "a1-text", "nowhere", "c-text"}}, 9, "b1 a1 AB c"},
		{store.Pick{Cells: []store.CellID{"c-text"}}, 2, "b1 AB"},
		{store.Pick{Cells: []store.CellID{"c-about"}}, 9, ""},
		{store.Pick{Cells: []store.CellID{}}, 9, ""},
		{store.Pick{Seqs: []int64{6, 2, 99, 2, 1, 0, -5, 1 << 41}}, 9, "b1 a2 c"},
		{store.Pick{Seqs: []int64{6, 99, 2, 1}}, 2, "b1 a2"},
		{store.Pick{Seqs: []int64{}}, 9, ""},
	} {
		all, err := s.Pick(t.Context(), scope, &tt.pick, tt.limit)
		if got := strings.Join(ids(all), " "); got != tt.want || err != nil {
			t.Errorf("Pick of %+v, %d at most = %q, %v; want %q", tt.pick, tt.limit, got, err, tt.want)
		}
	}
	all, err := s.Pick(t.Context(), scope, &store.Pick{Prefix: "a1"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what Pick returns", all, []store.Artifact{artifact(t, s, scope, "a1")})
}

// hits returns the artifacts that Hits finds, in its order.
func hits(t *testing.T, s store.Store, limit int, terms ...string) string {
	t.Helper()
	found, err := s.Hits(t.Context(), scope, terms, limit)
	if err != nil {
		t.Errorf("Hits of %q: %v", terms, err)
	}
	all := contents(t, s, scope).Artifacts
	var got []string
	for _, seq := range found {
		got = append(got, string(all[seq-1].ID))
	}
	return strings.Join(got, " ")
}

func hitsAreWholeWords(t *testing.T, s store.Store) {
	put(t, s, scope,
		[2]string{"a", "the build fails with exit_code 127"},
		[2]string{"b", "Run `make BUILD` again, then /usr/bin/env"},
		[2]string{"c", "Größe und ПРИВЕТ und 東京, naïve"},
		[2]string{"d", "building blocks: build-block; 3.14"},
		[2]string{"e", ""},
	)
	for _, tt := range []struct {
		terms []string
		want  string
	}{
		{[]string{"build"}, "d b a"},
		{[]string{"BUILD"}, "d b a"},
		{[]string{"building"}, "d"},
		{[]string{"buil"}, ""},
		{[]string{"exit_code"}, "a"},
		{[]string{"exit", "code"}, ""},
		{[]string{"größe"}, "c"},
		{[]string{"привет"}, "c"},
		{[]string{"東京"}, "c"},
		{[]string{"naive"}, ""},
		{[]string{"usr/bin"}, "b"},
		{[]string{"build", "build"}, "d b a"},
		{nil, ""},
		{[]string{"", " ", "-", `"`, "*", "(", "OR"}, ""},
		{[]string{`"`, "fails OR", "NEAR(", "^again", "text:127"}, "a b"},
	} {
		if got := hits(t, s, 99, tt.terms...); got != tt.want {
			t.Errorf("Hits of %q = %q, want %q", tt.terms, got, tt.want)
		}
	}
}

func hitsOrder(t *testing.T, s store.Store) {
	put(t, s, scope, [2]string{"a", "common"}, [2]string{"b", "common other"}, [2]string{"c", "common common"})
	put(t, s, scope, [2]string{"d", "common rare"}, [2]string{"e", "common"}, [2]string{"f", "other"})
	for _, tt := range []struct {
		limit int
		terms []string
		want  string
	}{
		{9, []string{"common"}, "e d c b a"},
		{9, []string{"common", "rare"}, "d e c b a"},
		{9, []string{"common", "other", "rare"}, "d b f e c a"},
		{9, []string{"common other", "rare"}, "d b f e c a"},
		{3, []string{"common", "other", "rare"}, "d b f"},
		{1, []string{"common"}, "e"},
		{0, []string{"common"}, ""},
		{-1, []string{"common"}, ""},
	} {
		if got := hits(t, s, tt.limit, tt.terms...); got != tt.want {
			t.Errorf("Hits of %q, %d at most = %q, want %q", tt.terms, tt.limit, got, tt.want)
		}
	}
}

func artifactTextIsReplaced(t *testing.T, s store.Store) {
	put(t, s, scope, [2]string{"a", "old word"}, [2]string{"b", "old word"}, [2]string{"c", "old"})
	u := newUpdate("up2")
	u.Index = []store.ArtifactText{{Artifact: "a", Text: "new word"}, {Artifact: "b", Text: ""}}
	update(t, s, scope, u)
	u, w := rewrite(t, s, "c", "up3")
	w.Status = store.StatusTombstoned
	update(t, s, scope, u)
	for term, want := range map[string]string{"old": "c", "new": "a", "word": "a"} {
		if got := hits(t, s, 9, term); got != want {
			t.Errorf("Hits of %q = %q, want %q", term, got, want)
		}
	}
}

func manifestHasOutcomes(t *testing.T, s store.Store) {
	u := fullUpdate("x")
	version := update(t, s, scope, u)
	want := *u.Manifest
	want.Version = version
	for i, made := range []*store.ContextOutcome{
		u.Outcome,
		{Manifest: "xm1", Actor: governance.ActorUser, Time: epoch.Add(-time.Hour)}, // the order must not depend on times
		{Manifest: "xm1", Actor: governance.ActorUser, Time: epoch, Data: []byte(`null`)},
	} {
		if i > 0 {
			u := newUpdate(numbered("up", i))
			u.Outcome = made
			version = update(t, s, scope, u)
		}
		o := *made
		o.Version = version
		want.Made = append(want.Made, o)
	}
	got, err := s.Manifest(t.Context(), scope, "xm1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Manifest", *got, want)
	if _, err := s.Manifest(t.Context(), scope, "xm"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Manifest of no manifest: %v, want ErrNotFound", err)
	}
}

func manifestsOrder(t *testing.T, s store.Store) {
	for i, session := range []transcript.SessionID{"s", "", "t", "s"} {
		u := fullUpdate(numbered("x", i))
		u.Manifest.Session, u.Manifest.Created = session, epoch.Add(-time.Duration(i)*time.Hour) // the order must not depend on times
		update(t, s, scope, u)
	}
	for session, want := range map[transcript.SessionID]string{
		"": "x0003m1 x0002m1 x0001m1 x0000m1", "s": "x0003m1 x0000m1", "t": "x0002m1", "u": "",
	} {
		all, err := collect(s.Manifests(t.Context(), scope, session))
		lists(t, fmt.Sprintf("Manifests of session %q", session), all, err, func(m *store.Manifest) string { return m.ID }, want)
		for _, m := range all {
			full, err := s.Manifest(t.Context(), scope, m.ID)
			if err != nil {
				t.Fatal(err)
			}
			full.Body, full.Uses, full.Made = nil, nil, nil
			equal(t, "manifest in the list", m, full)
		}
	}
}

func users(t *testing.T, s store.Store) {
	put(t, s, scope, [2]string{"a", "one"}, [2]string{"b", "two"}, [2]string{"c", "three"})
	for i, uses := range [][]store.ArtifactID{{"b", "a"}, {"a"}, nil, {"b"}} {
		u := newUpdate(numbered("up", i))
		u.Manifest = &store.Manifest{ID: string(rune('z' - i)), Uses: uses, Created: epoch}
		update(t, s, scope, u)
	}
	for _, tt := range []struct {
		ids  []store.ArtifactID
		want string
	}{
		{[]store.ArtifactID{"a"}, "z y"},
		{[]store.ArtifactID{"b", "a", "b"}, "z y w"},
		{[]store.ArtifactID{"c"}, ""},
		{[]store.ArtifactID{"nowhere", "b"}, "z w"},
		{nil, ""},
	} {
		got, err := s.Users(t.Context(), scope, tt.ids)
		lists(t, fmt.Sprintf("Users of %q", tt.ids), got, err, itself, tt.want)
	}
}

func logAfter(t *testing.T, s store.Store) {
	for i := range 4 {
		u := newUpdate(numbered("up", i+1))
		u.Entry.Time = epoch.Add(-time.Duration(i) * time.Hour) // the order must not depend on times
		update(t, s, scope, u)
	}
	for after, want := range map[store.Version]string{
		-1: "up0001 up0002 up0003 up0004", 0: "up0001 up0002 up0003 up0004", 2: "up0003 up0004", 4: "", 9: "", 1 << 50: "",
	} {
		all, err := collect(s.Log(t.Context(), scope, after))
		lists(t, fmt.Sprintf("Log after %d", after), all, err, entryID, want)
		for _, e := range all {
			if e.ID != numbered("up", int(e.Revision)) {
				t.Errorf("entry %s has version %d", e.ID, e.Revision)
			}
		}
	}
}

func purgeErases(t *testing.T, s store.Store) {
	u := fullUpdate("x")
	update(t, s, scope, u)
	erase := newUpdate("up2")
	erase.Purge = []store.CellID{"xa1-text"}
	update(t, s, scope, erase)
	cells, err := collect(s.Cells(t.Context(), scope, []store.CellID{"xa1-about", "xa1-text", "nowhere"}))
	if len(cells) != 1 || !errors.Is(err, store.ErrGone) {
		t.Errorf("Cells = %d cells, %v; want 1 and an ErrGone", len(cells), err)
	}
	want := store.GoneError{Cell: "xa1-text", Kind: store.CellText, Commit: u.Cells[0].Commit}
	if gone, ok := errors.AsType[*store.GoneError](err); !ok || *gone != want || !strings.Contains(err.Error(), "xa1-text") {
		t.Errorf("Cells: %v; want a GoneError with kind and commitment", err)
	}
}

func purgeLeavesTheRest(t *testing.T, s store.Store) {
	u := fullUpdate("x")
	update(t, s, scope, u)
	update(t, s, "another", fullUpdate("x"))
	want, another := contents(t, s, scope), contents(t, s, "another")
	erase := newUpdate("up2")
	erase.Purge = []store.CellID{"xa1-text", "xsent"}
	update(t, s, scope, erase)
	entry := erase.Entry
	entry.Revision = 2
	want.Version, want.Log = 2, append(want.Log, entry)
	for i := range want.Texts {
		if c := &want.Texts[i]; slices.Contains(erase.Purge, c.Cell.ID) {
			c.Gone, c.Cell = true, store.Cell{ID: c.Cell.ID, Kind: c.Cell.Kind, Commit: c.Cell.Commit}
		}
	}
	equal(t, "contents after a purge", contents(t, s, scope), want)
	equal(t, "contents of another scope", contents(t, s, "another"), another)
	if got := hits(t, s, 9, "apples"); got != "xa2" {
		t.Errorf("Hits of another artifact = %q, want it", got)
	}
}

func purgeForgetsWords(t *testing.T, s store.Store) {
	u := newUpdate("up1")
	for _, id := range []string{"a", "b", "c", "d"} {
		add(u, id, "words of "+id)
	}
	u.Artifacts[1].Content = "a-text"
	update(t, s, scope, u)
	erase := newUpdate("up2")
	erase.Purge = []store.CellID{"a-text", "c-text", "d-about"}
	erase.Index = []store.ArtifactText{{Artifact: "c", Text: "other words"}}
	update(t, s, scope, erase)
	for term, want := range map[string]string{"words": "d c", "a": "", "b": "", "of": "d", "other": "c"} {
		if got := hits(t, s, 9, term); got != want {
			t.Errorf("Hits of %q = %q, want %q", term, got, want)
		}
	}
}

func purgeAgain(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	u, w := rewrite(t, s, "xa1", "up2")
	w.Status, w.Address = store.StatusPurged, ""
	u.Purge = []store.CellID{"xa1-text", "xa1-text", "xa1-about"}
	update(t, s, scope, u)
	again := newUpdate("up3")
	again.Purge = []store.CellID{"xa1-text"}
	update(t, s, scope, again)
	want := contents(t, s, scope)
	back := newUpdate("up4")
	back.Cells = []store.Cell{newCell("xa1-text", store.CellText, "one apple")}
	if _, err := s.Update(t.Context(), scope, back); err == nil {
		t.Error("a cell that was purged could be brought again")
	}
	equal(t, "contents", contents(t, s, scope), want)
}

func derived(t *testing.T, s store.Store) {
	u := newUpdate("up1")
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		u.Cells = append(u.Cells, newCell(store.CellID(id), store.CellText, id))
	}
	for _, e := range []string{"ba", "ca", "db", "dc", "ed", "ae", "fb"} { // with a cycle: a, b, d, e, a
		u.Edges = append(u.Edges, store.Edge{Derived: store.CellID(e[:1]), Source: store.CellID(e[1:]), Rel: "r"})
	}
	u.Edges = append(u.Edges, store.Edge{Derived: "b", Source: "a", Rel: "another"})
	const chain = 200 // larger than a likely batch size, in width and in depth
	for i := range chain {
		u.Cells = append(u.Cells, newCell(store.CellID(numbered("w", i)), store.CellText, ""), newCell(store.CellID(numbered("x", i)), store.CellText, ""))
		u.Edges = append(u.Edges, store.Edge{Derived: store.CellID(numbered("w", i)), Source: "f", Rel: "r"})
		if i > 0 {
			u.Edges = append(u.Edges, store.Edge{Derived: store.CellID(numbered("x", i)), Source: store.CellID(numbered("x", i-1)), Rel: "r"})
		}
	}
	update(t, s, scope, u)
	var wide, deep strings.Builder
	var all []store.CellID
	for i := range chain {
		wide.WriteString(" " + numbered("w", i))
		all = append(all, store.CellID(numbered("w", i)))
	}
	for i := 1; i < chain; i++ {
		deep.WriteString(" " + numbered("x", i))
	}
	for _, tt := range []struct {
		from []store.CellID
		want string
	}{
		{[]store.CellID{"c"}, "a b d e f" + wide.String()},
		{[]store.CellID{"a"}, "b c d e f" + wide.String()},
		{[]store.CellID{"a", "d"}, "b c e f" + wide.String()},
		{[]store.CellID{"f", "nowhere", "f"}, strings.TrimSpace(wide.String())},
		{[]store.CellID{"x0000"}, strings.TrimSpace(deep.String())},
		{append(all, "c"), "a b d e f"},
		{[]store.CellID{"nowhere"}, ""},
		{nil, ""},
	} {
		got, err := s.Derived(t.Context(), scope, tt.from)
		lists(t, fmt.Sprintf("Derived of %q", tt.from), got, err, itself, tt.want)
	}
}

func artifactTimes(t *testing.T, s store.Store) {
	keepsTimes(t, func(i int, at time.Time) map[string]time.Time {
		u := fullUpdate(numbered("x", i))
		a := &u.Artifacts[0]
		a.Created, a.Updated, a.Expires, u.Manifest.Created, u.Outcome.Time, u.Entry.Time = at, at, at, at, at, at
		update(t, s, scope, u)
		got := contents(t, s, scope)
		read := artifact(t, s, scope, a.ID)
		return map[string]time.Time{
			"Created": read.Created, "Updated": read.Updated, "Expires": read.Expires, "Created of a manifest": got.Manifests[0].Created,
			"Time of an outcome": got.Manifests[0].Made[0].Time, "Time of an entry": got.Log[i].Time,
		}
	})
}

func anyStringNamesAnArtifact(t *testing.T, s store.Store) {
	for _, name := range oddNames {
		update(t, s, governance.Scope(name), fullUpdate(name+"|"))
		update(t, s, scope, fullUpdate(name+"!"))
	}
	for _, name := range oddNames {
		got, err := s.Pick(t.Context(), scope, &store.Pick{Prefix: name + "!a1"}, 9)
		if err != nil || len(got) != 1 || string(got[0].ID) != name+"!a1" {
			t.Errorf("Pick of %q = %q, %v; want it", name+"!a1", ids(got), err)
		}
		if got, err := s.Users(t.Context(), scope, []store.ArtifactID{store.ArtifactID(name + "!a1")}); err != nil || len(got) != 1 || got[0] != name+"!m1" {
			t.Errorf("Users of %q = %q, %v; want %q", name+"!a1", got, err, name+"!m1")
		}
		if got, err := s.Derived(t.Context(), scope, []store.CellID{store.CellID(name + "!a1-text")}); err != nil || len(got) != 1 || string(got[0]) != name+"!sent" {
			t.Errorf("Derived of %q = %q, %v; want %q", name+"!a1-text", got, err, name+"!sent")
		}
		if got := contents(t, s, governance.Scope(name)); len(got.Artifacts) != 2 || string(got.Artifacts[0].ID) != name+"|a1" {
			t.Errorf("scope %q has %q, want the artifacts of its name", name, ids(got.Artifacts))
		}
		if hits, err := s.Hits(t.Context(), governance.Scope(name), []string{"apple", "apples"}, 9); err != nil || len(hits) != 2 {
			t.Errorf("Hits of scope %q = %v, %v; want 2", name, hits, err)
		}
	}
}

func artifactScopesAreIsolated(t *testing.T, s store.Store) {
	const other governance.Scope = "test/suit" // a prefix of scope, but not its parent
	update(t, s, scope, fullUpdate("x"))
	mine := contents(t, s, scope)
	all := reads(s)
	for _, full := range []bool{false, true} { // whether there is something in the other scope
		for _, name := range sortedNames(all) {
			n, err := all[name](t.Context(), other)
			want := 0
			if own := name == "Version" || name == "Artifacts" || name == "Log"; full && own {
				want = 1
			}
			if n != want || err != nil {
				t.Errorf("%s in another scope found %d, %v; want %d of its own", name, n, err, want)
			}
			if n, err := all[name](t.Context(), scope); n == 0 || err != nil {
				t.Errorf("%s in the scope found %d, %v; want something", name, n, err)
			}
		}
		if _, err := s.Manifest(t.Context(), other, "xm1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Manifest in another scope: %v, want ErrNotFound", err)
		}
		refuse := func(what string, want error, spoil func(u *store.Update)) {
			u := newUpdate("refused")
			spoil(u)
			if _, err := s.Update(t.Context(), other, u); !errors.Is(err, want) {
				t.Errorf("%s of another scope: %v, want %v", what, err, want)
			}
		}
		refuse("an artifact", store.ErrConflict, func(u *store.Update) { add(u, "xa1", "text").At = 1 })
		refuse("a cell", store.ErrNotFound, func(u *store.Update) { add(u, "n", "text").Content = "xa1-text" })
		refuse("a cell to purge", store.ErrNotFound, func(u *store.Update) { u.Purge = []store.CellID{"xa1-text"} })
		refuse("an artifact in the index", store.ErrNotFound, func(u *store.Update) { u.Index = []store.ArtifactText{{Artifact: "xa1", Text: "x"}} })
		refuse("an artifact in use", store.ErrNotFound, func(u *store.Update) {
			u.Manifest = &store.Manifest{ID: "n", Uses: []store.ArtifactID{"xa1"}}
		})
		refuse("a manifest", store.ErrNotFound, func(u *store.Update) { u.Outcome = &store.ContextOutcome{Manifest: "xm1"} })
		if !full {
			put(t, s, other, [2]string{"unrelated", "pears"})
		}
	}

	// All ids are free in another scope, for other content.
	again := fullUpdate("x")
	again.Cells[0] = newCell("xa1-text", store.CellText, "another one")
	again.Index = nil
	update(t, s, other, again)
	erase := newUpdate("erase")
	erase.Purge = []store.CellID{"xa2-text"}
	update(t, s, other, erase)
	equal(t, "contents of the first scope", contents(t, s, scope), mine)
	if got := hits(t, s, 9, "apple", "apples"); got != "xa2 xa1" {
		t.Errorf("Hits in the first scope = %q, want xa2 xa1", got)
	}
	if found, err := s.Hits(t.Context(), other, []string{"apple", "apples", "pears"}, 9); err != nil || !slices.Equal(found, []int64{1}) {
		t.Errorf("Hits in the other scope = %v, %v; want its own", found, err)
	}
	cells, err := collect(s.Cells(t.Context(), other, []store.CellID{"xa1-text"}))
	if err != nil || string(cells[0].Body) != "another one" {
		t.Errorf("the cell of the other scope: %v, %v", cells, err)
	}
}

func artifactIteratorsSeeASnapshot(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	update(t, s, scope, fullUpdate("y"))
	n := 0
	write := func() {
		n++
		update(t, s, scope, fullUpdate(numbered("z", n)))
		u, w := rewrite(t, s, "xa2", numbered("up", n))
		w.Pinned = !w.Pinned
		update(t, s, scope, u)
	}
	yields(t, "Artifacts", during(s.Artifacts(t.Context(), scope, 0), write), func(a *store.Artifact) string {
		if a.ID == "xa2" {
			return fmt.Sprint("xa2 ", !a.Pinned)
		}
		return string(a.ID)
	}, "xa1 xa2 false ya1 ya2")
	yields(t, "Manifests", during(s.Manifests(t.Context(), scope, ""), write), func(m *store.Manifest) string { return m.ID }, "z0001m1 ym1 xm1")
	yields(t, "Log", during(s.Log(t.Context(), scope, 0), write), entryID, "xup1 yup1 z0001up1 up0001 z0002up1 up0002")
	// An iteration reads nothing before it begins.
	late := s.Artifacts(t.Context(), scope, 0)
	write()
	for range 2 {
		counts(t, "Artifacts, begun when there were 12,", late, 12)
	}
}

func artifactIteratorsStopEarly(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	update(t, s, scope, fullUpdate("y"))
	for range 20 { // more than a store has connections
		stopEarly(t, s.Artifacts(t.Context(), scope, 0))
		stopEarly(t, s.Artifacts(t.Context(), scope, 1))
		stopEarly(t, s.Manifests(t.Context(), scope, ""))
		stopEarly(t, s.Log(t.Context(), scope, 0))
	}
	for a, err := range s.Artifacts(t.Context(), scope, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(s.Cells(t.Context(), scope, []store.CellID{a.Content})); err != nil {
			t.Error(err)
		}
		for m, err := range s.Manifests(t.Context(), scope, "") {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Manifest(t.Context(), scope, m.ID); err != nil {
				t.Error(err)
			}
		}
	}
	update(t, s, scope, newUpdate("up3"))
}

func noArtifactIsShared(t *testing.T, s store.Store) {
	u := fullUpdate("x")
	update(t, s, scope, u)
	before := contents(t, s, scope)
	scribble := func(artifacts []store.Artifact, m *store.Manifest, o *store.ContextOutcome, e *store.Entry) {
		for i := range artifacts {
			clear(artifacts[i].Gate)
		}
		clear(m.Body)
		clear(m.Uses)
		clear(o.Data)
		clear(e.Data)
	}
	scribble([]store.Artifact{u.Artifacts[0].Artifact, u.Artifacts[1].Artifact}, u.Manifest, u.Outcome, &u.Entry)
	for i := range u.Cells {
		clear(u.Cells[i].Body)
	}
	clear(u.Artifacts)
	after := contents(t, s, scope)
	equal(t, "contents after what went in was changed", after, before)
	scribble(after.Artifacts, &after.Manifests[0], &after.Manifests[0].Made[0], &after.Log[0])
	clear(after.Manifests[0].Made)
	equal(t, "contents after what came out was changed", contents(t, s, scope), before)
}

func artifactContextDone(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	before := contents(t, s, scope)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all := reads(s)
	all["Update"] = func(ctx ctxT, sc scopeT) (int, error) { return 0, errorOf(s.Update(ctx, sc, fullUpdate("y"))) }
	all["Manifest"] = func(ctx ctxT, sc scopeT) (int, error) { return 0, errorOf(s.Manifest(ctx, sc, "xm1")) }
	for _, name := range sortedNames(all) {
		if _, err := all[name](ctx, scope); !errors.Is(err, context.Canceled) {
			t.Errorf("%s in a context that is done: %v, want context.Canceled", name, err)
		}
	}
	equal(t, "contents afterwards", contents(t, s, scope), before)
}

func infoOfArtifacts(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	update(t, s, "another", fullUpdate("x"))
	put(t, s, scope, [2]string{"a", "text"})
	got, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := store.Info{Artifacts: 5, Manifests: 2, Cells: 12}
	if diff := cmp.Diff(want, *got, cmpopts.IgnoreFields(store.Info{}, "Driver", "Version", "Path", "Schema", "Bytes")); diff != "" {
		t.Errorf("Info (-want +got):\n%s", diff)
	}
}

func checkOfArtifacts(t *testing.T, s store.Store) {
	update(t, s, scope, fullUpdate("x"))
	update(t, s, "another", fullUpdate("x"))
	u, w := rewrite(t, s, "xa1", "up2")
	w.Status = store.StatusPurged
	u.Purge = []store.CellID{"xa1-text", "xa1-about", "xsent"}
	update(t, s, scope, u)
	if problems, err := s.Check(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("Check = %q, %v; want no problems", problems, err)
	}
}
