package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

var conversations = []check{
	{"What is untouched goes out as it came in, in every format", untouched},
	{"What is imported again changes nothing, and what grew is added", importedAgain},
	{"Sessions are listed, and found by what they are called", sessionsAreFound},
	{"A session is removed and restored, or purged for good", sessionsGo},
	{"Messages are appended byte for byte, where they belong", appended},
	{"A conversation goes out in the format of another provider, valid", converted},
	{"A request that a provider refuses is mended, or refused with the rule", repaired},
	{"Every block is recalled byte for byte", recalled},
	{"Blocks are found by words", found},
	{"A dry run writes nothing", dryRuns},
	{"A long job tells how far it is", progress},
	{"Nothing of one scope is in another", scopesAreApart},
}

// load writes the conversation of [talk] in the format of f, and imports it.
func (w *world) load(f form) *carrel.ImportResult {
	w.Helper()
	return try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: f.file, Data: f.write(talk())})).must(w)
}

// imported imports the conversation of [talk] in the first of the [forms].
func (w *world) imported() *carrel.ImportResult {
	w.Helper()
	return w.load(forms()[0])
}

// export returns the window of a session.
func (w *world) export(session transcript.SessionID) []byte {
	w.Helper()
	return try(w.Export(w.ctx(), w.in, &carrel.ExportRequest{Session: session})).must(w).Data
}

// list returns the blocks of a session.
func (w *world) list(session transcript.SessionID) *carrel.MessagesResult {
	w.Helper()
	return try(w.Messages(w.ctx(), w.in, &carrel.MessagesRequest{Session: session})).must(w)
}

func repaired(w *world) {
	request := func(fields string) []byte {
		return []byte(`{"model": "claude-opus-5-5", ` + fields + `"messages": [
 {"role": "user", "content": "Look."},
 {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]},
 {"role": "user", "content": "Go on."}
]}`)
	}
	res := try(w.Repair(w.ctx(), w.in, &carrel.RepairRequest{Name: "cut.json", Provider: "anthropic", Data: request("")})).must(w)
	w.holds(!res.Intact && res.File == "cut.json" && res.Format == "anthropic" && res.Bytes == len(res.Data), "%+v", res)
	w.same("repairs", res.Repairs, []transcript.Fix{{Rule: "A2", Message: 2, What: "made up a result for an unanswered call"}})
	again := try(w.Repair(w.ctx(), w.in, &carrel.RepairRequest{Data: res.Data})).must(w)
	w.holds(again.Intact && bytes.Equal(again.Data, res.Data) && len(again.Repairs) == 0, "mended again: %+v", again)
	err := try(w.Repair(w.ctx(), w.in, &carrel.RepairRequest{Data: request(`"temperature": 1, `)})).err
	w.fails("a temperature", err, carrel.ErrInvalid)
	e, ok := errors.AsType[*carrel.InvalidError](err)
	w.holds(ok && len(e.Violations) == 1 && e.Violations[0].Rule == "A13", "%v", err)
	w.fails("no request", try(w.Repair(w.ctx(), w.in, &carrel.RepairRequest{Data: []byte("no")})).err, carrel.ErrFormat)
	w.listed()
}

// listed checks the list of sessions and returns it.
func (w *world) listed(want ...transcript.SessionID) []carrel.SessionInfo {
	w.Helper()
	list := try(carrel.Items(w.Sessions(w.ctx(), w.in, &carrel.SessionsRequest{}))).must(w)
	var ids []transcript.SessionID
	for _, s := range list {
		ids = append(ids, s.Session)
	}
	w.same("sessions", slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(want)))
	return list
}

func untouched(w *world) {
	for _, f := range forms() {
		in := w.load(f)
		out := try(w.Export(w.ctx(), w.in, &carrel.ExportRequest{Session: in.Session})).must(w)
		data := f.write(talk())
		w.holds(bytes.Equal(out.Data, data), "%s: the export is not the input", f.format)
		w.holds(out.Intact && out.Bytes == len(data) && out.Format == f.format, "%s: %+v", f.format, out)
		list := w.list(in.Session)
		w.holds(len(list.Messages) == in.Blocks && in.Blocks > 10, "%s: %d blocks in the list, %d imported", f.format, len(list.Messages), in.Blocks)
		w.holds(list.Tokens == in.Tokens && list.Window >= in.Tokens, "%s: %d tokens, %d in the window, %d imported", f.format, list.Tokens, list.Window, in.Tokens)
	}
}

func importedAgain(w *world) {
	turns := talk()
	part := try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "pool.json", Data: openAI(turns[:8])})).must(w)
	again := try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "pool.json", Data: openAI(turns[:8])})).must(w)
	w.holds(part.Changed && part.Added == part.Blocks && part.Op != "", "the first import: %+v", part)
	w.holds(!again.Changed && again.Added == 0 && again.Session == part.Session, "the same bytes again: %+v", again)
	whole := try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "pool.json", Data: openAI(turns)})).must(w)
	w.holds(whole.Changed && whole.Added == whole.Blocks-part.Blocks, "what grew: %+v", whole)

	short := &carrel.ImportRequest{Name: "pool.json", Data: openAI(turns[:8])}
	_, err := w.Import(w.ctx(), w.in, short)
	w.fails("a shorter copy", err, carrel.ErrShorter)
	figures, ok := errors.AsType[*carrel.ShorterError](err)
	w.holds(ok && figures.Session == part.Session && figures.Known == whole.Messages && figures.Has == part.Messages, "a shorter copy: %+v", figures)

	entries := try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: part.Session}))).must(w)
	w.holds(len(entries) == 2 && entries[0].ID == part.Op && entries[1].ID == whole.Op, "journal: %+v", entries)
	w.holds(entries[0].Actor == Actor && json.Valid(entries[0].Data), "entry: %+v", entries[0])
	later := try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: part.Session, Since: entries[0].Revision}))).must(w)
	w.same("journal after the first revision", later, entries[1:])

	short.Rewind = true
	back := try(w.Import(w.ctx(), w.in, short)).must(w)
	w.holds(back.Changed && back.Added == 0 && back.Blocks == part.Blocks, "a rewind: %+v", back)
}

func sessionsAreFound(w *world) {
	var ids []transcript.SessionID
	for _, f := range forms() {
		ids = append(ids, w.load(f).Session)
	}
	all := w.listed(ids...)
	two := try(carrel.Items(w.Sessions(w.ctx(), w.in, &carrel.SessionsRequest{Cursor: carrel.Cursor{Limit: 2}}))).must(w)
	w.same("two sessions", two, all[:2])

	last := try(w.FindSession(w.ctx(), w.in, &carrel.WordRequest{Word: "@last"})).must(w)
	w.same("@last", last.Session, all[0].Session)
	named := try(w.FindSession(w.ctx(), w.in, &carrel.WordRequest{Word: string(ids[2])})).must(w)
	w.same("a whole id", named.Session, ids[2])
	one := try(w.Session(w.ctx(), w.in, &carrel.SessionRequest{Session: all[1].Session})).must(w)
	w.same("one session", *one, all[1])
	_, err := w.FindSession(w.ctx(), w.in, &carrel.WordRequest{Word: "none-of-these"})
	w.fails("a word that names nothing", err, store.ErrNotFound)
}

func sessionsGo(w *world) {
	f := forms()[0]
	in, other := w.load(f), w.load(forms()[1])
	block := w.list(in.Session).Messages[0].ID
	res := try(w.RemoveSession(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(res.Status == store.StatusTombstoned && res.Op != "", "%+v", res)
	w.listed(other.Session)
	removed := try(carrel.Items(w.RemovedSessions(w.ctx(), w.in, &carrel.None{}))).must(w)
	w.holds(len(removed) == 1 && removed[0].Session == in.Session && removed[0].Status == store.StatusTombstoned, "%+v", removed)
	_, err := w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(block)})
	w.fails("recall of what was removed", err, carrel.ErrPolicy)

	res = try(w.RestoreSession(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(res.Status == store.StatusLive, "%+v", res)
	w.listed(in.Session, other.Session)
	_, err = w.RestoreSession(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})
	w.fails("restore of what was not removed", err, carrel.ErrRequest)

	res = try(w.PurgeSession(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(res.Status == store.StatusPurged && res.Cells > 0 && res.Op != "", "%+v", res)
	w.listed(other.Session)
	_, err = w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(block)})
	w.fails("recall of what was purged", err, carrel.ErrGone)
	_, err = w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: f.file, Data: f.write(talk())})
	w.fails("import of what was purged", err, carrel.ErrGone)
	again := try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: f.file, Data: f.write(talk()), Anew: true})).must(w)
	w.same("session", again.Session, in.Session)
	w.listed(in.Session, other.Session)
}

func appended(w *world) {
	raw := []json.RawMessage{
		json.RawMessage(`{ "role":"user",   "content": "Is 1.0 < 2e0 & \u00e9 = é?" , "n": 9007199254740993}`),
		json.RawMessage("{\"role\":\"assistant\",\n\t\"content\":\"Yes.\"}"),
	}
	req := &carrel.AppendRequest{Session: "chat-1", Messages: raw, At: new(0), Model: "gpt-4o"}
	first := try(w.Append(w.ctx(), w.in, req)).must(w)
	w.holds(first.Messages == 2 && first.Session == "chat-1", "the first messages: %+v", first)
	_, err := w.Append(w.ctx(), w.in, req)
	w.fails("the same again", err, store.ErrConflict)
	more := try(w.Append(w.ctx(), w.in, &carrel.AppendRequest{Session: "chat-1", Messages: raw[:1]})).must(w)
	w.holds(more.Messages == 3 && more.Added == 1, "one more: %+v", more)
	out := w.export("chat-1")
	w.holds(bytes.Count(out, raw[0]) == 2 && bytes.Count(out, raw[1]) == 1, "messages are not byte for byte what was appended:\n%s", out)

	_, err = w.Append(w.ctx(), w.in, &carrel.AppendRequest{Session: "chat-2"})
	w.fails("no message", err, carrel.ErrRequest)
	_, err = w.Append(w.ctx(), w.in, &carrel.AppendRequest{Session: "chat-2", Messages: []json.RawMessage{json.RawMessage(`{"role":`)}})
	w.fails("a message that is not JSON", err, carrel.ErrRequest)
	log := w.load(forms()[2])
	_, err = w.Append(w.ctx(), w.in, &carrel.AppendRequest{Session: log.Session, Messages: raw})
	w.fails("a file of another program", err, carrel.ErrPolicy)
}

func converted(w *world) {
	for _, f := range forms() {
		in := w.load(f)
		for _, to := range []string{"openai", "anthropic", "responses"} {
			out := try(w.Export(w.ctx(), w.in, &carrel.ExportRequest{Session: in.Session, To: to})).must(w)
			_, violations, err := carrel.Validate(to, out.Data)
			w.holds(err == nil && len(violations) == 0 && out.Format == to, "%s to %s: %v, %v", f.format, to, violations, err)
			w.holds(bytes.Contains(out.Data, []byte("POOL-4711")), "%s to %s: the ticket is gone", f.format, to)
		}
	}
}

func recalled(w *world) {
	for _, f := range forms()[:2] {
		in := w.load(f)
		data := f.write(talk())
		for _, b := range w.list(in.Session).Messages {
			whole := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(b.ID)})).must(w)
			for piece := range pieces(whole.Data) {
				w.holds(bytes.Contains(data, piece), "%s: a piece of block %s is not in the input:\n%s", f.format, b.ShortID, piece)
			}
			w.holds(whole.Digest == digest.Of(whole.Data) && whole.Size == len(whole.Data), "%s: block %s has size %d, %d bytes", f.format, b.ShortID, whole.Size, len(whole.Data))
			part := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: b.ShortID, From: 2, To: 9})).must(w)
			w.same("a part of "+b.ShortID, part.Data, whole.Data[2:9])
			w.holds(part.Digest == whole.Digest && part.Turn == b.Turn && part.Kind == b.Kind, "%s: %+v", b.ShortID, part)
		}
		last := w.list(in.Session).Messages[0]
		text := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(last.ID), Text: true})).must(w)
		w.holds(!json.Valid(text.Data), "what block %s says is JSON: %s", last.ShortID, text.Data)
	}
}

// pieces yields the JSON documents of a recalled block one by one, because a call and its
// result are one block, but not adjacent in every format. It yields bytes that are not JSON as
// a whole.
func pieces(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		d := json.NewDecoder(bytes.NewReader(data))
		for {
			var piece json.RawMessage
			if err := d.Decode(&piece); err != nil {
				if !errors.Is(err, io.EOF) {
					yield(data) // bytes that are not JSON are compared as a whole
				}
				return
			}
			if !yield(piece) {
				return
			}
		}
	}
}

func found(w *world) {
	in := w.imported()
	other := w.load(forms()[1])
	hits := try(carrel.Items(w.Search(w.ctx(), w.in, &carrel.SearchRequest{Query: "größe"}))).must(w)
	w.same("sessions of the hits that have the word", sessionsOf(hits), map[transcript.SessionID]int{in.Session: 1, other.Session: 1})
	one := try(carrel.Items(w.Search(w.ctx(), w.in, &carrel.SearchRequest{Query: "größe", Session: in.Session}))).must(w)
	w.same("hits in one session that have the word", sessionsOf(one), map[transcript.SessionID]int{in.Session: 1})
	w.holds(one[0].Session == in.Session && strings.Contains(one[0].Excerpt, "größe"), "hits in one session: %+v", one)
	got := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(one[0].Block)})).must(w)
	w.holds(bytes.Contains(got.Data, []byte("größe")), "what was found says %s", got.Data)
	limited := try(carrel.Items(w.Search(w.ctx(), w.in, &carrel.SearchRequest{Query: "part unit", Session: other.Session, Limit: 3}))).must(w)
	w.holds(len(limited) == 3, "%d hits, want 3", len(limited))
	kind := try(carrel.Items(w.Search(w.ctx(), w.in, &carrel.SearchRequest{Query: "pool", Kind: transcript.KindTool}))).must(w)
	for _, h := range kind {
		w.same("kind of a hit", h.Kind, transcript.KindTool)
	}
	none := try(carrel.Items(w.Search(w.ctx(), w.in, &carrel.SearchRequest{Query: "xylophone"}))).must(w)
	w.holds(len(none) == 0, "hits for a word that is nowhere: %+v", none)
}

// sessionsOf counts, for each session, the hits that have words of the query. It leaves out the
// hits that are listed only because they are next to one with such words.
func sessionsOf(hits []carrel.Found) map[transcript.SessionID]int {
	n := make(map[transcript.SessionID]int)
	for i := range hits {
		if len(hits[i].Terms) > 0 {
			n[hits[i].Session]++
		}
	}
	return n
}

func dryRuns(w *world) {
	planned := try(w.Import(w.ctx(), w.in, &carrel.ImportRequest{Name: "pool.json", Data: openAI(talk()), DryRun: true})).must(w)
	w.holds(planned.Changed && planned.Op == "", "planning: %+v", planned)
	_, err := w.Messages(w.ctx(), w.in, &carrel.MessagesRequest{Session: planned.Session})
	w.fails("what was only planned", err, store.ErrNotFound)
	in := w.imported()
	before := try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: in.Session}))).must(w)
	w.same("tokens of the plan", planned.Tokens, in.Tokens)

	try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: quarter}, DryRun: true})).must(w)
	try(w.Pin(w.ctx(), w.in, &carrel.PinRequest{Blocks: []string{w.list(in.Session).Messages[3].ShortID}, DryRun: true})).must(w)
	try(w.Mark(w.ctx(), w.in, &carrel.MarkRequest{Session: in.Session, Critical: true, DryRun: true})).must(w)
	try(w.AmendContract(w.ctx(), w.in, &carrel.AmendContractRequest{Session: in.Session, Init: true, Decisions: []string{"x"}, DryRun: true})).must(w)
	after := try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: in.Session}))).must(w)
	w.same("journal after dry runs", after, before)
	w.holds(bytes.Equal(w.export(in.Session), openAI(talk())), "the window changed")
}

func progress(w *world) {
	var told atomic.Int64
	ctx := carrel.WithProgress(w.ctx(), func(job string, done, total int) {
		told.Add(1)
		w.holds(job != "" && done <= total, "%s: %d of %d", job, done, total)
	})
	turns := talk()
	for i := range 200 {
		turns = append(turns, turn{by: "user", text: fmt.Sprint("question ", i)}, turn{by: "assistant", text: fmt.Sprint("answer ", i)})
	}
	in := try(w.Import(ctx, w.in, &carrel.ImportRequest{Name: "long.json", Data: openAI(turns)})).must(w)
	w.holds(in.Blocks > 400 && told.Load() > 0, "%d blocks, told %d times", in.Blocks, told.Load())
	_, err := w.Compress(ctx, w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 1}})
	w.fails("a budget that is too small", err, carrel.ErrBudget)
}

func scopesAreApart(w *world) {
	in := w.imported()
	block := w.list(in.Session).Messages[0]
	there := w.in + "-2"
	_, err := w.Messages(w.ctx(), there, &carrel.MessagesRequest{Session: in.Session})
	w.fails("a session of another scope", err, store.ErrNotFound)
	_, err = w.Recall(w.ctx(), there, &carrel.RecallRequest{Block: string(block.ID)})
	w.fails("a block of another scope", err, store.ErrNotFound)
	hits := try(carrel.Items(w.Search(w.ctx(), there, &carrel.SearchRequest{Query: "pool"}))).must(w)
	sessions := try(carrel.Items(w.Sessions(w.ctx(), there, &carrel.SessionsRequest{}))).must(w)
	w.holds(len(hits)+len(sessions) == 0, "seen from another scope: %v, %v", hits, sessions)
}
