package carrel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A held session is a session as a job works on it: what the store knows, and
// what its bytes say. All slices of blocks run in parallel.
type held struct {
	head    *store.Head
	session *transcript.Session
	blocks  []transcript.Block // with the ids of rows
	rows    []store.Block      // in the visible conversation
	earlier []past             // the windows before it, the oldest first
	off     []store.Block      // in none of them any more
	items   []store.CellID     // whose bodies are the input
	bodies  [][]byte           // of items; they share the memory of the input
	said    []string           // what each block says, once asked for
	summary *standIn           // what stands in the window for older blocks, or nil
	agreed  *agreement         // the contract, once asked for

	unrecorded []unrecorded // blocks of earlier windows that the store does not have
	apart      bool         // read as it was when it was stored, see claudecode.Format
	begin      *beginning   // what is before a session of which only the end is held, or nil
}

// outdated reports whether the session was stored when less was read in its file.
func (h *held) outdated() bool { return h.apart || len(h.unrecorded) > 0 }

// texts returns what each block says.
func (h *held) texts() []string {
	if h.said == nil {
		h.said = make([]string, len(h.blocks))
		for i := range h.blocks {
			h.said[i] = h.blocks[i].Text(h.session.Messages)
		}
	}
	return h.said
}

// about is what the about cell of a session holds.
type about struct {
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Name    string `json:"name,omitempty"` // of the file it was imported from

	Critical bool   `json:"critical,omitempty"` // nothing may stand for it that cannot be checked
	Trail    *trail `json:"trail,omitempty"`    // how far the file was read
}

// about returns what the about cell of a session holds.
func (e *Engine) about(ctx context.Context, scope governance.Scope, head *store.Head) (*about, error) {
	bodies, err := e.bodies(ctx, scope, []store.CellID{head.About})
	if err != nil {
		return nil, err
	}
	return readAbout(head, bodies[0])
}

func readAbout(head *store.Head, body []byte) (*about, error) {
	a := &about{}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("%w: about cell of session %s: %w", store.ErrCorrupt, head.ID, err)
	}
	return a, nil
}

// rereads is how often a session is read that others are writing, until it is found as
// it was at one revision.
const rereads = 20

// load reads a session and decodes it.
func (e *Engine) load(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*held, error) {
	return e.loadBy(ctx, scope, id, e.head)
}

// A headReader reads the head of a session.
type headReader = func(context.Context, governance.Scope, transcript.SessionID) (*store.Head, error)

// loadBy loads a session whose head is read by a function that refuses what must not be
// loaded.
func (e *Engine) loadBy(ctx context.Context, scope governance.Scope, id transcript.SessionID, read headReader) (*held, error) {
	head, err := read(ctx, scope, id)
	for range rereads {
		if err != nil {
			return nil, err
		}
		h, data, readErr := e.read(ctx, scope, head)
		if head, err = read(ctx, scope, id); err != nil || head.Revision != h.head.Revision {
			continue // what was read is of several revisions, whatever is wrong with it
		}
		if readErr == nil {
			readErr = h.decode(data)
		}
		if readErr != nil {
			return nil, readErr
		}
		return h, nil
	}
	return nil, fmt.Errorf("session %s: %w, again and again", id, store.ErrConflict)
}

// read reads what a session is made of, and its input. All of it is of the revision of
// the head only if the session still has that afterwards.
func (e *Engine) read(ctx context.Context, scope governance.Scope, head *store.Head) (h *held, data []byte, err error) {
	h = &held{head: head}
	if h.items, err = e.store.Items(ctx, scope, head.ID); err != nil {
		return h, nil, err
	}
	if data, err = e.input(ctx, scope, h); err != nil {
		return h, nil, err
	}
	for b, err := range e.store.Blocks(ctx, scope, head.ID) {
		if err != nil {
			return h, nil, err
		}
		if b.Off {
			h.off = append(h.off, *b)
		} else {
			h.rows = append(h.rows, *b)
		}
	}
	h.summary, err = e.standIn(ctx, scope, head.Summary)
	return h, data, err
}

// decode reads the conversation from the input.
func (h *held) decode(data []byte) (err error) {
	id, head := h.head.ID, h.head
	if head.Format == "" { // a contract whose conversation has not come yet
		h.session = &transcript.Session{ID: id}
		return nil
	}
	f, err := FormatNamed(head.Format)
	if err != nil {
		return err
	}
	earlier, err := h.decodeAs(f, data)
	if older, ok := f.(interface{ Apart() transcript.Format }); ok && err == nil && len(h.blocks) != len(h.rows) {
		h.apart = true
		earlier, err = h.decodeAs(older.Apart(), data)
	}
	if err != nil {
		return err
	}
	if len(h.blocks) != len(h.rows) {
		return fmt.Errorf("%w: session has %d blocks, %d are recorded (import the file again)", store.ErrCorrupt, len(h.blocks), len(h.rows))
	}
	for i := range h.blocks {
		h.blocks[i].ID = h.rows[i].ID
	}
	if len(earlier) > 0 {
		h.remember(earlier)
	}
	return nil
}

// decodeAs reads the conversation in a format, and returns the blocks of its earlier
// windows.
func (h *held) decodeAs(f transcript.Format, data []byte) (earlier [][]transcript.Block, err error) {
	if h.session, err = f.Decode(string(h.head.ID), data); err != nil {
		return nil, fmt.Errorf("%w: stored session cannot be read: %w", store.ErrCorrupt, err)
	}
	h.session.ID = h.head.ID
	h.blocks, earlier = h.session.Blocks()
	return earlier, nil
}

// conversation returns an error if the session has none, and a contract alone.
func (h *held) conversation() error {
	if h.head.Format == "" {
		return fmt.Errorf("%w: it has a contract and no conversation yet: import one", ErrRequest)
	}
	return nil
}

// input returns the input of a session, and fills in the bodies of its items.
func (e *Engine) input(ctx context.Context, scope governance.Scope, h *held) ([]byte, error) {
	data := make([]byte, 0, h.head.Bytes)
	ends := make([]int, 0, len(h.items))
	for c, err := range e.store.Cells(ctx, scope, h.items) {
		if err != nil {
			return nil, err
		}
		data = append(data, c.Body...)
		ends = append(ends, len(data))
	}
	from := 0
	for _, to := range ends {
		h.bodies = append(h.bodies, data[from:to:to])
		from = to
	}
	return data, nil
}

// bodies returns the bodies of cells, in order.
func (e *Engine) bodies(ctx context.Context, scope governance.Scope, ids []store.CellID) ([][]byte, error) {
	bodies := make([][]byte, 0, len(ids))
	for c, err := range e.store.Cells(ctx, scope, ids) {
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, c.Body)
	}
	return bodies, nil
}

// index returns the index of a block by its id, or -1.
func (h *held) index(id transcript.BlockID) int {
	return slices.IndexFunc(h.rows, func(b store.Block) bool { return b.ID == id })
}

// places returns the index of each block by its id, for jobs that ask for many.
func (h *held) places() map[transcript.BlockID]int {
	places := make(map[transcript.BlockID]int, len(h.rows))
	for i := range h.rows {
		places[h.rows[i].ID] = i
	}
	return places
}

// first returns how many blocks the first n are: all of them, if n is 0.
func (h *held) first(n int) (int, error) {
	switch {
	case n == 0:
		return len(h.blocks), nil
	case n < 0 || n > len(h.blocks):
		return 0, fmt.Errorf("%w: %d blocks of %d", ErrRequest, n, len(h.blocks))
	}
	return n, nil
}

// stubs returns the stubs of the rows that have one.
func (e *Engine) stubs(ctx context.Context, scope governance.Scope, rows []store.Block) (map[transcript.BlockID]pager.Stub, error) {
	var ids []store.CellID
	var owners []transcript.BlockID
	for i := range rows {
		if rows[i].Stub != "" {
			ids, owners = append(ids, rows[i].Stub), append(owners, rows[i].ID)
		}
	}
	bodies, err := e.bodies(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	stubs := make(map[transcript.BlockID]pager.Stub, len(ids))
	for i, body := range bodies {
		var s pager.Stub
		if err := json.Unmarshal(body, &s); err != nil {
			return nil, fmt.Errorf("%w: stub of block %s: %w", store.ErrCorrupt, owners[i], err)
		}
		stubs[owners[i]] = s
	}
	return stubs, nil
}

// window returns what is in the window of a session, given its rows, their
// stubs, and its summary or nil.
func (h *held) window(rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *standIn) *transcript.Window {
	type placed struct {
		at    int // index of the message
		entry transcript.Entry
	}
	msgs := h.session.Messages
	var all []placed
	if sum != nil && sum.After == "" {
		all = append(all, placed{-1, sum.entry()})
	}
	for i := range h.blocks {
		b := &h.blocks[i]
		at := b.Messages[0]
		for _, e := range pager.Entries(msgs, b, pager.Form(rows[i].Form), stubs[b.ID]) {
			for _, k := range b.Messages {
				if e.Source == &msgs[k] {
					at = k
				}
			}
			all = append(all, placed{at, e})
		}
		if sum != nil && sum.After == b.ID {
			all = append(all, placed{b.Messages[len(b.Messages)-1], sum.entry()})
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].at < all[b].at })
	w := &transcript.Window{Session: h.session, Entries: make([]transcript.Entry, len(all))}
	for i := range all {
		w.Entries[i] = all[i].entry
	}
	return w
}

// closed puts a line behind each text that stands for something else and ends in a
// quotation, where neither another such text follows nor words of the assistant's: what
// is quoted ends there, and what the user says next does not belong to it. What an account
// keeps of the user's words is the user's, too. Formats whose provider keeps messages apart
// need no such line.
func closed(w *transcript.Window, format string) *transcript.Window {
	if !merges(format) {
		return w
	}
	for i := range w.Entries {
		text, ok := standsFor(&w.Entries[i])
		if !ok || !strings.Contains(text, "\n") {
			continue
		}
		if i+1 < len(w.Entries) {
			next := &w.Entries[i+1]
			said, another := standsFor(next)
			if another && (marked(said) || !marked(text)) || next.Role == transcript.RoleAssistant && speaks(&next.Message) {
				continue
			}
		}
		w.Entries[i].Parts = []transcript.Part{transcript.Text(text + "\n" + transcript.End)}
	}
	return w
}

// marked reports whether a text says in its first line what it stands for.
func marked(text string) bool { return strings.HasPrefix(text, transcript.Mark) }

// merges reports whether the provider that gets a format makes one message of several in
// a row that are of the same role.
func merges(format string) bool { return format == "anthropic" || format == "claudecode" }

// standsFor returns the text of an entry that stands for something else, in the user's
// voice.
func standsFor(e *transcript.Entry) (string, bool) {
	if e.Role != transcript.RoleUser {
		return "", false
	}
	return madeText(e)
}

// madeText returns the text of an entry that stands for something else.
func madeText(e *transcript.Entry) (string, bool) {
	if e.Source != nil || len(e.Parts) != 1 {
		return "", false
	}
	text, ok := e.Parts[0].(transcript.Text)
	return string(text), ok
}

// speaks reports whether a message has something that every format carries.
func speaks(m *transcript.Message) bool {
	return strings.TrimSpace(m.Text()) != "" || len(m.Calls()) > 0
}

// joined puts what stands for blocks that follow each other into one message: agents
// read one better than twenty, and each has its price.
func joined(w *transcript.Window, format string) *transcript.Window {
	w = closed(w, format)
	out := &transcript.Window{Session: w.Session, Entries: make([]transcript.Entry, 0, len(w.Entries))}
	var texts []string
	var voice transcript.Role
	flush := func() {
		if len(texts) > 0 {
			e := transcript.Stub("", strings.Join(texts, "\n"))
			e.Role = voice
			out.Entries = append(out.Entries, e)
			texts = nil
		}
	}
	for _, e := range w.Entries {
		if text, ok := madeText(&e); ok {
			if e.Role != voice {
				flush()
			}
			texts, voice = append(texts, text), e.Role
			continue
		}
		flush()
		out.Entries = append(out.Entries, e)
	}
	flush()
	return out
}

// state returns the state that a form leads to.
func state(f pager.Form) store.State {
	switch f {
	case pager.Whole, pager.Bare:
		return store.StateLive
	case pager.Gone:
		return store.StateCold
	case pager.Calls, pager.Lines, pager.Line:
	}
	return store.StateStub
}
