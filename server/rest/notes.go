package rest

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
)

// The functions of this file add results to the metrics, and attributes to their spans.

func noteImport(o *observation, res *carrel.ImportResult) {
	o.set(attribute.String(attrConversation, string(res.Session)), attribute.Int(attrTokens+"imported", int(res.Tokens)))
	if res.Op != "" {
		o.tokens.Add(float64(res.NewTokens), "imported")
	}
}

func noteCompress(o *observation, res *carrel.CompressResult) {
	o.set(
		attribute.String(attrConversation, string(res.Session)), attribute.Int(attrBudget, int(res.Budget)),
		attribute.Int64(attrTokens+"live", res.Tokens.Live), attribute.Int64(attrTokens+"stub", res.Tokens.Stub),
		attribute.Int64(attrTokens+"cold", res.Tokens.Cold),
	)
	for i := range res.Decisions {
		d := &res.Decisions[i]
		o.decisions.Add(1, string(d.Directive), string(d.Rule))
	}
	if res.Op != "" {
		o.tokens.Add(float64(res.Before-res.After), "paged")
	}
	if res.Probes != nil && res.Probes.Total > 0 {
		o.probes.Observe(float64(res.Probes.Score) / 1e6)
	}
}

func noteRecall(o *observation, res *carrel.RecallResult) {
	record := string(res.Block)
	if res.Artifact != "" {
		record = string(res.Artifact)
	}
	o.set(
		attribute.String(attrOperation, "retrieval"), attribute.String(attrConversation, string(res.Session)),
		attribute.String(attrRecord, record), attribute.Int(attrRecords, 1),
	)
	o.tokens.Add(float64(res.Tokens), "recalled")
}

func noteSearch(o *observation, res *api.List[carrel.Found]) {
	o.set(attribute.String(attrOperation, "search_memory"), attribute.String(attrStore, "carrel"), attribute.Int(attrRecords, len(res.Items)))
}

func noteProbes(o *observation, res *carrel.RunProbesResult) {
	if res.Report == nil || res.Report.Total == 0 {
		return
	}
	score, label := float64(res.Report.Score)/1e6, "refused"
	if res.Verdict != nil && res.Verdict.Accepted {
		label = "accepted"
	}
	o.probes.Observe(score)
	o.span.AddEvent(eventEvaluation, trace.WithAttributes(
		attribute.String(attrEvaluation, "probes"), attribute.Float64(attrScore, score), attribute.String(attrScoreLabel, label),
	))
}

func noteAssemble(o *observation, res *carrel.AssembleResult) {
	o.set(
		attribute.Int(attrBudget, int(res.Budget)), attribute.String(attrTier, string(res.Tier)),
		attribute.Int(attrTokens+"total", int(res.TokenCount)), attribute.String(attrManifest, res.Manifest),
	)
	o.tokens.Add(float64(res.TokenCount), "assembled")
}

func noteCommit(o *observation, res *carrel.CommitResult) {
	reasons := make([]string, len(res.Reasons))
	for i, r := range res.Reasons {
		reasons[i] = string(r)
	}
	o.set(
		attribute.String(attrOperation, "create_memory"), attribute.String(attrStore, "carrel"),
		attribute.String(attrGate, string(res.Outcome)), attribute.StringSlice(attrGateReason, reasons),
	)
	if res.Artifact != nil {
		o.set(attribute.String(attrRecord, string(res.Artifact.ID)))
	}
	o.gate.Add(1, string(res.Outcome))
}
