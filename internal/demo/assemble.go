package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact/origin"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/tier"
)

// deskScope is the scope of the support desk in the demonstration.
const deskScope governance.Scope = "acme/support"

// Assemble runs the worked example of the OS-paged context engine: a store of 847 artifacts,
// one question, 40,000 tokens. It writes its store and the context to the folder dir, which
// must exist, and reports each step on out.
func Assemble(ctx context.Context, out io.Writer, dir, program string) error {
	return assemble(ctx, out, dir, program, inFile)
}

func assemble(ctx context.Context, out io.Writer, dir, program string, at opener) error {
	d := &demo{out: out, dir: dir, program: program, at: at, scope: deskScope}
	fmt.Fprintf(out, "carrel demo assemble · no network, no model, clock fixed at %s\n\n", clock().Format(time.DateOnly))
	if err := errors.Join(d.assemble(ctx), d.close()); err != nil {
		return err
	}
	scope := "--scope " + string(d.scope)
	return d.sum("the context lies", scope+" manifest show @last", scope+" manifest explain @last d0003", scope+" review")
}

func (d *demo) assemble(ctx context.Context) error {
	kb := filepath.Join(d.dir, "knowledge-base")
	if err := os.MkdirAll(kb, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(kb, policyFile), []byte(oldPolicy), 0o600); err != nil {
		return err
	}
	var err error
	if d.store, err = d.at(ctx, d.path()); err != nil {
		return err
	}
	d.engine, err = carrel.New(d.store, &carrel.Options{
		Now: clock, Sources: origin.New(&origin.Options{Files: []string{kb}}),
	})
	if err != nil {
		return err
	}
	stored, err := carrel.Items(d.engine.Put(ctx, d.scope, &carrel.PutRequest{Artifacts: desk(clock())}))
	if err != nil {
		return err
	}
	expired := 0
	for _, a := range stored {
		if a.Expired {
			expired++
		}
	}
	d.check(len(stored) == deskArtifact && expired == deskExpired, "%d artifacts are stored, %d have expired", len(stored), expired)
	d.report("store", "%d artifacts: memories, articles, tickets, chats, notes", len(stored))

	// The policy file changes, and the store is not notified.
	if err := os.WriteFile(filepath.Join(kb, policyFile), []byte(newPolicy), 0o600); err != nil {
		return err
	}
	r, err := d.engine.Assemble(ctx, d.scope, &carrel.AssembleRequest{
		Query: question, System: "You are the billing desk of Acme. Answer from the artifacts and name the one you used.", Budget: 40_000,
	})
	if err != nil {
		return err
	}
	d.used(r)
	if err := os.WriteFile(filepath.Join(d.dir, "context.txt"), r.Data, 0o600); err != nil {
		return err
	}
	if err := d.account(ctx, r); err != nil {
		return err
	}
	return d.gate(ctx, r)
}

// used reports which artifacts are in the context and which were left out, and checks the numbers.
func (d *demo) used(r *carrel.AssembleResult) {
	distrusted := r.Left[manifest.ReasonDistrusted]
	d.report("triage", "%d expired, %d notes below the trust threshold, %d scored by meaning", r.Left[manifest.ReasonExpired], distrusted, r.SemanticCalls)
	d.check(r.Candidates == deskArtifact, "%d artifacts were considered", r.Candidates)
	d.check(r.Left[manifest.ReasonExpired] == deskExpired, "%d were left out because they had expired", r.Left[manifest.ReasonExpired])
	d.check(r.SemanticCalls <= 20 && r.SemanticCalls >= 15, "%d were scored by meaning", r.SemanticCalls)

	fetched := ""
	for _, u := range r.Used {
		if u.Fetched {
			fetched = u.Title
		}
		d.check(u.Class != provenance.Scratchpad, "a note of the scratchpad is in")
	}
	d.check(fetched == "Refund policy" && bytes.Contains(r.Data, []byte("Refunds of up to $400")), "the changed policy was fetched again before it was used")
	d.check(!bytes.Contains(r.Data, []byte("up to $200")), "no limit of $200 is in the context")
	d.report("page", "1 dirty: %q had changed and was fetched again", fetched)

	share := 100 * int64(r.TokenCount) / int64(r.Budget)
	d.report("assemble", "%d used · %s of %s tokens (%d%%) · tier %s", len(r.Used), group(int(r.TokenCount)), group(int(r.Budget)), share, r.Tier)
	d.check(r.TokenCount <= 31_200 && len(r.Used) >= 10, "%d tokens of %d artifacts are in", r.TokenCount, len(r.Used))
	d.check(r.Tier == tier.Full, "the tier is %s", r.Tier)
}

// account checks that the manifest explains every artifact, that the engine can verify the
// manifest, and that a replay of it gives the same bytes.
func (d *demo) account(ctx context.Context, r *carrel.AssembleResult) error {
	sealed, err := carrel.SealedOf(d.engine.Manifest(ctx, d.scope, &carrel.IDRequest{ID: r.Manifest}))
	if err != nil {
		return err
	}
	explained := 0
	for i := range deskArtifact {
		if _, _, ok := sealed.Manifest().Explain(fmt.Sprintf("d%04d", i+1), int64(i+1)); ok {
			explained++
		}
	}
	d.check(explained == deskArtifact, "the manifest explains %d of %d artifacts", explained, deskArtifact)
	v, err := d.engine.VerifyManifest(ctx, d.scope, &carrel.IDRequest{ID: r.Manifest})
	if err != nil {
		return err
	}
	d.check(v.Output, "the manifest verifies")
	again, err := d.engine.Replay(ctx, d.scope, &carrel.IDRequest{ID: r.Manifest})
	if err != nil {
		return err
	}
	d.check(bytes.Equal(again.Data, r.Data), "a replay gives the same bytes")
	d.report("manifest", "%s explains %d of %d · %d segments verify · replayed byte for byte", r.Manifest, explained, deskArtifact, v.Segments)
	return nil
}

// gate proposes three memories. It checks that the gate commits one, holds one, and refuses the one
// that only repeats the prompt.
func (d *demo) gate(ctx context.Context, r *carrel.AssembleResult) error {
	commit := func(text string, confidence float64) (*carrel.CommitResult, error) {
		v := &assembly.Verdict{Evaluator: "billing-rules", Confidence: confidence}
		d.engine.Bind(v, d.scope, text)
		return d.engine.Commit(ctx, d.scope, &carrel.CommitRequest{Manifest: r.Manifest, Text: text, Verdict: v})
	}
	good, err := commit("INV-7731 was a duplicate charge of $380 and has been refunded in full on the first of January.", 0.88)
	if err != nil {
		return err
	}
	d.check(good.Outcome == assembly.Commit, "confidence 0.88 is %s %v", good.Outcome, good.Reasons)
	weak, err := commit("Customers on the Business plan probably never dispute what they are charged.", 0.69)
	if err != nil {
		return err
	}
	d.check(weak.Outcome == assembly.Hold, "confidence 0.69 is %s %v", weak.Outcome, weak.Reasons)
	before, err := carrel.Items(d.engine.Log(ctx, d.scope, &carrel.LogRequest{}))
	if err != nil {
		return err
	}
	echo, err := commit(question, 0.99)
	if err != nil {
		return err
	}
	after, err := carrel.Items(d.engine.Log(ctx, d.scope, &carrel.LogRequest{}))
	if err != nil {
		return err
	}
	d.check(echo.Outcome == assembly.Refuse && len(before) == len(after), "an echo of the prompt is %s", echo.Outcome)
	d.report("gate", "confidence 0.88: committed · 0.69: held for review · an echo of the prompt: refused")
	return nil
}
