package enginetest

import (
	"context"
	"errors"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

var refusals = []check{
	{"What is not there is not found", notFound},
	{"An abbreviation of several things is ambiguous", ambiguous},
	{"Input that cannot be read says where", unreadable},
	{"A budget that is too small says what holds it up", tooSmall},
	{"A request that makes no sense is refused", senseless},
	{"Who gives up gets no result", givenUp},
	{"Where nothing was sent to a model there are no calls, and a report of none", noCalls},
}

func notFound(w *world) {
	for name, err := range map[string]error{
		"session":         try(w.Session(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"remove session":  try(w.RemoveSession(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"purge session":   try(w.PurgeSession(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"messages":        try(w.Messages(w.ctx(), w.in, &carrel.MessagesRequest{Session: "none"})).err,
		"context":         try(w.Context(w.ctx(), w.in, &carrel.ContextRequest{Session: "none"})).err,
		"cost":            try(w.Cost(w.ctx(), w.in, &carrel.CostRequest{Session: "none"})).err,
		"stats":           try(w.Stats(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"state":           try(w.State(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"journal":         try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: "none"}))).err,
		"contract":        try(w.Contract(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"check contract":  try(w.CheckContract(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"probes":          try(w.Probes(w.ctx(), w.in, &carrel.ProbesRequest{Session: "none"})).err,
		"brief":           try(w.Brief(w.ctx(), w.in, &carrel.BriefRequest{Session: "none"})).err,
		"probe report":    try(w.ProbeReport(w.ctx(), w.in, &carrel.SessionRequest{Session: "none"})).err,
		"export":          try(w.Export(w.ctx(), w.in, &carrel.ExportRequest{Session: "none"})).err,
		"trigger":         try(w.Trigger(w.ctx(), w.in, &carrel.TriggerRequest{Session: "none"})).err,
		"compress":        try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: "none"})).err,
		"undo":            try(w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: "none"})).err,
		"mark":            try(w.Mark(w.ctx(), w.in, &carrel.MarkRequest{Session: "none"})).err,
		"handoff":         try(w.Handoff(w.ctx(), w.in, &carrel.HandoffRequest{Session: "none"})).err,
		"recall":          try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: "ffffffff"})).err,
		"why":             try(w.Why(w.ctx(), w.in, &carrel.BlockRequest{Block: "ffffffff"})).err,
		"get":             try(w.Get(w.ctx(), w.in, &carrel.GetRequest{ID: "ffffffff"})).err,
		"pin artifact":    try(w.PinArtifact(w.ctx(), w.in, &carrel.PinArtifactRequest{ID: "ffffffff", Pinned: true})).err,
		"remove":          try(w.Remove(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{"ffffffff"}})).err,
		"manifest":        try(w.Manifest(w.ctx(), w.in, &carrel.IDRequest{ID: "m_ffffffffffffffff"})).err,
		"diff":            try(w.DiffManifests(w.ctx(), w.in, &carrel.DiffRequest{ID: "m_ffffffffffffffff", Other: "@last"})).err,
		"verify manifest": try(w.VerifyManifest(w.ctx(), w.in, &carrel.IDRequest{ID: "@last"})).err,
		"replay":          try(w.Replay(w.ctx(), w.in, &carrel.IDRequest{ID: "@last"})).err,
		"review":          try(w.Review(w.ctx(), w.in, &carrel.IDRequest{ID: "ffffffff"})).err,
		"decide":          try(w.Decide(w.ctx(), w.in, &carrel.DecideRequest{ID: "ffffffff"})).err,
		"assemble":        try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Session: "none", Budget: 99})).err,
		"a way elsewhere": try(w.Why(w.ctx(), w.in, &carrel.BlockRequest{Block: "../sessions"})).err,
	} {
		w.fails(name, err, store.ErrNotFound)
	}
}

func ambiguous(w *world) {
	in := w.imported()
	seen := make(map[byte]bool)
	for _, b := range w.list(in.Session).Messages {
		first := b.ID[0]
		if !seen[first] {
			seen[first] = true
			continue
		}
		_, err := w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(b.ID[:1])})
		w.fails("the first letter of two blocks", err, carrel.ErrAmbiguous)
		return
	}
	w.Fatal("no two of the blocks begin alike, though there are more than digits")
}

func unreadable(w *world) {
	_, err := w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "notes.txt", Data: []byte("just some notes")})
	w.fails("text", err, carrel.ErrFormat)
	_, err = w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "a.json", Format: "no-such-format", Data: []byte("{}")})
	w.fails("a format that is unknown", err, carrel.ErrFormat)
	broken := []byte("{\"model\":\"gpt-4o\",\"messages\":[\n{\"role\":\"user\",\"content\":\"x\"},\n{\"role\":\"user\",\"content\":7}]}")
	_, err = w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "broken.json", Data: broken})
	e, ok := errors.AsType[*transcript.SyntaxError](err)
	w.holds(ok && e.Name == "broken.json" && e.Line == 3 && e.Field == "messages.1.content", "%+v, %v", e, err)
	sessions := try(carrel.Items(w.Sessions(w.ctx(), w.in, &carrel.SessionsRequest{}))).must(w)
	w.holds(len(sessions) == 0, "something was stored: %+v", sessions)
}

// A budget that is too small for a strategy fails with the smallest possible size, and that
// size succeeds.
func tooSmall(w *world) {
	in := w.imported()
	for _, s := range []carrel.Strategy{carrel.StrategyAccount, carrel.StrategyImportance, carrel.StrategyWindow, carrel.StrategyPager} {
		try := func(to carrel.CompressRequest) (*carrel.CompressResult, error) {
			to.Session, to.Strategy = in.Session, s
			return w.Compress(w.ctx(), w.in, &to)
		}
		_, err := try(carrel.CompressRequest{Target: carrel.Target{Tokens: 20}})
		w.fails("20 tokens", err, carrel.ErrBudget)
		floor, ok := carrel.Floor(err)
		if !ok || floor.Budget != 20 || floor.Need <= 20 || len(floor.Held) == 0 {
			w.Fatalf("%s: the error has no figures: %+v", s, floor)
		}
		sum := floor.Fixed
		rules := make(map[pager.Rule]bool)
		for _, h := range floor.Held {
			sum += h.Tokens
			rules[h.Rule] = true
		}
		w.holds(sum == floor.Need && len(rules) > 1, "%s: %d of %d tokens are accounted for, by %v", s, sum, floor.Need, rules)
		_, err = try(carrel.CompressRequest{Target: carrel.Target{Tokens: floor.Need - 1}})
		w.fails("a token less than what is needed", err, carrel.ErrBudget)
		_, err = try(carrel.CompressRequest{Target: carrel.Target{Tokens: floor.Need}, Smallest: true})
		w.fails("the smallest and a target", err, carrel.ErrRequest)
		res, err := try(carrel.CompressRequest{Smallest: true})
		w.holds(err == nil && res.Op != "" && res.Budget == floor.Need && res.After <= floor.Need, "%s: the smallest window: %+v, %v, want %d tokens", s, res, err, floor.Need)
		again, err := try(carrel.CompressRequest{Smallest: true})
		w.holds(err == nil && again.Op == "" && again.After == res.After, "%s: again: %+v, %v", s, again, err)
		_, err = w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: in.Session})
		w.holds(err == nil, "%s: undo: %v", s, err)
	}
	_, err := w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Smallest: true, Strategy: carrel.StrategyHybrid})
	w.fails("the smallest of a strategy that makes a summary", err, carrel.ErrRequest)
}

func senseless(w *world) {
	in := w.imported()
	b := w.list(in.Session).Messages[0]
	for name, err := range map[string]error{
		"a budget below 0":          try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: -1}})).err,
		"a range outside":           try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(b.ID), From: 1 << 20})).err,
		"an unknown strategy":       try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Strategy: "magic"})).err,
		"nothing to commit":         try(w.Commit(w.ctx(), w.in, &carrel.CommitRequest{})).err,
		"an empty output":           try(w.Stash(w.ctx(), w.in, &carrel.StashRequest{})).err,
		"no blocks to discard":      try(w.Discard(w.ctx(), w.in, &carrel.DiscardRequest{Session: in.Session})).err,
		"a session with a bad name": try(w.Append(w.ctx(), w.in, &carrel.AppendRequest{Session: "a b", Messages: nil})).err,
	} {
		w.fails(name, err, carrel.ErrRequest)
	}
}

func givenUp(w *world) {
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	_, err := w.Import(ctx, w.in, &carrel.ImportRequest{Name: "pool.json", Data: openAI(talk())})
	w.fails("a context that is canceled", err, context.Canceled)
}

func noCalls(w *world) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.FixedZone("", -3600))
	for _, req := range []*carrel.CallsRequest{{}, {Session: "s"}, {Since: since, Cursor: carrel.Cursor{Limit: 7}}} {
		calls := try(carrel.Items(w.Calls(w.ctx(), w.in, req))).must(w)
		w.holds(calls != nil && len(calls) == 0, "calls = %v", calls)
	}
	_, err := w.Call(w.ctx(), w.in, &carrel.IDRequest{ID: "none"})
	w.fails("no call", err, store.ErrNotFound)
	report := try(w.Report(w.ctx(), w.in, &carrel.ReportRequest{Since: since})).must(w)
	w.holds(report.Since.Equal(since) && report.Total.Calls == 0 && report.Reasons != nil && report.Holdout.Models != nil, "%+v", report)
}
