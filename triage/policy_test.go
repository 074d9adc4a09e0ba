package triage

import (
	"maps"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
)

func TestDefaultPolicy(t *testing.T) {
	p := DefaultPolicy()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p.Classes[provenance.Tool] = Scoring{}
	if got := DefaultPolicy().Classes[provenance.Tool]; got == (Scoring{}) {
		t.Error("a change of one default policy changes the next")
	}
}

func TestDefaultPolicyTakesCurveLog(t *testing.T) {
	p := DefaultPolicy()
	p.Curve = CurveLog
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

// set returns a function that changes the scoring of one class.
func set(c provenance.Class, change func(*Scoring)) func(*Policy) {
	return func(p *Policy) {
		r := p.Classes[c]
		change(&r)
		p.Classes[c] = r
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Policy)
		want   string
	}{
		{
			"a class without a rule", func(p *Policy) { delete(p.Classes, provenance.Memory) },
			"invalid triage policy: classes: class memory is missing; add its scoring",
		},
		{
			"a rule without a class", func(p *Policy) { p.Classes["gossip"] = p.Classes[provenance.Tool] },
			`invalid triage policy: unknown class "gossip"`,
		},
		{
			"weights that miss 1 by a millionth", set(provenance.Tool, func(r *Scoring) { r.Recency-- }),
			"invalid triage policy: class tool: weights sum to 0.999999, want 1",
		},
		{
			"a weight below 0", set(provenance.Tool, func(r *Scoring) { r.Recency, r.Semantic = -250_000, ratio.One }),
			"invalid triage policy: class tool: weights are -0.250000, 0.250000, 1.000000, want none below 0",
		},
		{
			"nothing for pass one", set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = 0, 0, ratio.One }),
			"invalid triage policy: class tool: semantic weight is 1, want less: pass one uses the other two weights",
		},
		{
			"a rank above 1", set(provenance.Tool, func(r *Scoring) { r.Rank = ratio.One + 1 }),
			"invalid triage policy: class tool: rank is 1.000001, want 0 to 1",
		},
		{
			"a half-life below what is measured", set(provenance.Tool, func(r *Scoring) { r.HalfLife = time.Millisecond - 1 }),
			"invalid triage policy: class tool: half-life is 999.999µs, want at least 1ms",
		},
		{
			"an unknown curve", func(p *Policy) { p.Curve = "" },
			`invalid triage policy: curve is "", want half-life or log`,
		},
		{
			"trust above 1", func(p *Policy) { p.Trust = ratio.One + 1 },
			"invalid triage policy: trust is 1.000001, want 0 to 1",
		},
		{
			"no places", func(p *Policy) { p.Admit = 0 },
			"invalid triage policy: admit is 0 rows, want at least 1",
		},
		{
			"more to score than to admit", func(p *Policy) { p.Deep = 51 },
			"invalid triage policy: deep is 51 rows, want 1 to 50, the value of admit",
		},
		{
			"provenance below 0", set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = ratio.One, -1, 1 }),
			"invalid triage policy: class tool: weights are 1.000000, -0.000001, 0.000001, want none below 0",
		},
		{
			"semantics below 0", set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = ratio.One, 1, -1 }),
			"invalid triage policy: class tool: weights are 1.000000, 0.000001, -0.000001, want none below 0",
		},
		{
			"a rank below 0", set(provenance.Tool, func(r *Scoring) { r.Rank = -1 }),
			"invalid triage policy: class tool: rank is -0.000001, want 0 to 1",
		},
		{
			"trust below 0", func(p *Policy) { p.Trust = -1 },
			"invalid triage policy: trust is -0.000001, want 0 to 1",
		},
		{
			"a floor above 1", func(p *Policy) { p.Floor = ratio.One + 1 },
			"invalid triage policy: floor is 1.000001, want 0 to 1",
		},
		{
			"nothing to score", func(p *Policy) { p.Deep = 0 },
			"invalid triage policy: deep is 0 rows, want 1 to 50, the value of admit",
		},
		{
			"red above 1", func(p *Policy) { p.Red = ratio.One + 1 },
			"invalid triage policy: red is 1.000001 and yellow is 0.350000, want 0 <= yellow <= red <= 1",
		},
		{
			"yellow below 0", func(p *Policy) { p.Yellow = -1 },
			"invalid triage policy: red is 0.600000 and yellow is -0.000001, want 0 <= yellow <= red <= 1",
		},
		{
			"tags out of order", func(p *Policy) { p.Yellow = 700_000 },
			"invalid triage policy: red is 0.600000 and yellow is 0.700000, want 0 <= yellow <= red <= 1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultPolicy()
			tt.change(p)
			err := p.Validate()
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// Values at the bounds are valid.
func TestValidateAtItsEdges(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"no trust, no floor, no yellow": func(p *Policy) { p.Trust, p.Floor, p.Yellow, p.Red = 0, 0, 0, 0 },
		"all of it":                     func(p *Policy) { p.Trust, p.Floor, p.Yellow, p.Red = ratio.One, ratio.One, ratio.One, ratio.One },
		"yellow from where red is":      func(p *Policy) { p.Yellow = p.Red },
		"one row":                       func(p *Policy) { p.Admit, p.Deep = 1, 1 },
		"all that are admitted":         func(p *Policy) { p.Deep = p.Admit },
		"a millisecond":                 set(provenance.Tool, func(r *Scoring) { r.HalfLife = time.Millisecond }),
		"recency alone":                 set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = ratio.One, 0, 0 }),
		"provenance alone":              set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = 0, ratio.One, 0 }),
		"nearly all semantics":          set(provenance.Tool, func(r *Scoring) { r.Recency, r.Provenance, r.Semantic = 1, 0, ratio.One-1 }),
		"ranks of 0":                    set(provenance.Tool, func(r *Scoring) { r.Rank = 0 }),
		"ranks of 1":                    set(provenance.Tool, func(r *Scoring) { r.Rank = ratio.One }),
	} {
		p := DefaultPolicy()
		change(p)
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTagsAdd(t *testing.T) {
	var tags Tags
	for i, tag := range []manifest.Tag{manifest.TagRed, manifest.TagYellow, manifest.TagGreen, manifest.TagBlack, ""} {
		tags.Add(tag, i+1)
		tags.Add(tag, 10)
	}
	if want := (Tags{11, 12, 13, 14}); tags != want {
		t.Errorf("tags %+v, want %+v", tags, want)
	}
}

// No policy, however invalid, panics or admits dead rows.
func TestUnsoundPolicies(t *testing.T) {
	table := randomTable(500)
	for _, p := range []*Policy{
		{},
		{Admit: -1, Deep: -1},
		{Admit: 10, Deep: 20, Trust: -1},
		{Admit: 10, Deep: 5, Classes: map[provenance.Class]Scoring{provenance.Tool: {Semantic: ratio.One, HalfLife: -1}}},
	} {
		f := p.First(table, noon, someHits(500), nil)
		for _, c := range f.Admitted {
			if r := table.Row(c.Row); r.Flags&(Refuted|Absent) != 0 || !r.Expires.IsZero() && !r.Expires.After(noon) {
				t.Errorf("%+v admits %+v", p, r)
			}
		}
		if _, err := p.Second(f, func(rows []int) ([]ratio.Ratio, error) { return make([]ratio.Ratio, len(rows)), nil }); err != nil {
			t.Error(err)
		}
	}
}

func TestVersion(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*Policy){
		"default":    func(*Policy) {},
		"curve":      func(p *Policy) { p.Curve = CurveLog },
		"trust":      func(p *Policy) { p.Trust++ },
		"admit":      func(p *Policy) { p.Admit++ },
		"deep":       func(p *Policy) { p.Deep++ },
		"red":        func(p *Policy) { p.Red++ },
		"yellow":     func(p *Policy) { p.Yellow++ },
		"recency":    set(provenance.Tool, func(r *Scoring) { r.Recency++ }),
		"provenance": set(provenance.Tool, func(r *Scoring) { r.Provenance++ }),
		"semantic":   set(provenance.Tool, func(r *Scoring) { r.Semantic++ }),
		"floor":      func(p *Policy) { p.Floor++ },
		"rank":       set(provenance.Tool, func(r *Scoring) { r.Rank++ }),
		"half-life":  set(provenance.Tool, func(r *Scoring) { r.HalfLife++ }),
		"class":      set(provenance.Memory, func(r *Scoring) { r.Rank++ }),
	} {
		p := DefaultPolicy()
		change(p)
		v := p.Version()
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s have version %s", name, other, v)
		}
		seen[v] = name
		same := *p
		same.Classes = maps.Clone(p.Classes)
		if got := same.Version(); got != v {
			t.Errorf("%s: equal policies have versions %s and %s", name, v, got)
		}
	}
	// Old manifests refer to this name: a change of the rules must change it.
	if got, want := DefaultPolicy().Version(), "triage/1-b372e412"; got != want {
		t.Errorf("default policy is %s, want %s", got, want)
	}
}
