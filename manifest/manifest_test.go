package manifest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// chance returns a source of salts that gives the same ones each time.
func chance(n byte) io.Reader { return rand.NewChaCha8([32]byte{n}) }

// rowsOf returns the set of rows of a test.
func rowsOf(rows ...int64) Rows {
	s, err := NewRows(rows...)
	if err != nil {
		panic(err)
	}
	return s
}

// small returns a manifest with an item of each type.
func small() *Manifest {
	salts := []digest.Salt{{1}, {2}, {3}}
	texts := [][]byte{[]byte("You fix things.\n"), []byte("deploy needs VPN\n"), []byte("why?\n")}
	output := bytes.Join(texts, nil)
	return &Manifest{
		Header: Header{
			ID: "m_3fa91c00", Scope: "acme/web", Actor: "user",
			Created: time.Date(2026, 1, 1, 0, 0, 0, 7e6, time.UTC),
			Session: "7b1e90aa", Revision: 42, Version: 9, Policy: "default/1",
			Format: "text", Encoding: "o200k_base*1.35",
			Budget: 100, Reserve: 20, Demand: 64, Total: 13, Tier: tier.Full,
			Query: "c_03", Semantic: "lexical/1", SemanticCalls: 2, Candidates: 317,
		},
		Items: []Item{
			&Segment{
				Kind: KindSystem, Cell: "c_01", Commit: CommitSegment(salts[0], texts[0]), Start: 0, Bytes: 16, Tokens: 5,
				Reason: ReasonSystem,
			},
			&Segment{
				Kind: KindArtifact, Cell: "c_02", Commit: CommitSegment(salts[1], texts[1]), Start: 16, Bytes: 17, Tokens: 6,
				Ref: "a41c09de", Row: 401, Version: 3, Class: provenance.Verified, Form: FormBrief,
				Score:  &Score{Recency: 250_000, Provenance: ratio.One, Semantic: 431_000, First: 550_000, Total: 679_300, Tag: TagRed},
				Reason: ReasonBrief, Neutralized: 1, Fetched: true,
			},
			&Segment{
				Kind: KindQuery, Cell: "c_03", Commit: CommitSegment(salts[2], texts[2]), Start: 33, Bytes: 5, Tokens: 2,
				Reason: ReasonQuery,
			},
			&Omission{Ref: "77e0b1c2", Row: 402, Class: provenance.Tool, Tokens: 3900, Score: &Score{First: 120_000}, Reason: ReasonOverBudget},
			&Omission{Ref: "0c9e77b1", Class: provenance.Retrieved, Reason: ReasonSourceGone},
			&Omission{Ref: "b0b0b0b0", Reason: ReasonOverBudget}, // a block
			&Set{Reason: ReasonExpired, Count: 312, Rows: run312()},
			&Set{Reason: ReasonNotScored, Count: 2, Rows: rowsOf(399, 400)},
			&Fetch{Ref: "a41c09de", Outcome: OutcomeChanged, From: 2, To: 3},
			&Fetch{Ref: "0c9e77b1", Outcome: OutcomeGone, From: 5},
			&Output{Bytes: 38, Commit: CommitOutput(salts, output)},
		},
	}
}

func run312() Rows { return Rows{runs: []run{{1, 312}}} }

// mustSeal seals a manifest.
func mustSeal(t testing.TB, m *Manifest) *Sealed {
	t.Helper()
	s, err := Seal(m, chance(1))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// anyName makes names.
var anyName = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._@:+*/-]{0,20}`)

func optional[T any](t *rapid.T, label string, g *rapid.Generator[T]) T {
	var zero T
	if rapid.Bool().Draw(t, label+"?") {
		return g.Draw(t, label)
	}
	return zero
}

func anyDigest(t *rapid.T) digest.Digest {
	return digest.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
}

func anyScore(t *rapid.T) *Score {
	if rapid.Bool().Draw(t, "unscored") {
		return nil
	}
	r := rapid.Custom(func(t *rapid.T) ratio.Ratio {
		return ratio.Ratio(rapid.Int64Range(0, int64(ratio.One)).Draw(t, "ratio"))
	})
	return &Score{
		Recency: r.Draw(t, "recency"), Provenance: r.Draw(t, "provenance"), Semantic: r.Draw(t, "semantic"),
		First: r.Draw(t, "first"), Total: r.Draw(t, "total"), Tag: optional(t, "tag", rapid.SampledFrom(tags)),
	}
}

// anyManifest makes manifests that pass Check, with rows from 1 on.
func anyManifest(t *rapid.T) *Manifest {
	m := &Manifest{}
	h := &m.Header
	row := int64(0)
	next := func() int64 {
		row += rapid.Int64Range(1, 40).Draw(t, "gap")
		return row
	}
	class := rapid.SampledFrom(provenance.Classes())
	size := 0
	for i := range rapid.IntRange(0, 8).Draw(t, "segments") {
		s := &Segment{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Cell: anyName.Draw(t, "cell"), Commit: anyDigest(t),
			Start: size, Bytes: rapid.IntRange(1, 5000).Draw(t, "bytes"), Tokens: token.Count(rapid.IntRange(0, 900).Draw(t, "tokens")),
			Form: optional(t, "form", rapid.SampledFrom([]Form{FormWhole, FormBrief})), Reason: rapid.SampledFrom(Included()).Draw(t, "reason"),
			Neutralized: rapid.IntRange(0, 3).Draw(t, "neutralized"), Fetched: rapid.Bool().Draw(t, "fetched"),
		}
		switch s.Kind {
		case KindArtifact, KindPin:
			s.Ref, s.Row, s.Class = fmt.Sprintf("s%d", i), next(), class.Draw(t, "class")
			s.Version = rapid.Int64Range(0, maxExact).Draw(t, "version")
			s.Score = anyScore(t)
			h.Candidates++
		case KindMessage, KindStub:
			s.Ref = fmt.Sprintf("s%d", i)
		case KindFrame, KindSystem, KindQuery, KindNotice:
		}
		size += s.Bytes
		h.Total += s.Tokens
		m.Items = append(m.Items, s)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "omissions") {
		o := &Omission{
			Ref: fmt.Sprintf("o%d", i), Tokens: token.Count(rapid.IntRange(0, 900).Draw(t, "tokens")),
			Score: anyScore(t), Reason: rapid.SampledFrom(Excluded()).Draw(t, "reason"),
		}
		if rapid.Bool().Draw(t, "artifact") {
			o.Class, o.Row = class.Draw(t, "class"), next()
			h.Candidates++
		}
		m.Items = append(m.Items, o)
	}
	reasons := rapid.Permutation(Excluded()).Draw(t, "reasons")
	for _, reason := range reasons[:rapid.IntRange(0, 3).Draw(t, "sets")] {
		rows := make([]int64, rapid.IntRange(1, 60).Draw(t, "rows"))
		for i := range rows {
			rows[i] = next()
		}
		m.Items = append(m.Items, &Set{Reason: reason, Count: len(rows), Rows: rowsOf(rows...)})
		h.Candidates += len(rows)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "fetches") {
		f := &Fetch{Ref: fmt.Sprintf("s%d", i), Outcome: rapid.SampledFrom([]FetchOutcome{OutcomeUnchanged, OutcomeChanged, OutcomeGone, OutcomeForbidden, OutcomeUnavailable}).Draw(t, "outcome"), From: rapid.Int64Range(0, 9).Draw(t, "from")}
		switch f.Outcome {
		case OutcomeUnchanged:
			f.To = f.From
		case OutcomeChanged:
			f.To = f.From + 1
		case OutcomeGone, OutcomeForbidden, OutcomeUnavailable:
		}
		m.Items = append(m.Items, f)
	}
	m.Items = append(m.Items, &Output{Bytes: size, Commit: anyDigest(t)})

	h.ID = "m_" + rapid.StringMatching(`[0-9a-f]{8,64}`).Draw(t, "id")
	h.Scope, h.Actor, h.Policy = anyName.Draw(t, "scope"), anyName.Draw(t, "actor"), anyName.Draw(t, "policy")
	h.Created = time.UnixMilli(rapid.Int64Range(0, 253402300799999).Draw(t, "created")).UTC()
	if h.Session = transcript.SessionID(optional(t, "session", anyName)); h.Session != "" {
		h.Revision = rapid.Int64Range(0, maxExact).Draw(t, "revision")
	}
	h.Version = rapid.Int64Range(0, maxExact).Draw(t, "version")
	h.Format, h.Encoding = anyName.Draw(t, "format"), anyName.Draw(t, "encoding")
	h.Reserve = token.Count(rapid.IntRange(0, 1000).Draw(t, "reserve"))
	h.Budget = h.Total + h.Reserve + token.Count(rapid.IntRange(0, 1000).Draw(t, "free"))
	h.Demand = token.Count(rapid.IntRange(0, 100_000).Draw(t, "demand"))
	h.Tier = rapid.SampledFrom(tier.Tiers()).Draw(t, "tier")
	h.Review = h.Tier == tier.Minimal || rapid.Bool().Draw(t, "review")
	h.Query = optional(t, "query", anyName)
	if h.Semantic = optional(t, "semantic", anyName); h.Semantic != "" {
		h.SemanticCalls = rapid.IntRange(0, 100).Draw(t, "calls")
	}
	return m
}

// What is sealed reads back as it was, verifies, and is canonical in the eyes
// of a program that is not ours. So it is after any redaction.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyManifest(t)
		s, err := Seal(m, chance(rapid.Byte().Draw(t, "salts")))
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, m, s)
		out := rapid.SliceOfN(rapid.Bool(), len(m.Items), len(m.Items)).Draw(t, "redacted")
		r := redact(s, out)
		if r.Seal() != s.Seal() {
			t.Fatalf("the seal is %v after a redaction, want %v", r.Seal(), s.Seal())
		}
		checkRoundTrip(t, r.Manifest(), r)
	})
}

// redact takes out the items that are marked.
func redact(s *Sealed, out []bool) *Sealed {
	return s.Redact(func(it Item) bool { return out[slices.Index(s.Manifest().Items, it)] })
}

func checkRoundTrip(t *rapid.T, m *Manifest, s *Sealed) {
	got, err := Parse(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got.Manifest()); diff != "" {
		t.Fatalf("manifest (-sealed +parsed):\n%s", diff)
	}
	if !bytes.Equal(got.Bytes(), s.Bytes()) || got.Seal() != s.Seal() {
		t.Fatalf("bytes or seal changed")
	}
	if err := got.Verify(); err != nil {
		t.Fatal(err)
	}
	if err := verifyAlone(s.Bytes()); err != nil {
		t.Fatalf("the other verifier: %v", err)
	}
	canonical, err := jcs.Transform(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(canonical, s.Bytes()) {
		t.Fatalf("not canonical:\n%s\nwant\n%s", s.Bytes(), canonical)
	}
}

// found reports whether Parse or Verify finds a fault.
func found(data []byte) bool {
	s, err := Parse(data)
	return err != nil || s.Verify() != nil
}

// No bit of a document can change without being found, whether something was
// taken out or not. The other verifier agrees.
func TestEveryBitCounts(t *testing.T) {
	m := small()
	m.Items = []Item{m.Items[1], m.Items[3], m.Items[7], m.Items[9], m.Items[10]}
	m.Items[0].(*Segment).Start, m.Items[4].(*Output).Bytes = 0, 17
	m.Header.Total, m.Header.Candidates = 6, 4
	s := mustSeal(t, m)
	for _, s := range []*Sealed{s, redact(s, []bool{true, false, true, false, true})} {
		data := slices.Clone(s.Bytes())
		if found(data) {
			t.Fatal("a fault is found in what nobody changed")
		}
		for i := range data {
			for bit := range 8 {
				data[i] ^= 1 << bit
				if !found(data) {
					t.Errorf("bit %d of byte %d: not found: …%s…", bit, i, data[max(0, i-20):min(len(data), i+20)])
				}
				data[i] ^= 1 << bit
			}
		}
		for i := range data {
			if !found(data[:i]) || !found(slices.Delete(slices.Clone(data), i, i+1)) {
				t.Errorf("not found: cut at byte %d, or without it", i)
			}
		}
	}
}

func TestBitsOfALargeDocumentCount(t *testing.T) {
	data := slices.Clone(mustSeal(t, large(400)).Bytes())
	if found(data) {
		t.Fatal("a fault is found in what nobody changed")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		i, bit := random.IntN(len(data)), random.IntN(8)
		data[i] ^= 1 << bit
		if !found(data) {
			t.Errorf("bit %d of byte %d: not found", bit, i)
		}
		data[i] ^= 1 << bit
	}
}

// Two items that change places, or one that is repeated or missing, break the
// seal even if the document is well formed.
func TestOrderCounts(t *testing.T) {
	s := mustSeal(t, small())
	for name, change := range map[string]func(*Sealed){
		"swap": func(s *Sealed) {
			s.manifest.Items[3], s.manifest.Items[4] = s.manifest.Items[4], s.manifest.Items[3]
			s.salts[3], s.salts[4] = s.salts[4], s.salts[3]
		},
		"swapped salts": func(s *Sealed) { s.salts[3], s.salts[4] = s.salts[4], s.salts[3] },
		"missing":       func(s *Sealed) { s.manifest.Items, s.salts = s.manifest.Items[1:], s.salts[1:] },
		"repeated": func(s *Sealed) {
			s.manifest.Items, s.salts = append(s.manifest.Items[:1:1], s.manifest.Items...), append(s.salts[:1:1], s.salts...)
		},
	} {
		c := redact(s, make([]bool, len(s.salts)))
		change(c)
		if err := c.Verify(); !errors.Is(err, ErrSeal) {
			t.Errorf("%s: %v, want ErrSeal", name, err)
		}
		got, err := Parse(write(&c.manifest, c.salts).end(c.seal))
		if err == nil {
			err = got.Verify()
		}
		if !errors.Is(err, ErrSeal) {
			t.Errorf("%s, parsed: %v, want ErrSeal", name, err)
		}
	}
}

// What was taken out is gone from the bytes, and so is the salt, without which
// the digest that stays cannot be confirmed, even by one who guesses the item.
func TestRedactedItemCannotBeConfirmed(t *testing.T) {
	s := mustSeal(t, small())
	r := s.Redact(func(it Item) bool {
		seg, ok := it.(*Segment)
		return ok && seg.Ref == "a41c09de"
	})
	if r.Redacted() != 1 || r.Seal() != s.Seal() || r.Verify() != nil {
		t.Fatalf("%d redacted, seal %v, %v", r.Redacted(), r.Seal(), r.Verify())
	}
	salt, d := s.salts[1], s.digests()[1]
	doc := string(r.Bytes())
	for _, secret := range []string{hex.EncodeToString(salt[:]), `"c_02"`, s.Manifest().Items[1].(*Segment).Commit.String()} {
		if !strings.Contains(string(s.Bytes()), secret) || strings.Contains(doc, secret) {
			t.Errorf("%q must be in the document before and not after", secret)
		}
	}
	if !strings.Contains(doc, d.String()) {
		t.Errorf("the digest %v is not in the document", d)
	}
	if r.salts[1] != (digest.Salt{}) {
		t.Error("the salt is still in memory")
	}

	// A digest under any salt that is left is another one.
	guess := &Manifest{Items: []Item{s.Manifest().Items[1]}}
	for i, left := range append(r.salts, digest.Salt{}) {
		salts := []digest.Salt{left}
		write(guess, salts).each(guess, salts, func(sum []byte) {
			if digest.Digest(sum) == d {
				t.Errorf("the salt of item %d confirms the guess", i)
			}
		})
	}
	again := r.Redact(func(it Item) bool { _, ok := it.(*Set); return ok })
	if again.Redacted() != 3 || again.Seal() != s.Seal() || again.Verify() != nil {
		t.Errorf("%d redacted, seal %v, %v", again.Redacted(), again.Seal(), again.Verify())
	}
	if s.Redacted() != 0 || s.Verify() != nil {
		t.Error("redaction changed what it was made from")
	}
}

func TestProof(t *testing.T) {
	s := mustSeal(t, small())
	for i, want := range s.Manifest().Items {
		p, ok := s.Proof(i)
		if !ok {
			t.Fatalf("no proof for item %d", i)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var read Proof
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		got, err := VerifyItem(s.Seal(), &read)
		if err != nil || len(read.Before) != i {
			t.Fatalf("item %d: %v at %d", i, err, len(read.Before))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("item %d (-want +got):\n%s", i, diff)
		}
	}
	for _, i := range []int{-1, len(s.Manifest().Items)} {
		if _, ok := s.Proof(i); ok {
			t.Errorf("there is a proof for item %d", i)
		}
	}
	if _, ok := s.Redact(func(Item) bool { return true }).Proof(0); ok {
		t.Error("there is a proof for what was taken out")
	}
}

func TestProofIsRefused(t *testing.T) {
	s := mustSeal(t, small())
	for _, tt := range []struct {
		name   string
		change func(p *Proof)
		want   error
	}{
		{"another item", func(p *Proof) { p.Item = strings.Replace(p.Item, "3900", "3901", 1) }, ErrSeal},
		{"another salt", func(p *Proof) { p.Salt[0] ^= 1 }, ErrSeal},
		{"another header", func(p *Proof) { p.Header[31] ^= 1 }, ErrSeal},
		{"another place", func(p *Proof) { p.Before, p.After = p.Before[1:], append(p.After, p.Before[0]) }, ErrSeal},
		{"an item less", func(p *Proof) { p.After = p.After[1:] }, ErrSeal},
		{"a space in the item", func(p *Proof) { p.Item += " " }, ErrFormat},
		{"no item", func(p *Proof) { p.Item = "{}" }, ErrFormat},
		{"two items", func(p *Proof) { p.Item += p.Item }, ErrFormat},
		{"an item that cannot be", func(p *Proof) { p.Item = strings.Replace(p.Item, "over_budget", "fits", 1) }, ErrFormat},
		{"no JSON", func(p *Proof) { p.Item = "" }, ErrFormat},
	} {
		p, _ := s.Proof(3)
		tt.change(p)
		if _, err := VerifyItem(s.Seal(), p); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// In whichever field somebody puts a sentence, it does not get in.
func TestFreeTextIsRefused(t *testing.T) {
	s := mustSeal(t, small())
	for _, text := range []string{"my password is hunter2", "", "größer", "a\nb", "<b>", `"`, "-a", strings.Repeat("a", MaxName+1)} {
		fields := 0
		var walk func(v any, set func(any))
		var doc any
		if err := json.Unmarshal(s.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		walk = func(v any, set func(any)) {
			switch v := v.(type) {
			case map[string]any:
				for k := range v {
					walk(v[k], func(n any) { v[k] = n })
				}
			case []any:
				for i := range v {
					walk(v[i], func(n any) { v[i] = n })
				}
			case string:
				set(text)
				fields++
				data, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				if data, err = jcs.Transform(data); err != nil {
					t.Fatal(err)
				}
				if _, err := Parse(data); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrSchema) {
					t.Errorf("%q in place of %q is accepted: %v", text, v, err)
				}
				set(v)
			}
		}
		walk(doc, nil)
		if fields < 50 {
			t.Errorf("only %d fields were tried", fields)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := string(mustSeal(t, small()).Bytes())
	for _, tt := range []struct {
		name, old, new string
		want           error
		text           string
	}{
		{"an unknown key in the header", `"policy":`, `"pokicy":`, ErrFormat, "header.pokicy: unknown key"},
		{"an unknown key in the document", `"schema":`, `"more":1,"schema":`, ErrFormat, "more: unknown key"},
		{"an unknown key in an item", `"cell":"c_01"`, `"cell":"c_01","chat":"hi"`, ErrFormat, "unknown key"},
		{"a key that comes twice", `"actor":"user"`, `"actor":"user","actor":"user"`, ErrFormat, "comes twice"},
		{"a later version", "manifest.v1", "manifest.v2", ErrSchema, `"carrel.manifest.v2", want "carrel.manifest.v1"`},
		{"a space", `{"header"`, `{ "header"`, ErrFormat, "offset 1: not in canonical form"},
		{"a space at the end", `"}`, `"} `, ErrFormat, "offset"},
		{"keys in another order", `"actor":"user","budget":100`, `"budget":100,"actor":"user"`, ErrFormat, "offset 12"},
		{"an escape", `"user"`, `"us\u0065r"`, ErrFormat, "not in canonical form"},
		{"digits in upper case", `"salt":"`, `"salt":"A`, ErrFormat, "64 hexadecimal digits"},
		{"a float", `"budget":100`, `"budget":1e2`, ErrFormat, "want a whole number"},
		{"a negative number", `"budget":100`, `"budget":-1`, ErrFormat, "want a whole number"},
		{"a large number", `"budget":100`, `"budget":2147483648`, ErrFormat, "from 0 to 2147483647"},
		{"a version that is not exact", `"version":9`, `"version":9007199254740992`, ErrFormat, "from 0 to 9007199254740991"},
		{"a score over one", `"provenance":1000000`, `"provenance":1000001`, ErrFormat, "from 0 to 1000000"},
		{"zero where it is left out", `"fetched":true,`, `"neutralized":0,`, ErrFormat, "key \"neutralized\" comes twice"},
		{"false where it is left out", `"fetched":true`, `"fetched":false`, ErrFormat, "want true"},
		{"null", `"review"`, `"review":null`, ErrFormat, ""},
		{"a missing key", `"budget":100,`, ``, ErrFormat, "a required key is missing"},
		{"no header", `"header"`, `"head"`, ErrFormat, "head: unknown key"},
		{"no schema", `"schema":"carrel.manifest.v1",`, ``, ErrFormat, "a required key is missing"},
		{"an item without a salt", `,"salt":`, `,"digest":`, ErrFormat, "not in canonical form"},
		{"a salt alone", `"items":[`, `"items":[{"salt":"` + strings.Repeat("ab", 32) + `"},`, ErrFormat, "neither item nor digest"},
		{"an unknown reason", `"expired"`, `"tired"`, ErrFormat, `"tired" is no reason to be left out`},
		{"a reason of another item", `"expired"`, `"fits"`, ErrFormat, `"fits" is no reason to be left out`},
		{"rows in another form", `"1-312"`, `"1-311,312"`, ErrFormat, "are not in canonical form"},
		{"another count", `"count":312`, `"count":313`, ErrFormat, "count is 313, and there are 312 rows"},
		{"a time without milliseconds", `00.007Z`, `00Z`, ErrFormat, ""},
		{"a time elsewhere", `00.007Z`, `00.007+01:00`, ErrFormat, "want a time such as"},
	} {
		data := strings.Replace(good, tt.old, tt.new, 1)
		if tt.old == `"review"` {
			data = strings.Replace(good, `"revision"`, `"review":null,"revision"`, 1)
		}
		if tt.old == `"}` {
			data = good + " "
		}
		if data == good {
			t.Errorf("%s: nothing changed", tt.name)
		}
		_, err := Parse([]byte(data))
		if !errors.Is(err, tt.want) || err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %v: …%s…", tt.name, err, tt.want, tt.text)
		}
	}
	for _, data := range []string{"", "[]", "null", "{}", good + good, "\xef\xbb\xbf" + good} {
		if _, err := Parse([]byte(data)); !errors.Is(err, ErrFormat) {
			t.Errorf("Parse(%.20q): %v, want ErrFormat", data, err)
		}
	}
}

// Parse never panics, and what it takes it would write.
func FuzzParse(f *testing.F) {
	s := mustSeal(f, small())
	f.Add(s.Bytes())
	f.Add(s.Redact(func(it Item) bool { _, ok := it.(*Segment); return ok }).Bytes())
	f.Add(s.Redact(func(Item) bool { return true }).Bytes())
	f.Add([]byte(`{"header":{},"items":[{"item":{"set":{"count":1,"reason":"tier","rows":"b64:9:AQ"}},"salt":""}],"schema":"carrel.manifest.v1","seal":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Bytes(), data) {
			t.Fatalf("%s reads as %s", data, s.Bytes())
		}
		if canonical, err := jcs.Transform(data); err != nil || !bytes.Equal(canonical, data) {
			t.Fatalf("%s is accepted and not canonical: %v", data, err)
		}
		verify := s.Verify()
		if alone := verifyAlone(data); errors.Is(verify, ErrSeal) != (alone != nil) {
			t.Fatalf("%s: %v, and the other verifier: %v", data, verify, alone)
		}
		for i := range s.Manifest().Items {
			if p, ok := s.Proof(i); ok && verify == nil {
				if _, err := VerifyItem(s.Seal(), p); err != nil {
					t.Fatalf("item %d: %v", i, err)
				}
			}
		}
	})
}

func TestSealRefuses(t *testing.T) {
	m := small()
	m.Header.Total++
	if _, err := Seal(m, chance(1)); !errors.As(err, new(*CheckError)) {
		t.Errorf("a wrong total: %v, want a CheckError", err)
	}
	if _, err := Seal(small(), strings.NewReader("short")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("too little randomness: %v, want ErrUnexpectedEOF", err)
	}
}

// A seal that is right over a manifest that is not is found, too.
func TestVerifyChecks(t *testing.T) {
	s := mustSeal(t, small())
	s.manifest.Header.Total++
	s.seal = write(&s.manifest, s.salts).seal(&s.manifest, s.salts)
	if err := s.Verify(); !errors.As(err, new(*CheckError)) {
		t.Errorf("Verify: %v, want a CheckError", err)
	}
}

// The salts of all cells are in the key of the output, in their order.
func TestCommitOutput(t *testing.T) {
	a, b := digest.Salt{1}, digest.Salt{2}
	base := CommitOutput([]digest.Salt{a, b}, []byte("x"))
	for name, other := range map[string]digest.Digest{
		"order":  CommitOutput([]digest.Salt{b, a}, []byte("x")),
		"fewer":  CommitOutput([]digest.Salt{a}, []byte("x")),
		"more":   CommitOutput([]digest.Salt{a, b, b}, []byte("x")),
		"output": CommitOutput([]digest.Salt{a, b}, []byte("y")),
	} {
		if other.Equal(base) {
			t.Errorf("another %s gives the same commitment", name)
		}
	}
}

// large returns a manifest with n segments.
func large(n int) *Manifest {
	m := small()
	output := m.Items[len(m.Items)-1].(*Output)
	output.Bytes = 0
	m.Items = nil
	m.Header.Total = 0
	for i := range n {
		m.Items = append(m.Items, &Segment{
			Kind: KindArtifact, Cell: fmt.Sprintf("%032x", i), Commit: digest.Of([]byte{byte(i), byte(i >> 8)}),
			Start: output.Bytes, Bytes: 400 + i, Tokens: 100, Ref: fmt.Sprintf("%016x", i*7919), Row: int64(i) + 1, Version: 2,
			Class: provenance.Retrieved, Form: FormWhole, Reason: ReasonFits,
			Score: &Score{Recency: 431_000, Provenance: 700_000, Semantic: 12_345, First: 580_000, Total: ratio.Ratio(999_999 - i), Tag: TagYellow},
		})
		output.Bytes += 400 + i
		m.Header.Total += 100
	}
	m.Items = append(m.Items, output)
	m.Header.Candidates, m.Header.Budget = n, m.Header.Total+m.Header.Reserve
	return m
}

func BenchmarkSeal(b *testing.B) {
	for _, n := range []int{100, 1000} {
		m, random := large(n), chance(1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Seal(m, random); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncode writes what BenchmarkSeal seals, without hashing it.
func BenchmarkEncode(b *testing.B) {
	m := large(1000)
	salts := make([]digest.Salt, len(m.Items))
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(write(m, salts).end(digest.Digest{}))))
	}
}

func BenchmarkParse(b *testing.B) {
	s := mustSeal(b, large(1000))
	b.SetBytes(int64(len(s.Bytes())))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(s.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	s := mustSeal(b, large(1000))
	b.SetBytes(int64(len(s.Bytes())))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}
