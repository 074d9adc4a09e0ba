package transcript

import (
	"cmp"
	"fmt"
	"slices"
)

// A Fix is one repair that makes a provider accept a conversation.
type Fix struct {
	Rule    string `json:"rule,omitempty"` // the provider's rule, such as "A2"; empty if the format has none
	Message int    `json:"message"`        // index in the repaired list of entries or written messages; -1 for the request
	What    string `json:"what"`
}

// Pairing has a provider's rule ids for the violations of calls and results
// that [Pairing.Repair] repairs.
type Pairing struct {
	Twice      string // a call with the id of another
	Apart      string // a result that does not follow its call
	Second     string // a second result for a call
	Unanswered string // a call without a result
	Orphan     string // a result without a call
	Served     string // a call of the provider's own tool without its result in the same reply, or the reverse
}

// Interrupted is the text of the result that [Repair] adds for a call without
// one.
const Interrupted = Mark + ": interrupted, no result was recorded]"

// Opening is the text of the user message that is put before a window that
// begins with a reply, which some providers refuse.
const Opening = Mark + ": earlier messages left the window]"

// GoOn is the text of the user message that is put at the end of a request whose last message is a
// reply, for a model that refuses such a request.
const GoOn = Mark + ": go on from here]"

// Repair is [Pairing.Repair] for a provider without rule ids.
func Repair(entries []Entry) ([]Entry, []Fix) { return Pairing{}.Repair(entries) }

// Repair returns entries in which every call is followed directly by exactly
// one result:
//
//  1. a call with the id of an earlier call gets a new id, and so does the result
//     that follows it;
//  2. a result that does not follow its call moves behind it;
//  3. a second result for a call becomes a quotation in a user message;
//  4. a call without a result gets the result [Interrupted], unless it is in the
//     last message, where it is still pending;
//  5. a result without a call becomes a quotation, too;
//  6. a call of one of the provider's own tools whose result is not in the same reply
//     becomes a quotation in that reply, unless the conversation ends in it (see
//     [Message.Paused]), and so does such a result without its call.
//
// Entries of a valid conversation are returned unchanged, with their bytes.
func (rules Pairing) Repair(entries []Entry) ([]Entry, []Fix) {
	var fixes []Fix
	if !wellFormed(entries) {
		r := repair{rules: rules, seen: make(map[string]int), results: make(map[string][]resultAt)}
		r.rename(entries)
		r.collect()
		r.assemble()
		entries, fixes = r.out, r.fixes
	}
	entries, served := rules.served(entries) // last, since a result may now stand inside of a reply
	return entries, append(fixes, served...)
}

// served returns entries in which calls and results of the provider's own tools stand
// together in one reply, which may be several entries. Others become text.
func (rules Pairing) served(entries []Entry) ([]Entry, []Fix) {
	type place struct{ entry, part int }
	var alone []place
	calls := make(map[string]place) // of this reply, without a result
	settle := func() {
		for _, at := range calls {
			alone = append(alone, at)
		}
		clear(calls)
	}
	for i := range entries {
		if entries[i].Role != RoleAssistant {
			settle()
		}
		for k, p := range entries[i].Parts {
			o, ok := p.(Opaque)
			if !ok {
				continue
			}
			switch call, result := o.Served(); {
			case call != "":
				calls[call] = place{i, k}
			case result != "":
				if _, ok := calls[result]; !ok {
					alone = append(alone, place{i, k})
				}
				delete(calls, result)
			}
		}
	}
	if n := len(entries); n > 0 && !entries[n-1].Paused() {
		settle()
	}
	if len(alone) == 0 {
		return entries, nil
	}
	slices.SortFunc(alone, func(a, b place) int { return cmp.Or(a.entry-b.entry, a.part-b.part) })
	entries = slices.Clone(entries)
	fixes := make([]Fix, len(alone))
	for n, at := range alone {
		e := &entries[at.entry]
		if n == 0 || alone[n-1].entry != at.entry {
			e.Source, e.Items, e.Parts = nil, nil, slices.Clone(e.Parts)
		}
		o := e.Parts[at.part].(Opaque)
		lacks := "its call"
		if call, _ := o.Served(); call != "" {
			lacks = "its result"
		}
		e.Parts[at.part] = Text(Mark + ": " + o.Type + " without " + lacks + "]\n" + Quote(string(o.Raw)))
		fixes[n] = Fix{Rule: rules.Served, Message: at.entry, What: o.Type + " without " + lacks + " became text"}
	}
	return entries, fixes
}

// wellFormed reports whether each call is answered once, directly behind it.
func wellFormed(entries []Entry) bool {
	seen := make(map[string]bool)
	open := make(map[string]bool)
	for i := range entries {
		e := &entries[i]
		answers := false
		for _, p := range e.Parts {
			switch p := p.(type) {
			case ToolResult:
				if !open[p.CallID] || e.Role == RoleAssistant {
					return false
				}
				answers = true
				delete(open, p.CallID)
			case ToolCall:
				if seen[p.ID] {
					return false
				}
				seen[p.ID], open[p.ID] = true, true
			}
		}
		waiting := len(open) - len(e.Calls()) // for calls before e
		if waiting > 0 && (!answers || i == len(entries)-1) {
			return false
		}
	}
	return true // what is open now is pending
}

type resultAt struct {
	entry, index int // in r.entries, in its Parts
	part         ToolResult
}

type repair struct {
	rules   Pairing
	entries []Entry
	seen    map[string]int        // how often an id was called
	results map[string][]resultAt // results by call id, in order
	used    map[[2]int]bool       // results that were placed, by entry and part
	placed  map[int]bool          // entries that were placed early
	at      map[int]int           // index in out of each entry with calls
	out     []Entry
	fixes   []Fix
}

// rename copies the entries to r, and gives each call whose id was used before
// a new id. A result belongs to the latest entry with calls of its id, and there
// to the first of these calls that has no result yet; it gets the id of that call.
func (r *repair) rename(entries []Entry) {
	taken := make(map[string]bool) // every id that is called
	for i := range entries {
		for _, c := range entries[i].Calls() {
			taken[c.ID] = true
		}
	}
	names := make(map[string][]string) // new names of an id in the latest entry
	for at, e := range entries {
		latest := make(map[string]bool) // ids called in e so far
		var parts []Part
		for i, p := range e.Parts {
			switch q := p.(type) {
			case ToolCall:
				if !latest[q.ID] {
					latest[q.ID], names[q.ID] = true, nil
				}
				id := r.unused(q.ID, taken)
				if id != q.ID {
					r.fix(r.rules.Twice, at, "call id "+q.ID+" was used before")
				}
				names[q.ID] = append(names[q.ID], id)
				q.ID = id
				p = q
			case ToolResult:
				if n := names[q.CallID]; len(n) > 0 {
					if len(n) > 1 {
						names[q.CallID] = n[1:]
					}
					q.CallID = n[0]
					p = q
				}
			}
			if parts == nil && !samePart(p, e.Parts[i]) {
				parts = append(make([]Part, 0, len(e.Parts)), e.Parts[:i]...)
			}
			if parts != nil {
				parts = append(parts, p)
			}
		}
		if parts != nil {
			e.Parts, e.Source = parts, nil
		}
		r.entries = append(r.entries, e)
	}
}

// unused returns the id itself when it is called with it for the first time. At later calls it
// returns a new id that no call has.
func (r *repair) unused(id string, taken map[string]bool) string {
	r.seen[id]++
	if r.seen[id] == 1 {
		return id
	}
	for {
		fresh := fmt.Sprintf("%s_%d", id, r.seen[id])
		if !taken[fresh] {
			return fresh
		}
		r.seen[id]++
	}
}

// samePart reports whether a and b, two states of the same part, have the same id. It returns true
// for parts that are neither calls nor results.
func samePart(a, b Part) bool {
	switch a := a.(type) {
	case ToolCall:
		return a.ID == b.(ToolCall).ID
	case ToolResult:
		return a.CallID == b.(ToolResult).CallID
	}
	return true
}

func (r *repair) collect() {
	for i := range r.entries {
		for k, p := range r.entries[i].Parts {
			if res, ok := p.(ToolResult); ok {
				r.results[res.CallID] = append(r.results[res.CallID], resultAt{i, k, res})
			}
		}
	}
}

// assemble writes the entries in order, results behind their calls.
func (r *repair) assemble() {
	r.used = make(map[[2]int]bool)
	r.placed = make(map[int]bool)
	r.at = make(map[int]int)
	renamed := len(r.fixes)
	for i, e := range r.entries {
		if r.placed[i] {
			continue
		}
		if len(e.Results()) > 0 {
			e = r.loose(i, e)
		} else if e.Role == RoleTool {
			e.Role = RoleUser
		}
		if len(e.Parts) == 0 && len(r.entries[i].Parts) > 0 {
			continue
		}
		r.out = append(r.out, e)
		if calls := e.Calls(); len(calls) > 0 {
			r.at[i] = len(r.out) - 1
			r.answer(i, calls)
		}
	}
	for k := range renamed {
		r.fixes[k].Message = r.at[r.fixes[k].Message]
	}
}

// answer places the results of the calls of entry i behind it.
func (r *repair) answer(i int, calls []ToolCall) {
	a := answers{repair: r, call: i, ids: make(map[string]bool, len(calls)), only: make(map[int]bool)}
	for _, c := range calls {
		a.ids[c.ID] = true
	}
	for a.end = i + 1; a.end < len(r.entries) && len(r.entries[a.end].Results()) > 0; {
		a.end++
	}
	for _, c := range calls {
		at, ok := r.firstResult(c.ID, i)
		switch {
		case ok && r.used[[2]int{at.entry, at.index}]:
			// placed with the result of another call
		case ok && a.onlyAnswers(at.entry):
			if at.entry > a.end {
				r.fix(r.rules.Apart, len(r.out), "result moved behind its call")
			}
			r.out = append(r.out, r.entries[at.entry])
			r.placed[at.entry] = true
			for k := range r.entries[at.entry].Parts {
				r.used[[2]int{at.entry, k}] = true
			}
		case ok:
			r.fix(r.rules.Apart, len(r.out), "result moved behind its call")
			r.make(i, at.part)
			r.used[[2]int{at.entry, at.index}] = true
		case i == len(r.entries)-1:
			// pending
		default:
			r.fix(r.rules.Unanswered, len(r.out), "made up a result for an unanswered call")
			r.make(i, ToolResult{CallID: c.ID, Content: []Part{Text(Interrupted)}, Error: true})
		}
	}
}

// make places a new message with the result res behind entry i, which has the
// call.
func (r *repair) make(i int, res ToolResult) {
	r.out = append(r.out, Entry{Message: Message{Role: RoleTool, Parts: []Part{res}}, Block: r.entries[i].Block})
}

// firstResult returns the first result for a call of entry i that follows it.
func (r *repair) firstResult(id string, i int) (resultAt, bool) {
	for _, at := range r.results[id] {
		if at.entry > i {
			return at, true
		}
	}
	return resultAt{}, false
}

// An answers value says which entries can be placed behind an entry with calls.
type answers struct {
	*repair

	call int             // the entry with the calls
	ids  map[string]bool // of its calls
	end  int             // the first entry behind it that has no results
	only map[int]bool    // what onlyAnswers found for an entry
}

// onlyAnswers reports whether entry j can be placed behind the calls as it is: it
// has only results, each the first for one of the calls. If only results stand
// between the entries, entry j may have other parts, too.
func (a *answers) onlyAnswers(j int) bool {
	only, known := a.only[j]
	if !known {
		only = a.answersOnly(&a.entries[j], j)
		a.only[j] = only
	}
	return only
}

func (a *answers) answersOnly(e *Entry, j int) bool {
	if e.Role == RoleAssistant || len(e.Calls()) > 0 {
		return false
	}
	for k, p := range e.Parts {
		res, ok := p.(ToolResult)
		if !ok {
			if j > a.end {
				return false
			}
			continue
		}
		first, _ := a.firstResult(res.CallID, a.call)
		if first.entry != j || first.index != k || !a.ids[res.CallID] {
			return false
		}
	}
	return true
}

// loose returns e, which is entry i, without tool results. It drops the results that were already
// placed behind their calls, and turns the others into text.
func (r *repair) loose(i int, e Entry) Entry {
	role := e.Role
	if role == RoleTool {
		role = RoleUser
	}
	loose := Entry{Message: Message{Role: role}, Block: e.Block}
	for k, p := range e.Parts {
		res, ok := p.(ToolResult)
		switch {
		case !ok:
			loose.Parts = append(loose.Parts, p)
		case r.used[[2]int{i, k}]:
			// it stands behind its call
		default:
			rule, what := r.rules.Orphan, "result without a call became user text"
			if first := r.results[res.CallID][0]; first.entry != i || first.index != k {
				rule, what = r.rules.Second, "second result for a call became user text"
			}
			r.fix(rule, len(r.out), what)
			loose.Parts = append(loose.Parts, Text(Mark+": tool result "+QuoteInline(res.CallID)+" without its call]\n"+Quote(res.Text())))
		}
	}
	return loose
}

func (r *repair) fix(rule string, message int, what string) {
	r.fixes = append(r.fixes, Fix{Rule: rule, Message: message, What: what})
}
