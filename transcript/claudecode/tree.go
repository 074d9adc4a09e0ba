package claudecode

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// A tree holds the rows of a session, linked by uuid and parentUuid.
type tree struct {
	rows   []row // in the order of the file
	at     map[string]int
	parent []int // index in rows, or -1
	inner  []bool
}

func grow(rows []row) *tree {
	t := &tree{rows: rows, at: make(map[string]int, len(rows)), parent: make([]int, len(rows)), inner: make([]bool, len(rows))}
	for i := range rows {
		t.at[rows[i].uuid] = i
	}
	for i := range rows {
		p, ok := t.at[rows[i].parent]
		if !ok {
			p = -1
		} else {
			t.inner[p] = true
		}
		t.parent[i] = p
	}
	return t
}

// leaf returns the index of the row at which the conversation ends, or -1. If noted is true, it
// follows the older rule, by which a note of the program could end the conversation.
func (t *tree) leaf(noted bool) int {
	best := -1
	if !noted {
		for i, at := range t.nearest(func(i int) bool { return t.rows[i].chat() && !t.rows[i].hidden && t.rows[i].operation == "" }) {
			if !t.inner[i] {
				best = max(best, at)
			}
		}
	}
	if best >= 0 {
		return best
	}
	bestHidden := true
	for i, at := range t.nearest(func(i int) bool { return t.rows[i].chat() }) {
		if t.inner[i] || at < 0 {
			continue
		}
		hidden := t.rows[at].hidden
		if bestHidden && !hidden || hidden == bestHidden && at > best {
			best, bestHidden = at, hidden
		}
	}
	return best
}

// nearest returns for each row the nearest row at or above it that fits, or -1.
func (t *tree) nearest(fits func(i int) bool) []int {
	at := slices.Repeat([]int{-1}, len(t.rows))
	for i, p := range t.downward() {
		switch {
		case fits(i):
			at[i] = i
		case p >= 0:
			at[i] = at[p]
		}
	}
	return at
}

// downward yields each row with its parent (or -1). Except in a cycle, a parent precedes its
// children.
func (t *tree) downward() iter.Seq2[int, int] {
	return func(yield func(i, parent int) bool) {
		seen := make([]bool, len(t.rows))
		var path []int
		for i := range t.rows {
			path = path[:0]
			for ; i >= 0 && !seen[i]; i = t.parent[i] {
				seen[i] = true
				path = append(path, i)
			}
			for _, i := range slices.Backward(path) {
				if !yield(i, t.parent[i]) {
					return
				}
			}
		}
	}
}

// path yields the rows from i up to the root.
func (t *tree) path(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for range t.rows { // no path has more rows, so a cycle ends here
			if i < 0 || !yield(i) {
				return
			}
			i = t.parent[i]
		}
	}
}

// A window holds the rows of the conversation between two compactions.
type window struct {
	rows []int // rows of messages, in the order of the file
	kept kept  // rows kept over the compaction at the window's beginning
}

// A kept value lists the rows that the agent kept over a compaction. In the conversation
// they follow the row anchor.
type kept struct {
	rows   []int // in the order of the conversation
	place  map[int]int
	anchor int
	cut    int // row that marks the compaction
}

// A walk finds the windows of a session, from the newest to the oldest.
type walk struct {
	*tree

	session *transcript.Session
	notes   bool             // hidden rows belong to the conversation
	apart   bool             // see Format.Apart
	replies map[string][]int // rows by message id; a reply is removed once its window is known
	results map[string][]int // rows of results by call id
	calls   map[string]int   // row of the call by call id; built by callers on first use
	queued  map[int][]int    // rows of operations of the queue, by the row below which they stand
	marks   []int            // rows that mark compactions, in the order of the file
	taken   []bool           // the row is in a window
	walked  []int            // number of times that the path passed over a row
	listed  []int            // number of compactions that kept a row
}

// windows returns the windows of the conversation that ends at leaf, the newest first.
func (t *tree) windows(leaf int, s *transcript.Session, apart bool) []window {
	w := &walk{
		tree: t, session: s, notes: t.rows[leaf].hidden, apart: apart,
		replies: make(map[string][]int), results: make(map[string][]int), queued: make(map[int][]int),
		taken: make([]bool, len(t.rows)), walked: make([]int, len(t.rows)), listed: make([]int, len(t.rows)),
	}
	for i := range t.rows {
		switch r := &t.rows[i]; {
		case r.queued && r.operation != "":
			w.queued[t.parent[i]] = append(w.queued[t.parent[i]], i)
		case r.reply != "":
			w.replies[r.reply] = append(w.replies[r.reply], i)
		case r.kind == "user":
			for _, id := range r.answered() {
				w.results[id] = append(w.results[id], i)
			}
		case r.boundary && (!r.sidechain || w.notes):
			w.marks = append(w.marks, i)
		}
	}
	var all []window
	end := len(t.rows) // row that marks the compaction after the window, or the number of rows
	for at := leaf; at >= 0; {
		found, root := w.window(at, end)
		all = append(all, found)
		if root >= end {
			break
		}
		at, end = w.before(root), root
	}
	return all
}

// window returns the window that ends at row leaf, and the row at which its path begins.
func (w *walk) window(leaf, end int) (window, int) {
	found := window{kept: w.keptBefore(end)}
	member := make(map[int]bool)
	join := func(i int) {
		r := &w.rows[i]
		if !member[i] && !w.taken[i] && r.chat() && (!r.hidden || w.notes) {
			member[i] = true
			found.rows = append(found.rows, i)
		}
	}
	reply := func(i int) { // adds all rows of the reply and the results of its calls
		r := &w.rows[i]
		if r.kind != "assistant" {
			return
		}
		rows := []int{i}
		if r.reply != "" {
			rows = w.replies[r.reply]
			delete(w.replies, r.reply) // visit each reply once
		}
		for _, k := range rows {
			join(k)
			for _, id := range w.rows[k].callIDs() {
				for _, result := range w.results[id] {
					join(result)
				}
			}
		}
	}
	root := leaf
	for i := leaf; i >= 0 && w.walked[i] <= w.listed[i]; i = found.kept.parent(w.tree, i) {
		w.walked[i]++
		root = i
		join(i)
		reply(i)
		if _, ok := found.kept.place[i]; ok && w.rows[i].kind == "user" {
			for _, id := range w.rows[i].answered() {
				if call, ok := w.callers()[id]; ok {
					reply(call) // a call and its result stay in the same window
				}
			}
		}
	}
	for k := 0; k < len(found.rows); k++ { // a row joined here may have such rows below it, too
		for _, q := range w.queued[found.rows[k]] {
			join(q)
		}
	}
	for _, i := range found.rows {
		w.taken[i] = true
	}
	slices.Sort(found.rows)
	return found, root
}

// callers returns the row of each call, by call id.
func (w *walk) callers() map[string]int {
	if w.calls == nil {
		w.calls = make(map[string]int)
		for i := range w.rows {
			if r := &w.rows[i]; r.kind == "assistant" {
				for _, id := range r.callIDs() {
					w.calls[id] = i
				}
			}
		}
	}
	return w.calls
}

// before returns the last row of the window before the compaction at root, the first row
// of the following window, or -1 if root begins no compacted window.
func (w *walk) before(root int) int {
	r := &w.rows[root]
	if !r.boundary && !r.summary {
		return -1
	}
	if at, ok := w.at[r.before]; ok && at < root {
		return at
	}
	for i := root - 1; i >= 0; i-- {
		if q := &w.rows[i]; q.chat() && (!q.hidden || w.notes) {
			return i
		}
	}
	return -1
}

// keptBefore returns the rows kept over the last compaction before row end. It returns none
// if the list names a missing row or its anchor is missing.
func (w *walk) keptBefore(end int) kept {
	n, _ := slices.BinarySearch(w.marks, end)
	if n == 0 || w.apart {
		return kept{}
	}
	k := kept{cut: w.marks[n-1], place: make(map[int]int)}
	w.marks = w.marks[:n-1] // visit each mark once
	meta := gjson.Get(view(w.session.Items[w.rows[k.cut].item].Raw), "compactMetadata")
	var anchor string
	if list := meta.Get("preservedMessages"); list.Exists() {
		anchor = list.Get("anchorUuid").String()
		for _, id := range list.Get("uuids").Array() {
			i, ok := w.at[id.String()]
			if _, twice := k.place[i]; !ok || twice || i >= k.cut {
				return kept{}
			}
			k.place[i] = len(k.rows)
			k.rows = append(k.rows, i)
		}
	} else if segment := meta.Get("preservedSegment"); segment.Exists() {
		anchor = segment.Get("anchorUuid").String()
		k.rows = w.segment(segment.Get("headUuid").String(), segment.Get("tailUuid").String(), k.cut)
		for n, i := range k.rows {
			k.place[i] = n
		}
	}
	var ok bool
	if k.anchor, ok = w.at[anchor]; !ok || k.anchor < k.cut || len(k.rows) == 0 {
		return kept{}
	}
	for _, i := range k.rows {
		w.listed[i]++
	}
	return k
}

// segment returns the rows of the path from the row with the id in head to the row with the id in
// tail. All of them must precede the row with the index cut. It returns nil if there is no such
// path.
func (w *walk) segment(head, tail string, cut int) []int {
	first, ok := w.at[head]
	last, found := w.at[tail]
	if !ok || !found {
		return nil
	}
	var rows []int
	for i := range w.path(last) {
		if i >= cut {
			return nil
		}
		rows = append(rows, i)
		if i == first {
			slices.Reverse(rows)
			return rows
		}
	}
	return nil
}

// parent returns the parent of row i if the kept rows follow their anchor, or -1.
func (k *kept) parent(t *tree, i int) int {
	if len(k.rows) == 0 {
		return t.parent[i]
	}
	switch n, ok := k.place[i]; {
	case ok && n == 0:
		return k.anchor
	case ok:
		return k.rows[n-1]
	case t.parent[i] == k.anchor:
		return k.rows[len(k.rows)-1]
	}
	return t.parent[i]
}

// order returns the rows of a window in conversation order. This is the order of the file,
// in which a parent precedes its children, with kept rows moved behind their anchor. Within
// the places of a reply whose rows have block numbers, the rows are sorted by these numbers.
func (t *tree) order(w window) []int {
	from, _ := slices.BinarySearch(w.rows, w.kept.cut)    // 0 if no row is kept
	at, _ := slices.BinarySearch(w.rows, w.kept.anchor+1) // first row after the anchor
	at = max(at, from)
	order := slices.Concat(w.rows[from:at], w.rows[:from], w.rows[at:])
	places := make(map[string][]int) // message id → its indexes in order
	for n, i := range order {
		if r := &t.rows[i]; r.reply != "" && r.block >= 0 {
			places[r.reply] = append(places[r.reply], n)
		}
	}
	for _, at := range places { // sets of places are disjoint, so map order does not matter
		rows := make([]int, len(at))
		for k, p := range at {
			rows[k] = order[p]
		}
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(t.rows[a].block, t.rows[b].block) })
		for k, p := range at {
			order[p] = rows[k]
		}
	}
	return order
}

// branches lists the messages that are in no window, as branches.
func (t *tree) branches(shown []bool) []transcript.Branch {
	tops := t.tops(shown)
	above := t.nearest(func(i int) bool { return shown[i] })
	place := make(map[int]int) // top row of a branch → index in found
	var found []transcript.Branch
	for i := range t.rows {
		r := &t.rows[i]
		if shown[i] || !r.chat() || r.hidden && !r.sidechain {
			continue
		}
		root := tops[r.sidechain][i]
		at, ok := place[root]
		if !ok {
			at = len(found)
			place[root] = at
			found = append(found, t.branch(root, above[root]))
		}
		found[at].Leaf = r.uuid
		found[at].Messages++
	}
	return found
}

// tops returns for each row the uppermost message at or above it, below the rows that are shown,
// or -1: among the messages of sub-agents (key true) and among the others (key false).
func (t *tree) tops(shown []bool) map[bool][]int {
	tops := make(map[bool][]int)
	for _, side := range []bool{false, true} {
		top := slices.Repeat([]int{-1}, len(t.rows))
		for i, p := range t.downward() {
			if shown[i] {
				continue
			}
			if p >= 0 {
				top[i] = top[p]
			}
			if r := &t.rows[i]; top[i] < 0 && r.chat() && r.sidechain == side {
				top[i] = i
			}
		}
		tops[side] = top
	}
	return tops
}

// branch returns the branch that begins with row root. The nearest row above it that is shown is
// above, or -1.
func (t *tree) branch(root, above int) transcript.Branch {
	b := transcript.Branch{Kind: transcript.BranchCompacted, Root: t.rows[root].uuid}
	if above >= 0 {
		b.Kind, b.Parent = transcript.BranchFork, t.rows[above].uuid
	}
	if t.rows[root].sidechain {
		b.Kind = transcript.BranchSidechain
	}
	return b
}
