package enginetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
)

var agreements = []check{
	{"A contract says what was agreed, and holds", agreed},
	{"What contradicts a contract is refused, and changes nothing", contradicted},
	{"A packet carries a session to another agent", handedOver},
}

func agreed(w *world) {
	in := w.imported()
	res := try(w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{
		Session: in.Session, Init: true, Decisions: []string{"pin-go-1.26", `call it <pool> & "done"`}, Questions: []string{"who reviews"},
		Corrections: []carrel.ContractCorrection{{Text: "keep-it-short"}}, Sources: []contract.PayloadSource{{Name: "readme", Text: "It needs Go 1.26."}},
		Verified: []carrel.ContractClaim{{Text: "needs Go 1.26", Source: "readme"}}, ResumeState: "the review",
	})).must(w)
	w.holds(len(res.Added) == res.Total && res.Total > 0 && res.Op != "" && !res.Closed, "%+v", res)
	lines := try(w.Contract(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.same("statements", lines.Statements, res.Added)
	report := try(w.CheckContract(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(len(report.Failures) == 0 && report.Err() == nil && report.Statements > 0, "%+v", report)
	state := try(contract.Replay(slices.Values(lines.Statements))).must(w)
	decisions := state.Texts(contract.TrackedDecisions)
	w.holds(slices.Contains(decisions, "pin-go-1.26") && state.ResumeState() == "the review", "decisions are %q", decisions)

	more := try(w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Answered: []string{"who reviews"}, Close: true})).must(w)
	w.holds(more.Closed && more.Total == res.Total+len(more.Added), "%+v", more)
	_, err := w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Payload: &contract.Payload{}})
	w.fails("a payload for a contract that was begun", err, carrel.ErrRequest)
	_, err = w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Decisions: []string{"late"}})
	w.fails("a contract that is closed", err, carrel.ErrPolicy)
}

func contradicted(w *world) {
	in := w.imported()
	try(w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Init: true, Decisions: []string{"use-indent-tabs"}})).must(w)
	before := try(w.Contract(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)

	_, err := w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Decisions: []string{"use-indent-spaces"}})
	w.fails("a decision that contradicts another", err, carrel.ErrPolicy)
	e, ok := errors.AsType[*contract.ConflictError](err)
	if !ok || e.Decision != "use-indent-spaces" || len(e.Conflicts) != 1 || e.Conflicts[0].Decision != "use-indent-tabs" {
		w.Errorf("the error has no figures: %+v, %v", e, err)
	}
	_, err = w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Rules: []string{`require tracked-decisions includes "never-made"`}})
	w.fails("a rule that fails", err, carrel.ErrPolicy)
	f, ok := errors.AsType[*contract.RunError](err)
	if !ok || len(f.Failures) != 1 || f.Failures[0].Kind != contract.FailedGuard {
		w.Errorf("the error has no figures: %+v, %v", f, err)
	}
	w.same("contract", try(w.Contract(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w), before)
}

func handedOver(w *world) {
	in := w.imported()
	try(w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Init: true, Decisions: []string{"pin-go-1.26"}, Questions: []string{"who reviews"}})).must(w)
	res := try(w.Handoff(w.ctx(), w.in, &carrel.HandoffRequest{Session: in.Session, For: "the night shift", Next: "Merge it.", Title: "pool"})).must(w)
	w.holds(res.Packet != nil && res.Packet.CreatedFor == "the night shift" && res.Packet.Next == "Merge it.", "%+v", res.Packet)
	w.holds(len(res.Packet.Decisions) > 0 && len(res.Packet.Questions) == 1, "%+v", res.Packet)

	text := []byte(res.Packet.Markdown())
	checked := try(w.CheckHandoff(w.ctx(), w.in, &carrel.CheckHandoffRequest{Name: "packet.md", Data: text, Session: in.Session})).must(w)
	w.same("packet", checked.Packet.Markdown(), string(text))
	accepted := try(w.Accept(w.ctx(), w.in, &carrel.AcceptRequest{Name: "packet.md", Data: text})).must(w)
	w.holds(accepted.Session != in.Session && accepted.Contract > 0 && accepted.Op != "", "%+v", accepted)
	lines := try(w.Contract(w.ctx(), w.in, &carrel.SessionRequest{Session: accepted.Session})).must(w)
	w.holds(strings.Contains(strings.Join(lines.Statements, "\n"), "pin-go-1.26"), "the decision was not handed on: %q", lines)
	w.holds(bytes.Contains(w.export(accepted.Session), []byte("Merge it.")), "the packet is not in the window")

	lie := bytes.Replace(text, []byte("pin-go-1.26"), []byte("pin-go-1.27"), 1)
	other := try(w.CheckHandoff(w.ctx(), w.in, &carrel.CheckHandoffRequest{Name: "packet.md", Data: lie, Session: in.Session})).must(w)
	w.holds(len(other.Findings) > len(checked.Findings), "a decision that nobody made goes unnoticed: %+v", other.Findings)
}
