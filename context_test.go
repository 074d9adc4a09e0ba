package carrel_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// What cannot be a context is refused before anything is looked for; what is at the edge is
// one.
func TestAssembleRefuses(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	b.put(t, chunk("Water boils at 100 degrees."))
	for _, tt := range []struct {
		name string
		req  carrel.AssembleRequest
		want error
	}{
		{"no budget", carrel.AssembleRequest{Query: "q"}, carrel.ErrRequest},
		{"a budget below 0", carrel.AssembleRequest{Query: "q", Budget: -1}, carrel.ErrRequest},
		{"a reserve below 0", carrel.AssembleRequest{Query: "q", Budget: 99, Reserve: -1}, carrel.ErrRequest},
		{"all in reserve", carrel.AssembleRequest{Query: "q", Budget: 99, Reserve: 99}, carrel.ErrRequest},
		{"all but a token in reserve", carrel.AssembleRequest{Query: "q", Budget: 99, Reserve: 98}, carrel.ErrBudget},
		{"a tier that does not exist", carrel.AssembleRequest{Query: "q", Budget: 99, Tier: "some"}, carrel.ErrRequest},
		{"the soft tier, by force", carrel.AssembleRequest{Query: "q", Budget: 99, Tier: tier.Soft}, carrel.ErrRequest},
		{"a ladder that does not exist", carrel.AssembleRequest{Query: "q", Budget: 99, Tiers: "steep"}, carrel.ErrRequest},
		{"a tier on the soft ladder", carrel.AssembleRequest{Query: "q", Budget: 99, Tiers: carrel.TiersSoft, Tier: tier.Core}, carrel.ErrRequest},
		{"a tier on the ladder of the article", carrel.AssembleRequest{Query: "q", Budget: 99, Tiers: carrel.TiersArticle, Tier: tier.Core}, nil},
		{"the soft ladder", carrel.AssembleRequest{Query: "q", Budget: 99, Tiers: carrel.TiersSoft}, nil},
		{"a format that does not exist", carrel.AssembleRequest{Query: "q", Budget: 99, Format: "claudecode"}, carrel.ErrFormat},
		{"nothing", carrel.AssembleRequest{Budget: 99}, carrel.ErrRequest},
		{"a question of space", carrel.AssembleRequest{Query: " \n", Budget: 99}, carrel.ErrRequest},
		{"a session that is not there", carrel.AssembleRequest{Session: "none", Budget: 99}, store.ErrNotFound},
	} {
		before := b.fingerprint(t)
		res, err := b.Assemble(t.Context(), scope, &tt.req)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || (res == nil) != (err != nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err != nil && b.fingerprint(t) != before {
			t.Errorf("%s: it has changed something", tt.name)
		}
	}
}

// A context that just fits is made, and in one token less it is not.
func TestAssembleFitsExactly(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	for _, format := range []string{carrel.FormatText, "openai", "anthropic"} {
		req := &carrel.AssembleRequest{Query: "When does water boil?", System: "You are a cook.", Format: format, Budget: 1000}
		need := b.assemble(t, req).TokenCount
		for _, tt := range []struct {
			budget, reserve token.Count
			want            error
		}{{need, 0, nil}, {need + 7, 7, nil}, {need - 1, 0, carrel.ErrBudget}, {need + 6, 7, carrel.ErrBudget}} {
			req.Budget, req.Reserve = tt.budget, tt.reserve
			res, err := b.Assemble(t.Context(), scope, req)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("%s in %d with %d in reserve: %v, want %v", format, tt.budget, tt.reserve, err, tt.want)
			}
			if err == nil && (res.TokenCount != need || res.Budget != tt.budget || res.Reserve != tt.reserve) {
				t.Errorf("%s in %d with %d in reserve: %+v", format, tt.budget, tt.reserve, res)
			}
		}
		var floor *assembly.FloorError
		if _, err := b.Assemble(t.Context(), scope, req); !errors.As(err, &floor) || floor.Need != need || floor.Budget != need-1 || floor.Pins+floor.Window != 0 || floor.System == 0 || floor.Query == 0 {
			t.Errorf("%s: the figures are %+v", format, floor)
		}
	}
}

// The account of a context is one of its bytes: segments tile them, each has the tokens of
// what it is, is as the result says, and comes from the cells that it was made from.
func TestManifestIsOfTheBytes(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	b.sources["func:policy"] = "Refunds go up to $200 for pods."
	in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "chat.json", Data: podTalk(t, 3)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Page(t.Context(), scope, &carrel.PageRequest{Blocks: []string{list.Messages[2].ShortID}}); err != nil {
		t.Fatal(err)
	}
	fetched := chunk("Refunds go up to $100 for pods.")
	fetched.ID, fetched.Source = "fetched", "func:policy"
	hidden := chunk("Pod 3 of billing\u202e has a memory limit of 512Mi.")
	hidden.ID = "hidden"
	b.put(t, &carrel.NewArtifact{ID: "first", Class: provenance.Document, Content: []byte("Something about roses.")}, fetched, hidden,
		&carrel.NewArtifact{ID: "rule", Class: provenance.Document, Content: []byte("House rule: never deploy on Fridays."), Pinned: true})
	rows := make(map[string]store.Artifact)
	sources := make(map[string][]store.CellID)
	for b, err := range b.store.Blocks(t.Context(), scope, in.Session) {
		if err != nil {
			t.Fatal(err)
		}
		sources[string(b.ID)] = b.Cells
	}
	for _, format := range []string{carrel.FormatText, "openai", "anthropic"} {
		req := &carrel.AssembleRequest{Session: in.Session, Format: format, System: "Answer in English.", Query: "What limit has pod 3, and what are refunds of pods?", Budget: 50_000}
		r := b.assemble(t, req)
		for a, err := range b.store.Artifacts(t.Context(), scope, 0) {
			if err != nil {
				t.Fatal(err)
			}
			rows[string(a.ID)] = *a
		}
		used := make(map[string]carrel.UsedEntry)
		for _, u := range r.Used {
			used[string(u.ID)] = u
		}
		if len(used) != 3 || used["hidden"].Neutralized != 1 || used["rule"].Neutralized != 0 || used["fetched"].Fetched != (r.Fetched == 1) {
			t.Errorf("%s: used is %+v, %d fetched", format, r.Used, r.Fetched)
		}
		sealed, err := carrel.SealedOf(b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest}))
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		var total token.Count
		var kinds []manifest.Kind
		for _, it := range sealed.Manifest().Items {
			s, ok := it.(*manifest.Segment)
			if !ok {
				continue
			}
			if s.Start != at || s.Bytes <= 0 {
				t.Fatalf("%s: a segment begins at %d, the one before ends at %d", format, s.Start, at)
			}
			body := string(r.Data[s.Start : s.Start+s.Bytes])
			at, total = s.Start+s.Bytes, total+s.Tokens
			if len(kinds) == 0 || kinds[len(kinds)-1] != s.Kind {
				kinds = append(kinds, s.Kind)
			}
			if format == carrel.FormatText && s.Tokens != (quarter{}).Count(body) {
				t.Errorf("%s: %s %s has %d tokens, counted %d", format, s.Kind, s.Ref, s.Tokens, (quarter{}).Count(body))
			}
			edges, err := b.store.Sources(t.Context(), scope, store.CellID(s.Cell))
			if err != nil {
				t.Fatal(err)
			}
			var from []store.CellID
			for _, e := range edges {
				from = append(from, e.Source)
			}
			switch {
			case s.Class != "":
				row, u := rows[s.Ref], used[s.Ref]
				if s.Row != row.Seq || s.Version != int64(row.Version) || s.Class != row.Class || string(s.Form) != string(u.Form) || s.Tokens != u.InContext && s != sealed.Manifest().Items[0] ||
					s.Fetched != u.Fetched || s.Neutralized != u.Neutralized || (s.Kind == manifest.KindPin) != row.Pinned || (s.Score == nil) != row.Pinned {
					t.Errorf("%s: segment %+v, row %+v, used %+v", format, s, row, u)
				}
				if !strings.Contains(body, s.Ref) {
					t.Errorf("%s: %s is not named in %q", format, s.Ref, body)
				}
				if want := []store.CellID{row.Content, row.About}; !sameCells(from, want) {
					t.Errorf("%s: %s comes from %v, want %v", format, s.Ref, from, want)
				}
			case s.Kind == manifest.KindMessage || s.Kind == manifest.KindStub:
				if want := sources[s.Ref]; len(want) > 0 && !sameCells(from, want) {
					t.Errorf("%s: block %s comes from %v, want %v", format, s.Ref, from, want)
				}
				if stub := strings.HasPrefix(s.Ref, string(list.Messages[2].ID)); stub != (s.Kind == manifest.KindStub) {
					t.Errorf("%s: block %s is a %s", format, s.Ref, s.Kind)
				}
			case s.Kind == manifest.KindFrame && len(from) == 0:
				t.Errorf("%s: what frames the messages of a session comes from nothing", format)
			}
		}
		if at != len(r.Data) || total != r.TokenCount {
			t.Errorf("%s: segments have %d bytes of %d and %d tokens of %d", format, at, len(r.Data), total, r.TokenCount)
		}
		if format == carrel.FormatText {
			want := []manifest.Kind{manifest.KindSystem, manifest.KindNotice, manifest.KindPin, manifest.KindMessage, manifest.KindStub, manifest.KindMessage, manifest.KindArtifact, manifest.KindQuery}
			if diff := cmp.Diff(want, kinds); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		}
		items := sealed.Manifest().Items
		last, ok := items[len(items)-1].(*manifest.Output)
		if !ok || last.Bytes != len(r.Data) {
			t.Errorf("%s: the last item is %+v", format, items[len(items)-1])
		}
		if r.Left[manifest.ReasonMinor] != 1 || len(r.Left) != 1 {
			t.Errorf("%s: left out are %v", format, r.Left)
		}
		req.DryRun = true
		before := b.fingerprint(t)
		dry := b.assemble(t, req)
		if dry.Data != nil || dry.Manifest+dry.Seal != "" || b.fingerprint(t) != before || dry.TokenCount != r.TokenCount || len(dry.Used) != len(r.Used) {
			t.Errorf("%s: planned it is %+v", format, dry)
		}
	}
}

func sameCells(a, b []store.CellID) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// As text, each message stands between two lines, and so does each result in it.
func TestPlainWindow(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	d := &diary{}
	d.add("user", "", `{"role":"user","content":[{"type":"text","text":"See this:"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`)
	d.add("assistant", "", `{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"I look.\n"},{"type":"tool_use","id":"t1","name":"Read","input":{"a": 1}}]}`)
	d.add("user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one\ntwo"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`)
	d.says("Done.")
	id := b.imports(t, d)
	r := b.assemble(t, &carrel.AssembleRequest{Session: id, Budget: 20_000})
	got := fences(string(r.Data))
	want := "<message role=\"user\" fence=\"1\">\nSee this:\n[image]\n</message 1>\n" +
		"<message role=\"assistant\" fence=\"2\">\nI look.\n<call name=\"Read\">{\"a\": 1}</call>\n</message 2>\n" +
		"<message role=\"tool\" fence=\"3\">\n<result fence=\"4\">\none\ntwo\n[not text]\n</result 4>\n</message 3>\n" +
		"<message role=\"assistant\" fence=\"5\">\nDone.\n</message 5>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// fences numbers the words of fences in the order in which they come.
func fences(text string) string {
	for n := 1; ; n++ {
		_, rest, ok := strings.Cut(text, ` fence="`)
		for ok && len(rest) > 1 && rest[1] == '"' { // is numbered
			_, rest, ok = strings.Cut(rest, ` fence="`)
		}
		if !ok {
			return text
		}
		word, _, _ := strings.Cut(rest, `"`)
		text = strings.ReplaceAll(text, word, fmt.Sprint(n))
	}
}

// Of an artifact that is larger than a page there is an excerpt, and the page is as large
// as the options say; none below 0.
func TestPageLimits(t *testing.T) {
	content := []byte("Pod 3 of billing has a limit of 512Mi.\n" + strings.Repeat("Roses are red, and violets are blue.\n", 60))
	for _, tt := range []struct {
		page token.Count
		want manifest.Form
	}{{-1, manifest.FormWhole}, {math.MaxInt32, manifest.FormWhole}, {300, manifest.FormBrief}, {0, manifest.FormWhole}} {
		b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}, Page: tt.page})
		a := b.put(t, &carrel.NewArtifact{ID: "long", Class: provenance.Document, Content: content})[0]
		r := b.assemble(t, &carrel.AssembleRequest{Query: "What limit has pod 3 of billing?"})
		if len(r.Used) != 1 || r.Used[0].Form != tt.want || r.Used[0].Tokens != a.Tokens {
			t.Fatalf("a page of %d: %+v, of %d tokens", tt.page, r.Used, a.Tokens)
		}
		if n := r.Used[0].InContext; tt.want == manifest.FormWhole && n != a.Tokens || tt.want != manifest.FormWhole && (n > tt.page || n < tt.page/2) {
			t.Errorf("a page of %d: %d tokens of %d", tt.page, n, a.Tokens)
		}
		if !strings.Contains(string(r.Data), "512Mi") {
			t.Errorf("a page of %d: it does not answer:\n%s", tt.page, r.Data)
		}
	}
	// At exactly its size it is whole, and in one token less it is not.
	size := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}}).put(t, &carrel.NewArtifact{ID: "long", Class: provenance.Document, Content: content})[0].Tokens
	for page, want := range map[token.Count]manifest.Form{size: manifest.FormWhole, size - 1: manifest.FormBrief} {
		b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}, Page: page})
		b.put(t, &carrel.NewArtifact{ID: "long", Class: provenance.Document, Content: content})
		if r := b.assemble(t, &carrel.AssembleRequest{Query: "What limit has pod 3 of billing?"}); r.Used[0].Form != want || r.Used[0].InContext > page {
			t.Errorf("a page of %d for %d tokens: %s of %d", page, size, r.Used[0].Form, r.Used[0].InContext)
		}
	}
}

// A source that has grown is measured anew, so that the context keeps its budget.
func TestAGrownSourceIsMeasured(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	b.sources["func:notes"] = "the port is 8443"
	r := chunk("the port is 8443")
	r.ID, r.Source = "notes", "func:notes"
	small := b.put(t, r)[0]
	b.turn(func() {
		b.sources["func:notes"] = strings.Repeat("the port of the service is 8443, as before. ", 3000)
		b.now = b.now.Add(time.Minute)
	})
	out := b.assemble(t, &carrel.AssembleRequest{Query: "which port is it?", Format: "text"})
	if n := (quarter{}).Count(string(out.Data)); n > 4000 || out.Fetched != 1 {
		t.Errorf("the context has %d tokens of 4000, %d fetched", n, out.Fetched)
	}
	got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: "notes"})
	if err != nil || got.Tokens < 100*small.Tokens {
		t.Errorf("the artifact has %d tokens, and had %d: %v", got.Tokens, small.Tokens, err)
	}
}

// A source that was asked is in the account, with what it said.
func TestManifestNamesFetches(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	for _, name := range []string{"same", "changed", "gone"} {
		b.sources[artifact.Ref("func:"+name)] = "the port of " + name
		r := chunk("the port of " + name)
		r.ID, r.Source = store.ArtifactID(name), "func:"+name
		b.put(t, r)
	}
	b.put(t, chunk("the port of nobody"))
	b.turn(func() {
		b.sources["func:changed"] = "the port of changed is another"
		b.sources["func:gone"] = errors.New("no answer")
		b.now = b.now.Add(time.Minute)
	})
	r := b.assemble(t, &carrel.AssembleRequest{Query: "which port is it?"})
	sealed, err := carrel.SealedOf(b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest}))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]manifest.FetchOutcome)
	for _, it := range sealed.Manifest().Items {
		if f, ok := it.(*manifest.Fetch); ok {
			got[f.Ref] = f.Outcome
		}
	}
	want := map[string]manifest.FetchOutcome{"same": manifest.OutcomeUnchanged, "changed": manifest.OutcomeChanged, "gone": manifest.OutcomeUnavailable}
	if diff := cmp.Diff(want, got); diff != "" || r.Fetched != 1 {
		t.Errorf("%d fetched (-want +got):\n%s", r.Fetched, diff)
	}
}
