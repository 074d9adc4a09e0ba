package carrel_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A search finds what fits its conditions, as many as asked for, each with its place and
// with the words around what was found.
func TestSearchFinds(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	d := &diary{}
	d.asks("Where is the beacon?")
	d.runs("grep beacon map.txt", "map.txt:3: the beacon is on the pier", false)
	d.compacts("The user asked for the beacon.")
	for i := range 12 {
		d.asks(fmt.Sprintf("And beacon number %d?", i))
		d.says("No.")
	}
	id := b.imports(t, d)
	other, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "other.json", Data: body(t, []message{
		{Role: "user", Content: "ä" + strings.Repeat("é ", 60) + "a BEACON " + strings.Repeat("ö\n ", 90) + "end"},
		{Role: "user", Content: "beacon"},
	})})
	if err != nil {
		t.Fatal(err)
	}
	search := func(req *carrel.SearchRequest) []carrel.Found {
		t.Helper()
		found, err := carrel.Items(b.Search(t.Context(), scope, req))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, tt := range []struct {
		name string
		req  carrel.SearchRequest
		want int
	}{
		{"by default", carrel.SearchRequest{Query: "beacon"}, 10},
		{"with a limit", carrel.SearchRequest{Query: "beacon", Limit: 3}, 3},
		{"with a limit above what there is", carrel.SearchRequest{Query: "beacon", Limit: 99}, 17},
		{"in a session", carrel.SearchRequest{Query: "beacon", Limit: 99, Session: id}, 15},
		{"in another", carrel.SearchRequest{Query: "beacon", Limit: 99, Session: other.Session}, 2},
		{"of a kind", carrel.SearchRequest{Query: "beacon", Limit: 99, Kind: transcript.KindTool}, 1},
		{"of a kind in a session", carrel.SearchRequest{Query: "beacon", Limit: 99, Kind: transcript.KindUser, Session: id}, 13},
		{"in another form", carrel.SearchRequest{Query: "beacons", Limit: 99}, 17},
		{"of what is not there", carrel.SearchRequest{Query: "lighthouse"}, 0},
	} {
		found := search(&tt.req)
		having := 0 // blocks with the word; the others stand beside one
		for i, f := range found {
			if len(f.Terms) == 0 {
				continue
			}
			having++
			if tt.req.Session != "" && f.Session != tt.req.Session || tt.req.Kind != "" && f.Kind != tt.req.Kind || i > 0 && f.Score > found[i-1].Score && len(found[i-1].Terms) == 0 {
				t.Errorf("%s: found %+v", tt.name, f)
			}
			if f.Score <= 0 || !slices.Equal(f.Terms, []string{tt.req.Query}) {
				t.Errorf("%s: %+v has a score of %v for %q", tt.name, f.Block, f.Score, f.Terms)
			}
			if f.Earlier == 1 != (f.State == store.StateCold) {
				t.Errorf("%s: %+v is of an earlier window, and not cold, or the other way round", tt.name, f)
			}
		}
		if most := stdcmp.Or(tt.req.Limit, 10); found == nil || having != tt.want || len(found) > most {
			t.Errorf("%s: of %d that are found %d have the word, want %d, and %d at most", tt.name, len(found), having, tt.want, most)
		}
	}
	earlier := 0
	for _, f := range search(&carrel.SearchRequest{Query: "beacon", Limit: 99}) {
		if len(f.Terms) > 0 {
			earlier += f.Earlier
		}
	}
	if earlier != 2 {
		t.Errorf("%d are of the earlier window, want 2", earlier)
	}
	for _, f := range search(&carrel.SearchRequest{Query: "beacon", Session: other.Session}) {
		if f.Excerpt == "beacon" {
			continue // the whole
		}
		if !strings.HasPrefix(f.Excerpt, "…é") || !strings.HasSuffix(f.Excerpt, "ö…") || !strings.Contains(f.Excerpt, "é a BEACON ö ö") || !utf8.ValidString(f.Excerpt) {
			t.Errorf("the excerpt is %q", f.Excerpt)
		}
	}
	if found, err := carrel.Items(b.Search(t.Context(), scope, &carrel.SearchRequest{Query: " ?"})); err != nil || len(found) > 0 {
		t.Errorf("without a word: %+v, %v", found, err)
	}
}

// An answer that has no word of the question is found beside it, one place away before two
// places away, and nothing of another session is. A block's score is the same whatever the limit.
func TestSearchFindsWhatStandsBesideAMatch(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	of := func(name string, said ...string) transcript.SessionID {
		var list []message
		for _, text := range said {
			list = append(list, message{Role: "user", Content: text})
		}
		in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: name + ".json", Data: body(t, list)})
		if err != nil {
			t.Fatal(err)
		}
		return in.Session
	}
	of("before", "alpha", "bravo")
	id := of("asked", "charlie", "delta", "Which lighthouse is the oldest?", "The one at the cape.", "echo", "foxtrot")
	of("after", "golf", "hotel")
	req := &carrel.SearchRequest{Query: "What was said of lighthouses?"}
	found, err := carrel.Items(b.Search(t.Context(), scope, req))
	if err != nil {
		t.Fatal(err)
	}
	var excerpts []string
	for i, f := range found {
		excerpts = append(excerpts, f.Excerpt)
		if f.Session != id || (len(f.Terms) > 0) != (i == 0) {
			t.Errorf("found %+v", f)
		}
	}
	if want := []string{"Which lighthouse is the oldest?", "delta", "The one at the cape.", "charlie", "echo"}; !slices.Equal(excerpts, want) {
		t.Errorf("found %q, want %q", excerpts, want)
	}
	for limit := 1; limit < len(found); limit++ {
		req.Limit = limit
		if fewer, err := carrel.Items(b.Search(t.Context(), scope, req)); err != nil || cmp.Diff(found[:limit], fewer) != "" {
			t.Errorf("with a limit of %d: %v (-want +got):\n%s", limit, err, cmp.Diff(found[:limit], fewer))
		}
	}
}

// A closedStore gives nobody the items of a session.
type closedStore struct{ store.Store }

func (closedStore) Items(context.Context, governance.Scope, transcript.SessionID) ([]store.CellID, error) {
	return nil, errors.New("a session is read as a whole")
}

// A search reads the blocks that it shows, and no session, however long that is.
func TestSearchReadsNoSession(t *testing.T) {
	s := stores.New(t)
	b := newBench(t, s, carrel.Options{Counter: quarter{}})
	d := &diary{}
	d.asks("Where is the beacon?")
	d.runs("grep beacon map.txt", "map.txt:3: the beacon is on the pier", false)
	d.compacts("The user asked for the beacon.")
	d.asks("And the other beacon?")
	d.says("No beacon.")
	b.imports(t, d)
	req := &carrel.SearchRequest{Query: "beacons"}
	want, err := carrel.Items(b.Search(t.Context(), scope, req))
	if err != nil || len(want) < 4 {
		t.Fatalf("found %+v, %v", want, err)
	}
	e, err := carrel.New(closedStore{s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := carrel.Items(e.Search(t.Context(), scope, req))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("found, %v (-want +got):\n%s", err, diff)
	}
}

// What is left out of a context is in its account, with its row, its score and the reason,
// and what was fetched with the versions before and after.
func TestManifestHasWhatIsLeftOut(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	in := load(t, b.Engine, conversation(t))
	b.sources["func:port"] = "the port is 8080"
	fetched := chunk("the port is 80")
	fetched.ID, fetched.Source = "fetched", "func:port"
	b.put(t, &carrel.NewArtifact{ID: "roses", Class: provenance.Document, Content: []byte("Roses are red.")}, fetched,
		&carrel.NewArtifact{ID: "twin", Class: provenance.Document, Content: []byte("the port is  8080")})
	r := b.assemble(t, &carrel.AssembleRequest{Query: "which port is it?", Session: in.Session, Budget: 60_000})
	m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest})
	var sealed *manifest.Sealed
	if err == nil {
		sealed, err = m.Sealed()
	}
	if err != nil {
		t.Fatal(err)
	}
	h := sealed.Manifest().Header
	info, err := b.Session(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if h.Revision != int64(info.Revision) || string(h.Session) != string(in.Session) || m.Session != in.Session || r.Window == 0 {
		t.Errorf("the header is %+v, the window has %d tokens", h, r.Window)
	}
	reasons := make(map[string]manifest.Reason)
	rank := 0
	for _, it := range sealed.Manifest().Items {
		at := 3
		switch it := it.(type) {
		case *manifest.Segment:
			at = 0
		case *manifest.Omission:
			at = 1
			reasons[it.Ref] = it.Reason
			if want := map[string]int64{"roses": 1, "twin": 3}[it.Ref]; it.Row != want || it.Tokens == 0 || it.Class != provenance.Document || it.Score == nil || it.Score.Tag == "" {
				t.Errorf("left out is %+v, want row %d", it, want)
			}
		case *manifest.Set:
			at = 2
		case *manifest.Fetch:
			if it.Ref != "fetched" || it.From != 1 || it.To != 2 || it.Outcome != manifest.OutcomeChanged {
				t.Errorf("fetched is %+v", it)
			}
		}
		if at < rank {
			t.Errorf("%T stands behind what comes later", it)
		}
		rank = at
	}
	if len(reasons) != 2 || reasons["roses"] != manifest.ReasonMinor || reasons["twin"] != manifest.ReasonDuplicate {
		t.Errorf("left out are %v", reasons)
	}
	if len(m.Uses) != 1 || m.Uses[0] != "fetched" {
		t.Errorf("used are %v", m.Uses)
	}
}
