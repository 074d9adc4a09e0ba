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

// A Snapshot is a session at a revision: the rows of the store, and the messages decoded from its
// bytes. Blocks and Rows are parallel.
type Snapshot struct {
	Head     *store.Head
	Session  *transcript.Session
	Blocks   []transcript.Block // with the ids of Rows
	Rows     []store.Block      // rows of the present conversation
	Earlier  []EarlierWindow    // windows before a compaction by the client, oldest first
	Off      []store.Block      // rows in no window any more
	Items    []store.CellID     // cells whose bodies make up the input
	Bodies   [][]byte           // bodies of Items; they share the memory of the input
	Said     []string           // text of each block, set at first use
	Summary  *WindowSummary     // summary of older blocks in the window, or nil
	Contract *Agreement         // the contract, set at first use

	Unrecorded []unrecorded // blocks of earlier windows that are not in the store
	older      bool         // decoded by the older rules of its format, by which it was stored; see claudecode.Format.Older
	Prefix     *FilePrefix  // the part before the end, if only the end of a file is loaded, or nil
}

// Outdated reports whether the session was stored by a version that read less of its file.
func (h *Snapshot) Outdated() bool { return h.older || len(h.Unrecorded) > 0 }

// Texts returns the text of each block.
func (h *Snapshot) Texts() []string {
	if h.Said == nil {
		h.Said = make([]string, len(h.Blocks))
		for i := range h.Blocks {
			h.Said[i] = h.Blocks[i].Text(h.Session.Messages)
		}
	}
	return h.Said
}

// About is the content of a session's about cell.
type About struct {
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Name    string `json:"name,omitempty"` // name of the file that was imported

	Critical bool          `json:"critical,omitempty"` // Carrel must not use a summary that nobody can check
	Logged   bool          `json:"logged,omitempty"`   // the file has a log of the client's requests
	Trail    *FileProgress `json:"trail,omitempty"`    // how far the file was read
}

// About reads the about cell of a session.
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
		return nil, fmt.Errorf("%w: decode the about cell of session %s: %w", store.ErrCorrupt, head.ID, err)
	}
	return a, nil
}

// Rereads is the most attempts to read a session at one revision while others write to it.
const Rereads = 20

// Load reads a session and decodes it.
func (e *Desk) Load(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*Snapshot, error) {
	return e.LoadWith(ctx, scope, id, e.Head)
}

// A headReader reads the head of a session, or fails if the session must not be loaded.
type headReader = func(context.Context, governance.Scope, transcript.SessionID) (*store.Head, error)

// LoadWith loads a session like [Desk.Load], but reads the head by the function read, which decides
// whether the session may be loaded.
func (e *Desk) LoadWith(ctx context.Context, scope governance.Scope, id transcript.SessionID, read headReader) (*Snapshot, error) {
	head, err := read(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	for range Rereads {
		if h := e.kept(ctx, scope, head); h != nil {
			return h, nil
		}
		h, data, readErr := e.Read(ctx, scope, head)
		if head, err = read(ctx, scope, id); err != nil {
			return nil, err
		}
		if head.Revision != h.Head.Revision {
			continue // the parts read are of several revisions: ignore their errors
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
	return nil, fmt.Errorf("read session %s: %w at each of %d attempts: try again", id, store.ErrConflict, Rereads)
}

// kept returns the session with the given head from the cache, decoded, or nil if it is not there.
func (e *Desk) kept(ctx context.Context, scope governance.Scope, head *store.Head) *Snapshot {
	k := e.Sessions.find(scope, head)
	if k == nil {
		return nil
	}
	h := k.snapshot(head)
	var err error
	if h.Summary, err = e.ReadSummary(ctx, scope, head.Summary); err != nil || h.Decode(k.data) != nil {
		return nil // reading the store gives the error
	}
	return h
}

// Read reads the items and rows of a session, and its input. They belong to the revision of the
// head only if the session still has this revision afterwards.
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

// add appends the row of a block.
func (h *Snapshot) add(b *store.Block) {
	if b.Off {
		h.Off = append(h.Off, *b)
	} else {
		h.Rows = append(h.Rows, *b)
	}
}

// Decode decodes the conversation from the input.
func (h *Snapshot) Decode(data []byte) (err error) {
	id, head := h.Head.ID, h.Head
	if head.Format == "" { // a contract without a conversation yet
		h.Session = &transcript.Session{ID: id}
		return nil
	}
	f, err := FormatNamed(head.Format)
	if err != nil {
		return err
	}
	earlier, err := h.decodeAs(f, data)
	if f, ok := f.(interface{ Older() []transcript.Format }); ok {
		for _, older := range f.Older() {
			if err == nil && len(h.Blocks) != len(h.Rows) {
				h.older = true
				earlier, err = h.decodeAs(older, data)
			}
		}
	}
	if err != nil {
		return err
	}
	if len(h.Blocks) != len(h.Rows) {
		return fmt.Errorf("%w: the session has %d blocks, but %d are recorded: import the file again", store.ErrCorrupt, len(h.Blocks), len(h.Rows))
	}
	for i := range h.Blocks {
		h.Blocks[i].ID = h.Rows[i].ID
	}
	if len(earlier) > 0 {
		h.findEarlier(earlier)
	}
	return nil
}

// decodeAs decodes data as a conversation in the format f into h, and returns the blocks of the
// earlier windows.
func (h *Snapshot) decodeAs(f transcript.Format, data []byte) (earlier [][]transcript.Block, err error) {
	if h.Session, err = f.Decode(string(h.Head.ID), data); err != nil {
		return nil, fmt.Errorf("%w: the stored conversation cannot be decoded: %w", store.ErrCorrupt, err)
	}
	h.Session.ID = h.Head.ID
	h.Blocks, earlier = h.Session.Blocks()
	return earlier, nil
}

// CheckConversation returns an error if the session has only a contract and no conversation.
func (h *Snapshot) CheckConversation() error {
	if h.Head.Format == "" {
		return fmt.Errorf("%w: the session has a contract but no conversation yet: import a file with this session id", api.ErrRequest)
	}
	return nil
}

// CheckPaged returns an error if no block can leave the window, because the session has no
// conversation or a part of it is stored at the provider.
func (h *Snapshot) CheckPaged() error {
	if at := h.Session.Elsewhere; at != "" {
		return fmt.Errorf("%w: session %s cannot be paged: its %s refers to history that only the provider has: import the whole history in its place", api.ErrPolicy, h.Head.ID, at)
	}
	return h.CheckConversation()
}

// input returns the input of a session, and sets the bodies of its items.
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

// cut sets the bodies of the items to slices of data, given the offset at which each ends.
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

// Index returns the index of the block with an id, or -1.
func (h *Snapshot) Index(id transcript.BlockID) int {
	return slices.IndexFunc(h.Rows, func(b store.Block) bool { return b.ID == id })
}

// IndexByID returns the index of each block by its id.
func (h *Snapshot) IndexByID() map[transcript.BlockID]int {
	places := make(map[transcript.BlockID]int, len(h.Rows))
	for i := range h.Rows {
		places[h.Rows[i].ID] = i
	}
	return places
}

// FirstBlocks checks a number of blocks and returns it; 0 means all blocks.
func (h *Snapshot) FirstBlocks(n int) (int, error) {
	switch {
	case n < 0 || n > len(h.Blocks):
		return 0, fmt.Errorf("%w: %d blocks: the session has %d, give 0 to %[3]d", api.ErrRequest, n, len(h.Blocks))
	case n == 0:
		return len(h.Blocks), nil
	}
	return n, nil
}

// Stubs returns the stubs of the rows, by block.
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
			return nil, fmt.Errorf("%w: decode the stub of block %s: %w", store.ErrCorrupt, owners[i], err)
		}
		stubs[owners[i]] = s
	}
	return stubs, nil
}

// Window returns the window of a session with the given rows, stubs and summary, which may be
// nil.
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

// CloseQuotes adds to w a line after each stub or summary of several lines, and returns w. The line
// tells the agent that the quotation ends there and that the user's words begin. It is not needed
// if another stub or summary, or text of the assistant, follows, or if the provider of the format
// does not merge messages. Entries in which an account repeats words of the user count as the
// user's.
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

// marked reports whether a text begins with the mark of stubs and summaries.
func marked(text string) bool { return strings.HasPrefix(text, transcript.Mark) }

// MergesMessages reports whether the provider of a format merges successive messages of the same
// role.
func MergesMessages(format string) bool { return format == "anthropic" || format == "claudecode" }

// standsFor returns the text of an entry, and true if the entry is a stub or summary with the role
// user.
func standsFor(e *transcript.Entry) (string, bool) {
	if e.Role != transcript.RoleUser {
		return "", false
	}
	return madeText(e)
}

// madeText returns the text of an entry, and true if Carrel wrote the entry.
func madeText(e *transcript.Entry) (string, bool) {
	if e.Source != nil || len(e.Parts) != 1 {
		return "", false
	}
	text, ok := e.Parts[0].(transcript.Text)
	return string(text), ok
}

// HasContent reports whether a message has text or calls, which every format can encode.
func HasContent(m *transcript.Message) bool {
	return strings.TrimSpace(m.Text()) != "" || len(m.Calls()) > 0
}

// JoinStubs joins successive stubs into one message: agents read one message better than twenty,
// and each message costs tokens of framing.
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
