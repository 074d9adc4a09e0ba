package transcript

import "fmt"

// A Fix is one thing that [Repair] changed.
type Fix struct {
	Message int    `json:"message"` // index in the repaired list
	What    string `json:"what"`
}

// Interrupted is the text of a result that [Repair] makes up for a call that
// was never answered.
const Interrupted = "[carrel: interrupted, no result was recorded]"

// Repair returns entries in which every call is answered by exactly one result
// that follows it directly, in this order:
//
//  1. a call whose id was used before gets an id of its own, and so does the
//     result that follows it;
//  2. a result that stands apart from its call moves behind it;
//  3. a second result for a call becomes user text;
//  4. a call that was never answered gets the result [Interrupted], unless it
//     is in the last message, where it is still pending;
//  5. a result without a call becomes user text.
//
// Entries that need none of this are returned as they are, so that a valid
// conversation costs nothing and keeps its bytes.
func Repair(entries []Entry) ([]Entry, []Fix) {
	if wellFormed(entries) {
		return entries, nil
	}
	r := repair{seen: make(map[string]int), results: make(map[string][]resultAt)}
	r.rename(entries)
	r.collect()
	return r.assemble()
}

// wellFormed reports whether each call is answered once, directly behind it.
func wellFormed(entries []Entry) bool {
	seen := make(map[string]bool)
	open := make(map[string]bool)
	for i := range entries {
		e := &entries[i]
		if e.Role != RoleTool && len(open) > 0 {
			return false
		}
		for _, p := range e.Parts {
			switch p := p.(type) {
			case ToolResult:
				if !open[p.CallID] {
					return false
				}
				delete(open, p.CallID)
			case ToolCall:
				if seen[p.ID] {
					return false
				}
				seen[p.ID], open[p.ID] = true, true
			}
		}
	}
	return true // what is open now is pending
}

type resultAt struct {
	entry int
	part  ToolResult
}

type repair struct {
	entries []Entry
	seen    map[string]int        // how often an id was called
	results map[string][]resultAt // results by call id, in order
	fixes   []Fix
}

// rename gives calls with a used id one of their own, and copies the entries.
func (r *repair) rename(entries []Entry) {
	alias := make(map[string]string) // latest name of an id
	for _, e := range entries {
		var parts []Part
		for i, p := range e.Parts {
			switch q := p.(type) {
			case ToolCall:
				r.seen[q.ID]++
				alias[q.ID] = q.ID
				if n := r.seen[q.ID]; n > 1 {
					fresh := fmt.Sprintf("%s_%d", q.ID, n)
					alias[q.ID] = fresh
					q.ID, p = fresh, nil
				}
				if p == nil {
					p = q
				}
			case ToolResult:
				if a, ok := alias[q.CallID]; ok && a != q.CallID {
					q.CallID = a
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

// samePart reports whether a call or result kept its id.
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
		for _, res := range r.entries[i].Results() {
			r.results[res.CallID] = append(r.results[res.CallID], resultAt{i, res})
		}
	}
}

// assemble writes the entries in order, results behind their calls.
func (r *repair) assemble() ([]Entry, []Fix) {
	var out []Entry
	used := make(map[string]bool) // call ids whose result is placed
	placed := make(map[int]bool)  // entries that were placed early
	for i, e := range r.entries {
		switch {
		case placed[i]:
		case e.Role == RoleTool || len(e.Results()) > 0:
			out = r.loose(out, e, used)
		default:
			out = append(out, e)
			if calls := e.Calls(); len(calls) > 0 {
				out = r.answer(out, i, calls, used, placed)
			}
		}
	}
	return out, r.fixes
}

// answer places the results of the calls of entry i behind it.
func (r *repair) answer(out []Entry, i int, calls []ToolCall, used map[string]bool, placed map[int]bool) []Entry {
	for _, c := range calls {
		at, ok := r.firstResult(c.ID, i)
		switch {
		case used[c.ID]:
		case ok && r.onlyAnswers(at.entry, calls, used):
			if !placed[at.entry] {
				if at.entry != i+1 && !r.adjacent(i, at.entry) {
					r.fix(len(out), "result moved behind its call")
				}
				out = append(out, r.entries[at.entry])
				placed[at.entry] = true
				for _, res := range r.entries[at.entry].Results() {
					used[res.CallID] = true
				}
			}
		case ok:
			r.fix(len(out), "result moved behind its call")
			out = append(out, Entry{Message: Message{Role: RoleTool, Parts: []Part{at.part}}, Block: r.entries[i].Block})
			used[c.ID] = true
		case i == len(r.entries)-1:
			// pending
		default:
			r.fix(len(out), "made up a result for an unanswered call")
			res := ToolResult{CallID: c.ID, Content: []Part{Text(Interrupted)}, Error: true}
			out = append(out, Entry{Message: Message{Role: RoleTool, Parts: []Part{res}}, Block: r.entries[i].Block})
			used[c.ID] = true
		}
	}
	return out
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

// onlyAnswers reports whether entry j consists of one open result for each of
// some of the calls, so that it can be placed as it is.
func (r *repair) onlyAnswers(j int, calls []ToolCall, used map[string]bool) bool {
	e := &r.entries[j]
	if len(e.Results()) != len(e.Parts) {
		return false
	}
	once := make(map[string]bool)
	for _, res := range e.Results() {
		known := false
		for _, c := range calls {
			known = known || c.ID == res.CallID
		}
		if !known || once[res.CallID] || used[res.CallID] {
			return false
		}
		once[res.CallID] = true
	}
	return true
}

// adjacent reports whether only results stand between entries i and j.
func (r *repair) adjacent(i, j int) bool {
	for k := i + 1; k < j; k++ {
		if r.entries[k].Role != RoleTool {
			return false
		}
	}
	return true
}

// loose places an entry whose results are not where they belong: results that
// were placed with their call are left out, the others become text.
func (r *repair) loose(out []Entry, e Entry, used map[string]bool) []Entry {
	var parts []Part
	for _, p := range e.Parts {
		res, ok := p.(ToolResult)
		switch {
		case !ok:
			parts = append(parts, p)
		case used[res.CallID] && r.results[res.CallID][0].part.Text() == res.Text():
			// the same result stands behind its call
		default:
			what := "result without a call became user text"
			if used[res.CallID] {
				what = "second result for a call became user text"
			}
			r.fix(len(out), what)
			parts = append(parts, Text("[carrel: tool result "+res.CallID+" without its call]\n"+res.Text()))
		}
	}
	if len(parts) == 0 {
		return out
	}
	role := e.Role
	if role == RoleTool {
		role = RoleUser
	}
	return append(out, Entry{Message: Message{Role: role, Parts: parts}, Block: e.Block})
}

func (r *repair) fix(message int, what string) {
	r.fixes = append(r.fixes, Fix{Message: message, What: what})
}
