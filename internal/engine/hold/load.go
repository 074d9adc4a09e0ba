package hold

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A Snapshot is a session at a revision, as a job works on it: what the store knows, and
// what its bytes say. All slices of blocks run in parallel.
type Snapshot struct {
	Head     *store.Head
	Session  *transcript.Session
	Blocks   []transcript.Block // with the ids of rows
	Rows     []store.Block      // in the visible conversation
	Earlier  []EarlierWindow    // the windows before it, the oldest first
	Off      []store.Block      // in none of them any more
	Items    []store.CellID     // whose bodies are the input
	Bodies   [][]byte           // of items; they share the memory of the input
	Said     []string           // what each block says, once asked for
	Summary  *WindowSummary     // what stands in the window for older blocks, or nil
	Contract *Agreement         // the contract, once asked for

	Unrecorded []unrecorded // blocks of earlier windows that the store does not have
	apart      bool         // read as it was when it was stored, see claudecode.Format
	Prefix     *FilePrefix  // what is before a session of which only the end is held, or nil
}

// Outdated reports whether the session was stored when less was read in its file.
func (h *Snapshot) Outdated() bool { return h.apart || len(h.Unrecorded) > 0 }

// Texts returns what each block says.
func (h *Snapshot) Texts() []string {
	if h.Said == nil {
		h.Said = make([]string, len(h.Blocks))
		for i := range h.Blocks {
			h.Said[i] = h.Blocks[i].Text(h.Session.Messages)
		}
	}
	return h.Said
}

// About is what the about cell of a session holds.
type About struct {
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Name    string `json:"name,omitempty"` // of the file it was imported from

	Critical bool          `json:"critical,omitempty"` // nothing may stand for it that cannot be checked
	Trail    *FileProgress `json:"trail,omitempty"`    // how far the file was read
}

// About returns what the about cell of a session holds.
func (e *Desk) About(ctx context.Context, scope governance.Scope, head *store.Head) (*About, error) {
	bodies, err := e.Bodies(ctx, scope, []store.CellID{head.About})
	if err != nil {
		return nil, err
	}
	return readAbout(head, bodies[0])
}

func readAbout(head *store.Head, body []byte) (*About, error) {
	a := &About{}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("%w: about cell of session %s: %w", store.ErrCorrupt, head.ID, err)
	}
	return a, nil
}

// Rereads is how often a session is read that others are writing, until it is found as
// it was at one revision.
const Rereads = 20

// Load reads a session and decodes it.
func (e *Desk) Load(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*Snapshot, error) {
	return e.LoadWith(ctx, scope, id, e.Head)
}

// A headReader reads the head of a session.
type headReader = func(context.Context, governance.Scope, transcript.SessionID) (*store.Head, error)

// LoadWith loads a session whose head is read by a function that refuses what must not be
// loaded.
func (e *Desk) LoadWith(ctx context.Context, scope governance.Scope, id transcript.SessionID, read headReader) (*Snapshot, error) {
	head, err := read(ctx, scope, id)
	for range Rereads {
		if err != nil {
			return nil, err
		}
		if h := e.kept(ctx, scope, head); h != nil {
			return h, nil
		}
		h, data, readErr := e.Read(ctx, scope, head)
		if head, err = read(ctx, scope, id); err != nil || head.Revision != h.Head.Revision {
			continue // what was read is of several revisions, whatever is wrong with it
		}
		if readErr != nil {
			return nil, readErr
		}
		e.Sessions.keep(keptOf(scope, h, data))
		if err := h.Decode(data); err != nil {
			return nil, err
		}
		return h, nil
	}
	return nil, fmt.Errorf("session %s: %w, again and again", id, store.ErrConflict)
}

// kept returns a session that is kept as it is with a head, decoded, or nil.
func (e *Desk) kept(ctx context.Context, scope governance.Scope, head *store.Head) *Snapshot {
	k := e.Sessions.find(scope, head)
	if k == nil {
		return nil
	}
	h := k.snapshot(head)
	var err error
	if h.Summary, err = e.ReadSummary(ctx, scope, head.Summary); err != nil || h.Decode(k.data) != nil {
		return nil // the store tells what is wrong
	}
	return h
}

// Read reads what a session is made of, and its input. All of it is of the revision of
// the head only if the session still has that afterwards.
func (e *Desk) Read(ctx context.Context, scope governance.Scope, head *store.Head) (h *Snapshot, data []byte, err error) {
	h = &Snapshot{Head: head}
	if h.Items, err = e.Store.Items(ctx, scope, head.ID); err != nil {
		return h, nil, err
	}
	if data, err = e.input(ctx, scope, h); err != nil {
		return h, nil, err
	}
	for b, err := range e.Store.Blocks(ctx, scope, head.ID) {
		if err != nil {
			return h, nil, err
		}
		h.add(b)
	}
	h.Summary, err = e.ReadSummary(ctx, scope, head.Summary)
	return h, data, err
}

// add adds the row of a block.
func (h *Snapshot) add(b *store.Block) {
	if b.Off {
		h.Off = append(h.Off, *b)
	} else {
		h.Rows = append(h.Rows, *b)
	}
}

// Decode reads the conversation from the input.
func (h *Snapshot) Decode(data []byte) (err error) {
	id, head := h.Head.ID, h.Head
	if head.Format == "" { // a contract whose conversation has not come yet
		h.Session = &transcript.Session{ID: id}
		return nil
	}
	f, err := FormatNamed(head.Format)
	if err != nil {
		return err
	}
	earlier, err := h.decodeAs(f, data)
	if older, ok := f.(interface{ Apart() transcript.Format }); ok && err == nil && len(h.Blocks) != len(h.Rows) {
		h.apart = true
		earlier, err = h.decodeAs(older.Apart(), data)
	}
	if err != nil {
		return err
	}
	if len(h.Blocks) != len(h.Rows) {
		return fmt.Errorf("%w: session has %d blocks, %d are recorded (import the file again)", store.ErrCorrupt, len(h.Blocks), len(h.Rows))
	}
	for i := range h.Blocks {
		h.Blocks[i].ID = h.Rows[i].ID
	}
	if len(earlier) > 0 {
		h.findEarlier(earlier)
	}
	return nil
}

// decodeAs reads the conversation in a format, and returns the blocks of its earlier
// windows.
func (h *Snapshot) decodeAs(f transcript.Format, data []byte) (earlier [][]transcript.Block, err error) {
	if h.Session, err = f.Decode(string(h.Head.ID), data); err != nil {
		return nil, fmt.Errorf("%w: stored session cannot be read: %w", store.ErrCorrupt, err)
	}
	h.Session.ID = h.Head.ID
	h.Blocks, earlier = h.Session.Blocks()
	return earlier, nil
}

// CheckConversation returns an error if the session has none, and a contract alone.
func (h *Snapshot) CheckConversation() error {
	if h.Head.Format == "" {
		return fmt.Errorf("%w: it has a contract and no conversation yet: import one", api.ErrRequest)
	}
	return nil
}

// CheckPaged returns an error if the session has no conversation, or not all of it, so that
// nothing can leave its window.
func (h *Snapshot) CheckPaged() error {
	if at := h.Session.Elsewhere; at != "" {
		return fmt.Errorf("%w: session %s cannot be paged: by its %s, a part of its history is at the provider's server", api.ErrPolicy, h.Head.ID, at)
	}
	return h.CheckConversation()
}

// input returns the input of a session, and fills in the bodies of its items.
func (e *Desk) input(ctx context.Context, scope governance.Scope, h *Snapshot) ([]byte, error) {
	data := make([]byte, 0, h.Head.Bytes)
	ends := make([]int, 0, len(h.Items))
	for c, err := range e.Store.Cells(ctx, scope, h.Items) {
		if err != nil {
			return nil, err
		}
		data = append(data, c.Body...)
		ends = append(ends, len(data))
	}
	h.cut(data, ends)
	return data, nil
}

// cut makes pieces of the input the bodies of the items, given where each ends.
func (h *Snapshot) cut(data []byte, ends []int) {
	from := 0
	for _, to := range ends {
		h.Bodies = append(h.Bodies, data[from:to:to])
		from = to
	}
}

// Bodies returns the bodies of cells, in order.
func (e *Desk) Bodies(ctx context.Context, scope governance.Scope, ids []store.CellID) ([][]byte, error) {
	bodies := make([][]byte, 0, len(ids))
	for c, err := range e.Store.Cells(ctx, scope, ids) {
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, c.Body)
	}
	return bodies, nil
}

// Index returns the index of a block by its id, or -1.
func (h *Snapshot) Index(id transcript.BlockID) int {
	return slices.IndexFunc(h.Rows, func(b store.Block) bool { return b.ID == id })
}

// IndexByID returns the index of each block by its id, for jobs that ask for many.
func (h *Snapshot) IndexByID() map[transcript.BlockID]int {
	places := make(map[transcript.BlockID]int, len(h.Rows))
	for i := range h.Rows {
		places[h.Rows[i].ID] = i
	}
	return places
}

// FirstBlocks returns how many blocks the first n are: all of them, if n is 0.
func (h *Snapshot) FirstBlocks(n int) (int, error) {
	switch {
	case n == 0:
		return len(h.Blocks), nil
	case n < 0 || n > len(h.Blocks):
		return 0, fmt.Errorf("%w: %d blocks of %d", api.ErrRequest, n, len(h.Blocks))
	}
	return n, nil
}

// Stubs returns the stubs of the rows that have one.
func (e *Desk) Stubs(ctx context.Context, scope governance.Scope, rows []store.Block) (map[transcript.BlockID]pager.Stub, error) {
	var ids []store.CellID
	var owners []transcript.BlockID
	for i := range rows {
		if rows[i].Stub != "" {
			ids, owners = append(ids, rows[i].Stub), append(owners, rows[i].ID)
		}
	}
	bodies, err := e.Bodies(ctx, scope, ids)
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

// Window returns what is in the window of a session, given its rows, their
// stubs, and its summary or nil.
func (h *Snapshot) Window(rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *WindowSummary) *transcript.Window {
	type placed struct {
		at    int // index of the message
		entry transcript.Entry
	}
	msgs := h.Session.Messages
	var all []placed
	if sum != nil && sum.After == "" {
		all = append(all, placed{-1, sum.Entry()})
	}
	for i := range h.Blocks {
		b := &h.Blocks[i]
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
			all = append(all, placed{b.Messages[len(b.Messages)-1], sum.Entry()})
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].at < all[b].at })
	w := &transcript.Window{Session: h.Session, Entries: make([]transcript.Entry, len(all))}
	for i := range all {
		w.Entries[i] = all[i].entry
	}
	return w
}

// CloseQuotes puts a line behind each text that stands for something else and ends in a
// quotation, where neither another such text follows nor words of the assistant's: what
// is quoted ends there, and what the user says next does not belong to it. What an account
// keeps of the user's words is the user's, too. Formats whose provider keeps messages apart
// need no such line.
func CloseQuotes(w *transcript.Window, format string) *transcript.Window {
	if !MergesMessages(format) {
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
			if another && (marked(said) || !marked(text)) || next.Role == transcript.RoleAssistant && HasContent(&next.Message) {
				continue
			}
		}
		w.Entries[i].Parts = []transcript.Part{transcript.Text(text + "\n" + transcript.End)}
	}
	return w
}

// marked reports whether a text says in its first line what it stands for.
func marked(text string) bool { return strings.HasPrefix(text, transcript.Mark) }

// MergesMessages reports whether the provider that gets a format makes one message of several in
// a row that are of the same role.
func MergesMessages(format string) bool { return format == "anthropic" || format == "claudecode" }

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

// HasContent reports whether a message has something that every format carries.
func HasContent(m *transcript.Message) bool {
	return strings.TrimSpace(m.Text()) != "" || len(m.Calls()) > 0
}

// JoinStubs puts what stands for blocks that follow each other into one message: agents
// read one better than twenty, and each has its price.
func JoinStubs(w *transcript.Window, format string) *transcript.Window {
	w = CloseQuotes(w, format)
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
