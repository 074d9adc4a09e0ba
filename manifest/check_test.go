package manifest

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
)

func TestCheck(t *testing.T) {
	if err := small().Check(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(m *Manifest)
		item   int
		want   string
	}{
		{"a gap", func(m *Manifest) { segment(m, 1).Start = 17 }, 1, "it starts at byte 17, want 16"},
		{"an overlap", func(m *Manifest) { segment(m, 1).Start = 15 }, 1, "it starts at byte 15, want 16"},
		{"an empty segment", func(m *Manifest) { segment(m, 0).Bytes = 0 }, 0, "bytes is 0, want 1 to 2147483647"},
		{"an output that is longer", func(m *Manifest) { m.Items[10].(*Output).Bytes++ }, -1, "the segments have 38 bytes, and the output has 39"},
		{"an output of less than nothing", func(m *Manifest) { m.Items[10].(*Output).Bytes = -1 }, 10, "bytes is -1"},
		{"another total", func(m *Manifest) { m.Header.Total++ }, -1, "the segments have 13 tokens, and the total is 14"},
		{"over budget", func(m *Manifest) { m.Header.Budget = 32 }, -1, "the total of 13 tokens is over the budget of 32 less the reserve of 20"},
		{"a reserve over the budget", func(m *Manifest) { m.Header.Reserve = 101 }, -1, "is over the budget of 100 less the reserve of 101"},
		{"another number of candidates", func(m *Manifest) { m.Header.Candidates-- }, -1, "317 artifacts are mentioned, and there were 316 candidates"},
		{"a time before 1970", func(m *Manifest) { m.Header.Created = time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC) }, -1, "created is in the year 1969"},
		{"a time behind 9999", func(m *Manifest) { m.Header.Created = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, -1, "created is in the year 10000"},
		{"no output", func(m *Manifest) { m.Items = m.Items[:10] }, -1, "there is no output"},
		{"two outputs", func(m *Manifest) { m.Items = append(m.Items, m.Items[10]) }, 11, "it comes after the output, which must be last"},
		{"another order", func(m *Manifest) { m.Items[2], m.Items[3] = m.Items[3], m.Items[2] }, 3, "the order is segments, omissions, sets, fetches, output"},
		{"a ref in a segment and an omission", func(m *Manifest) { omission(m, 3).Ref = "a41c09de" }, 3, "item 1 is about a41c09de, too"},
		{"a ref fetched twice", func(m *Manifest) { m.Items[9].(*Fetch).Ref = "a41c09de" }, 9, "item 8 is about a41c09de, too"},
		{"a row in a segment and a set", func(m *Manifest) { segment(m, 1).Row = 7 }, 6, "item 1 has row 7, too"},
		{"a row in two sets", func(m *Manifest) { m.Items[7].(*Set).Rows = rowsOf(312, 400) }, 7, "item 6 has row 312, too"},
		{"two sets for a reason", func(m *Manifest) { m.Items[7].(*Set).Reason = m.Items[6].(*Set).Reason }, 7, "item 6 is the set of what is expired, too"},
		{"a row in two omissions", func(m *Manifest) { omission(m, 4).Row = 402 }, 4, "item 3 has row 402, too"},
		{"nil", func(m *Manifest) { m.Items[0] = nil }, 0, "it is nil"},
		{"a nil segment", func(m *Manifest) { m.Items[0] = (*Segment)(nil) }, 0, "it is nil"},
		{"a nil omission", func(m *Manifest) { m.Items[3] = (*Omission)(nil) }, 3, "it is nil"},
		{"a nil set", func(m *Manifest) { m.Items[6] = (*Set)(nil) }, 6, "it is nil"},
		{"a nil fetch", func(m *Manifest) { m.Items[8] = (*Fetch)(nil) }, 8, "it is nil"},
		{"a nil output", func(m *Manifest) { m.Items[10] = (*Output)(nil) }, 10, "it is nil"},
		{"what was taken out", func(m *Manifest) { m.Items[3] = new(Redacted) }, 3, "it is redacted, so it cannot be checked"},

		{"a segment with the reason of an omission", func(m *Manifest) { segment(m, 1).Reason = ReasonCrowded }, 1, `"crowded" is no reason to be in`},
		{"a segment without a reason", func(m *Manifest) { segment(m, 1).Reason = "" }, 1, `"" is no reason to be in`},
		{"an omission with the reason of a segment", func(m *Manifest) { omission(m, 3).Reason = ReasonPinned }, 3, `"pinned" is no reason to be left out`},
		{"a set without a reason", func(m *Manifest) { m.Items[6].(*Set).Reason = "" }, 6, `"" is no reason to be left out`},
		{"an unknown kind", func(m *Manifest) { segment(m, 0).Kind = "chat" }, 0, `there is no kind "chat"`},
		{"an unknown class", func(m *Manifest) { segment(m, 1).Class = "rag" }, 1, `unknown class "rag"`},
		{"an omission of an unknown class", func(m *Manifest) { omission(m, 3).Class = "rag" }, 3, `unknown class "rag"`},
		{"an unknown form", func(m *Manifest) { segment(m, 1).Form = "half" }, 1, `there is no form "half"`},
		{"an unknown tag", func(m *Manifest) { segment(m, 1).Score.Tag = "blue" }, 1, `there is no tag "blue"`},
		{"an unknown outcome", func(m *Manifest) { m.Items[8].(*Fetch).Outcome = "lost" }, 8, `there is no outcome "lost"`},
		{"a cell with a space", func(m *Manifest) { segment(m, 0).Cell = "my cell" }, 0, `cell "my cell" is not a name`},
		{"a ref with a space", func(m *Manifest) { segment(m, 0).Ref = "my ref" }, 0, `ref "my ref" is not a name`},
		{"an omission of nothing", func(m *Manifest) { omission(m, 3).Ref = "" }, 3, `ref "" is not a name`},
		{"a fetch of nothing", func(m *Manifest) { m.Items[8].(*Fetch).Ref = "" }, 8, `ref "" is not a name`},
		{"an artifact without a ref", func(m *Manifest) { segment(m, 1).Ref = "" }, 1, `ref "" is not a name`},
		{"an artifact without a class", func(m *Manifest) { segment(m, 1).Class = "" }, 1, "it is an artifact without a class"},
		{"a class without a ref", func(m *Manifest) { segment(m, 0).Class = "tool" }, 0, "it has a class and no ref"},
		{"a row without a class", func(m *Manifest) { segment(m, 0).Row = 900 }, 0, "it has a row or a version and no class"},
		{"a version without a class", func(m *Manifest) { segment(m, 0).Version = 9 }, 0, "it has a row or a version and no class"},
		{"an omission with a row and no class", func(m *Manifest) { omission(m, 5).Row = 900 }, 5, "it has a row and no class"},
		{"negative tokens", func(m *Manifest) { segment(m, 0).Tokens = -1 }, 0, "tokens is -1, want 0 to 2147483647"},
		{"an omission of negative tokens", func(m *Manifest) { omission(m, 3).Tokens = -1 }, 3, "tokens is -1"},
		{"a score over one", func(m *Manifest) { segment(m, 1).Score.Total = ratio.One + 1 }, 1, "total is 1000001, want 0 to 1000000"},
		{"a negative score", func(m *Manifest) { omission(m, 3).Score.First = -1 }, 3, "first is -1, want 0 to 1000000"},
		{"a version that is not exact", func(m *Manifest) { segment(m, 1).Version = 1 << 53 }, 1, "version is 9007199254740992"},
		{"an empty set", func(m *Manifest) { *m.Items[7].(*Set) = Set{Reason: ReasonTier} }, 7, "count is 0, want 1"},
		{"a set with another count", func(m *Manifest) { m.Items[7].(*Set).Count = 3 }, 7, "count is 3, and there are 2 rows"},
		{"changed to the same version", func(m *Manifest) { m.Items[8].(*Fetch).To = 2 }, 8, "the outcome is changed, and the version was 2 and is 2"},
		{"changed to no version", func(m *Manifest) { m.Items[8].(*Fetch).To = 0 }, 8, "the outcome is changed, and the version was 2 and is 0"},
		{"gone with a version", func(m *Manifest) { m.Items[9].(*Fetch).To = 5 }, 9, "the outcome is gone, and the version was 5 and is 5"},
		{"a negative version", func(m *Manifest) { m.Items[9].(*Fetch).From = -5 }, 9, "from is -5"},

		{"an id of another form", func(m *Manifest) { m.Header.ID = "m_xyz" }, -1, `id "m_xyz" is not`},
		{"no scope", func(m *Manifest) { m.Header.Scope = "" }, -1, `scope "" is not a name`},
		{"an actor with a sentence", func(m *Manifest) { m.Header.Actor = "Jane Doe, who asked" }, -1, `actor "Jane Doe, who asked" is not a name`},
		{"a long policy", func(m *Manifest) { m.Header.Policy = strings.Repeat("p", 201) }, -1, `policy "pppppppppppppppppppppppppppppppppppppppp…" is not a name`},
		{"a session with a space", func(m *Manifest) { m.Header.Session = "my chat" }, -1, `session "my chat" is not a name`},
		{"a revision of no session", func(m *Manifest) { m.Header.Session = "" }, -1, "there is a revision and no session"},
		{"calls of nothing", func(m *Manifest) { m.Header.Semantic = "" }, -1, "there are semantic calls and nothing that was called"},
		{"an unknown tier", func(m *Manifest) { m.Header.Tier = "tiny" }, -1, `there is no tier "tiny"`},
		{"minimal without a review", func(m *Manifest) { m.Header.Tier = tier.Minimal }, -1, "the tier is minimal and no review is asked for"},
		{"a time in microseconds", func(m *Manifest) { m.Header.Created = m.Header.Created.Add(time.Microsecond) }, -1, "created is not in whole milliseconds"},
		{"a time before 1970 in UTC", func(m *Manifest) { m.Header.Created = time.Date(1970, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600)) }, -1, "created is in the year 1969"},
		{"no time", func(m *Manifest) { m.Header.Created = time.Time{} }, -1, "created is in the year 1, want 1970 to 9999"},
		{"a negative demand", func(m *Manifest) { m.Header.Demand = -1 }, -1, "demand is -1, want 0 to 2147483647"},
		{"a negative revision", func(m *Manifest) { m.Header.Revision = -1 }, -1, "revision is -1"},
	} {
		m := small()
		tt.change(m)
		err := m.Check()
		e, ok := errors.AsType[*CheckError](err)
		if !ok || e.Item != tt.item || !strings.Contains(e.Text, tt.want) {
			t.Errorf("%s: %v, want item %d: %s", tt.name, err, tt.item, tt.want)
		}
		if _, err := Seal(m, chance(1)); err == nil {
			t.Errorf("%s: Seal takes it", tt.name)
		}
	}
}

// A set has 2³¹−1 rows at most.
func TestCheckOfLargeSets(t *testing.T) {
	s := Set{Reason: ReasonTier, Count: math.MaxInt32, Rows: Rows{runs: []run{{1, math.MaxInt32}}}}
	if got := s.check(); got != "" {
		t.Errorf("as many rows as there may be: %s", got)
	}
	s.Count++
	s.Rows.runs[0].last++
	if got := s.check(); !strings.Contains(got, "want 1 to 2147483647") {
		t.Errorf("one more: %q", got)
	}
}

func segment(m *Manifest, i int) *Segment   { return m.Items[i].(*Segment) }
func omission(m *Manifest, i int) *Omission { return m.Items[i].(*Omission) }

func TestYearsOfAManifest(t *testing.T) {
	for _, year := range []int{1970, 9999} {
		m := small()
		m.Header.Created = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := m.Check(); err != nil {
			t.Errorf("%d: %v", year, err)
		}
	}
}

func TestValidName(t *testing.T) {
	for s, want := range map[string]bool{
		"a": true, "0": true, "o200k_base*1.35": true, "acme/web/agent-1": true, "user@example.org": true, "BAAI/bge-m3": true,
		strings.Repeat("x", 200): true, strings.Repeat("x", 201): false, "": false, " a": false, "a b": false, "-a": false,
		".a": false, "é": false, "a\x00": false, "a,b": false, `a"`: false, "a\\": false, "a=b": false, "a?": false,
	} {
		if got := ValidName(s); got != want {
			t.Errorf("ValidName(%q) = %t, want %t", s, got, want)
		}
	}
}

// Each reason is for what is in or for what is not.
func TestReasonsAreApart(t *testing.T) {
	seen := make(map[Reason]bool)
	for _, r := range append(Included(), Excluded()...) {
		if seen[r] {
			t.Errorf("the reason %s comes twice", r)
		}
		seen[r] = true
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"m_01234567": true, "m_" + strings.Repeat("a", 64): true, "m_0123456": false, "m_" + strings.Repeat("a", 65): false,
		"m_0123456g": false, "m_0123456A": false, "01234567": false, "n_01234567": false, "m_": false, "": false, "m_ 1234567": false,
	} {
		if got := validID(id); got != want {
			t.Errorf("validID(%q) = %t", id, got)
		}
	}
}
