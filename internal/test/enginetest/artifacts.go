package enginetest

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

var artifacts = []check{
	{"An artifact is kept byte for byte", kept},
	{"Artifacts are listed by what they are, to the last", listed},
	{"What is removed comes back, what is purged does not", removed},
	{"What was made from what turned out wrong is wrong, too", refuted},
	{"The output of a tool waits in the stash", stashed},
}

// text returns a request for an artifact with a text.
func text(format string, args ...any) *carrel.NewArtifact {
	return &carrel.NewArtifact{Class: provenance.Retrieved, Content: fmt.Appendf(nil, format, args...)}
}

// put stores one artifact.
func (w *world) put(req *carrel.NewArtifact) carrel.Artifact {
	w.Helper()
	list := try(carrel.Items(w.Put(w.ctx(), w.in, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{req}}))).must(w)
	if len(list) != 1 {
		w.Fatalf("%d artifacts, want 1", len(list))
	}
	return list[0]
}

func kept(w *world) {
	content := []byte("The deploy needs <VPN> & profile B.\r\n\x00 and \xff are kept: größe.\n")
	a := w.put(&carrel.NewArtifact{
		Class: provenance.Verified, VerifiedBy: string(Actor), Title: `VPN "B"`, Subject: "deploys", Source: "told by dana",
		Content: content, TTL: new(time.Hour), Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Pinned: true,
	})
	w.holds(a.Class == provenance.Verified && a.VerifiedBy == string(Actor) && a.Pinned && a.Expired && a.Bytes == int64(len(content)), "%+v", a)
	got := try(w.Get(w.ctx(), w.in, &carrel.GetRequest{ID: string(a.ID)[:8]})).must(w)
	w.same("content", got.Content, content)
	w.same("artifact", got.Artifact, a)
	again := w.put(&carrel.NewArtifact{ID: a.ID, Class: provenance.Document, Content: []byte("profile C")})
	w.holds(again.ID == a.ID && again.Version > a.Version && !again.Expired, "%+v", again)
	whole := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(a.ID)})).must(w)
	w.holds(string(whole.Data) == "profile C" && whole.Artifact == a.ID, "%+v", whole)

	pin := try(w.PinArtifact(w.ctx(), w.in, &carrel.PinArtifactRequest{ID: string(a.ID), Pinned: true})).must(w)
	w.holds(pin.Pinned, "%+v", pin)
	pin = try(w.PinArtifact(w.ctx(), w.in, &carrel.PinArtifactRequest{ID: string(a.ID), Pinned: false})).must(w)
	w.holds(!pin.Pinned, "%+v", pin)

	_, err := carrel.Items(w.Put(w.ctx(), w.in, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{text("good"), {Class: provenance.Tool}, text("good, too")}}))
	w.fails("one without content among others", err, carrel.ErrRequest)
	key := "AK" + "IA" + "QWERTZUIOPASDFGH"
	_, err = carrel.Items(w.Put(w.ctx(), w.in, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{text("the key is %s", key)}}))
	w.fails("a credential", err, carrel.ErrPolicy)
	w.holds(err == nil || !strings.Contains(err.Error(), key), "the error repeats the credential: %v", err)
	allowed := text("the key is %s", key)
	allowed.AllowSecrets = true
	w.put(allowed)
	list := try(carrel.Items(w.Artifacts(w.ctx(), w.in, &carrel.ArtifactsRequest{}))).must(w)
	w.holds(len(list) == 2, "%d artifacts, want 2", len(list))
}

func listed(w *world) {
	const many = 1005 // more than fit on a page of a list
	reqs := make([]*carrel.NewArtifact, many)
	for i := range reqs {
		reqs[i] = text("fact %d", i)
		if i%100 == 0 {
			reqs[i] = &carrel.NewArtifact{Class: provenance.Tool, Content: reqs[i].Content, Subject: "builds", Source: "ci", TTL: new(time.Duration(0))}
		}
	}
	made := try(carrel.Items(w.Put(w.ctx(), w.in, &carrel.PutRequest{Artifacts: reqs}))).must(w)
	ids := func(req *carrel.ArtifactsRequest) []store.ArtifactID {
		var ids []store.ArtifactID
		for _, a := range try(carrel.Items(w.Artifacts(w.ctx(), w.in, req))).must(w) {
			ids = append(ids, a.ID)
		}
		return ids
	}
	all := ids(&carrel.ArtifactsRequest{})
	want := make(map[store.ArtifactID]bool)
	for _, a := range made {
		want[a.ID] = true
	}
	for _, a := range all {
		delete(want, a)
	}
	w.holds(len(all) == many && len(want) == 0, "%d artifacts are listed, %d are missing", len(all), len(want))
	w.same("the newest", ids(&carrel.ArtifactsRequest{Cursor: carrel.Cursor{Limit: 7}}), all[:7])
	w.same("more than a page", ids(&carrel.ArtifactsRequest{Cursor: carrel.Cursor{Limit: 1001}}), all[:1001])
	for name, req := range map[string]*carrel.ArtifactsRequest{
		"of a class": {Class: provenance.Tool}, "about a subject": {Subject: "builds"}, "from a source": {Source: "ci"}, "expired": {Expired: true},
	} {
		w.holds(len(ids(req)) == 11, "%s: %d artifacts, want 11", name, len(ids(req)))
	}
	w.holds(len(ids(&carrel.ArtifactsRequest{Stash: true})) == 0, "something is in the stash")
	w.holds(len(ids(&carrel.ArtifactsRequest{Status: store.StatusRefuted})) == 0, "something is refuted")
}

func removed(w *world) {
	a, b := w.put(text("the old way")), w.put(text("the secret way"))
	gone := try(w.Remove(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{string(a.ID)}})).must(w)
	w.same("removed", gone.Artifacts, []store.ArtifactID{a.ID})
	_, err := w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(a.ID)})
	w.fails("recall of what was removed", err, carrel.ErrPolicy)
	back := try(w.Restore(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{string(a.ID)}})).must(w)
	w.same("restored", back.Artifacts, []store.ArtifactID{a.ID})
	try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(a.ID)})).must(w)

	purged := try(w.Purge(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{string(b.ID)}})).must(w)
	w.holds(purged.Cells > 0, "%+v", purged)
	_, err = w.Get(w.ctx(), w.in, &carrel.GetRequest{ID: string(b.ID)})
	w.fails("what was purged", err, carrel.ErrGone)
	_, err = w.Restore(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{string(b.ID)}})
	w.holds(err != nil, "what was purged came back")
	_, err = w.Remove(w.ctx(), w.in, &carrel.IDsRequest{})
	w.fails("removing nothing", err, carrel.ErrRequest)
	_, err = w.Purge(w.ctx(), w.in, &carrel.IDsRequest{})
	w.fails("purging nothing", err, carrel.ErrRequest)

	entries := try(carrel.Items(w.Log(w.ctx(), w.in, &carrel.LogRequest{}))).must(w)
	w.holds(len(entries) == 5 && entries[0].Actor == Actor, "%+v", entries)
	later := try(carrel.Items(w.Log(w.ctx(), w.in, &carrel.LogRequest{Since: store.Version(entries[2].Revision)}))).must(w)
	w.same("log after the third version", later, entries[3:])
}

func refuted(w *world) {
	wrong := text("the port is 9999")
	wrong.Source = "an old page"
	a := w.put(wrong)
	made := text("connect to 9999")
	made.From = []store.ArtifactID{a.ID}
	b := w.put(made)
	r := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: "which port?", Budget: 2000})).must(w)
	res := try(w.Refute(w.ctx(), w.in, &carrel.RefuteRequest{Source: "an old page"})).must(w)
	w.same("refuted", res.Artifacts, []store.ArtifactID{a.ID, b.ID})
	w.same("contexts that used it", res.Manifests, []string{r.Manifest})
	w.holds(res.Derived == 1, "%+v", res)
	after := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: "which port?", Budget: 2000})).must(w)
	w.holds(!bytes.Contains(after.Data, []byte("9999")), "what was refuted is in a context:\n%s", after.Data)
}

func stashed(w *world) {
	output := []byte(strings.Repeat("ok  \texample.com/app/internal/part\t0.1s\n", 300) + "FAIL <here> & there\n")
	res := try(w.Stash(w.ctx(), w.in, &carrel.StashRequest{Content: output, Title: "go test ./..."})).must(w)
	w.holds(res.Stash && !res.Known && strings.Contains(res.Pointer, string(res.ID)) && len(res.Pointer) < len(output)/2, "%+v", res)
	again := try(w.Stash(w.ctx(), w.in, &carrel.StashRequest{Content: output})).must(w)
	w.holds(again.Known && again.ID == res.ID, "%+v", again)
	got := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(res.ID)})).must(w)
	w.holds(bytes.Equal(got.Data, output), "the stash returns something else")

	old := try(w.Stash(w.ctx(), w.in, &carrel.StashRequest{Content: output[40:], TTL: new(time.Duration(0))})).must(w)
	for _, dry := range []bool{true, false} {
		cleared := try(w.CollectStash(w.ctx(), w.in, &carrel.CollectRequest{DryRun: dry})).must(w)
		w.same("cleared", cleared.Artifacts, []store.ArtifactID{old.ID})
	}
	_, err := w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(old.ID)})
	w.fails("what was cleared", err, carrel.ErrGone)
}
