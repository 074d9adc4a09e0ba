package contexts

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/manifest"
)

// report returns the result of an assembly, without its data and manifest.
func (e *Contexts) report(src *source, chosen *selection, f *fitted, out *encoded) *api.AssembleResult {
	res := &api.AssembleResult{
		Format: src.formatName(), Encoding: src.meter.Counter.Encoding(), Budget: src.req.Budget,
		Reserve: src.req.Reserve, Demand: f.plan.Demand, TokenCount: f.plan.Total, Tier: f.plan.Tier, Review: f.plan.Review,
		Candidates: chosen.candidates, Semantic: chosen.semantic, SemanticCalls: chosen.calls, Warning: chosen.warning,
		Tags: tags(chosen.scored, f.left), Left: make(map[manifest.Reason]int), Losses: base.List(out.losses), Used: []api.UsedEntry{},
	}
	if src.held != nil {
		res.Window = src.meter.Entries(f.window.Entries)
	}
	for i := range f.parts {
		p := &f.parts[i]
		if p.pick == nil {
			continue
		}
		used := api.UsedEntry{
			Artifact: e.DescribeArtifact(&p.pick.page.Row, &p.pick.page.Note), Form: p.form, InContext: p.tokens,
			Tag: p.pick.Tag, Score: p.pick.Score, Neutralized: p.marks, Fetched: p.pick.fetched(),
		}
		used.Tokens = p.pick.page.Tokens(src.meter.Counter) // by the counter of this context
		res.Used = append(res.Used, used)
		if used.Fetched {
			res.Fetched++
		}
	}
	for reason, n := range omitted(f.left) {
		res.Left[reason] += n
	}
	return res
}
