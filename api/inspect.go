package api

import (
	"time"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionInfo is what is known of a session without reading it.
type SessionInfo struct {
	Session  transcript.SessionID `json:"session"`
	Status   store.Status         `json:"status,omitempty"` // if it was removed or purged
	Title    string               `json:"title,omitempty"`
	Critical bool                 `json:"critical,omitempty"` // see carrel.Engine.Mark
	Project  string               `json:"project,omitempty"`
	File     string               `json:"file,omitempty"` // that it was imported from
	Format   string               `json:"format"`
	Model    string               `json:"model,omitempty"`
	Encoding string               `json:"encoding"`
	Messages int                  `json:"messages"`
	Blocks   int                  `json:"blocks"`
	Tokens   token.Count          `json:"tokens"` // as imported
	Window   token.Count          `json:"window"` // in the window now
	Bytes    int64                `json:"bytes"`
	Revision store.Revision       `json:"revision"`
	Created  time.Time            `json:"created"`
	Updated  time.Time            `json:"updated"`
}

// A BlockInfo is one block of a session in a list.
type BlockInfo struct {
	ID      transcript.BlockID `json:"id"`
	ShortID string             `json:"short_id"`
	Earlier int                `json:"earlier,omitempty"` // number of the earlier window that it is of, from 1; 0: of the present one
	Turn    int                `json:"turn"`              // in its window
	Kind    transcript.Kind    `json:"kind"`
	Tools   []string           `json:"tools,omitempty"`
	Rule    pager.Rule         `json:"rule,omitempty"`
	State   store.State        `json:"state"`
	Form    pager.Form         `json:"form"`
	Pinned  bool               `json:"pinned,omitempty"`
	Tokens  token.Count        `json:"est_tokens"` // as imported
	Window  token.Count        `json:"window"`     // in the window now
	Preview string             `json:"preview"`

	// Whether and how it may be discarded, see carrel.Engine.Discard.
	Discardable bool           `json:"discardable"`
	Class       pager.Disposal `json:"class,omitempty"`
	Priority    int            `json:"priority,omitempty"` // 1 goes first
	Kept        string         `json:"kept,omitempty"`     // why it may not
}

// A MessagesResult lists the blocks of a session, in order, with what an agent
// needs to tidy its window. Blocks of earlier windows, which the client compacted, come
// first; they are cold, and in no figure of the session. SessionInfo.Messages, whose name
// the list has, is 0; the count is Count.
type MessagesResult struct {
	SessionInfo
	Count    int                 `json:"message_count"` // of the session; Messages lists blocks
	Floor    token.Count         `json:"floor_tokens"`
	Target   token.Count         `json:"target_tokens"` // of a discard: 50 000 or half of the context window, at least the floor
	Total    token.Count         `json:"total_est_tokens"`
	Earlier  int                 `json:"earlier,omitempty"` // of the blocks, how many are of earlier windows
	Sent     token.Count         `json:"sent,omitempty"`    // see [ContextResult]
	Figures  pager.Figures       `json:"figures"`
	Messages []BlockInfo         `json:"messages"`
	Next     string              `json:"next,omitempty"` // as in a [List]
	Branches []transcript.Branch `json:"branches,omitempty"`
}

// A ContextResult says what fills the window of a session. The figures are in
// tokens and sum to Used.
type ContextResult struct {
	SessionInfo
	Capacity  token.Count   `json:"capacity"` // of the model's context window
	Used      token.Count   `json:"used"`
	Sent      token.Count   `json:"sent,omitempty"` // in the agent's newest request, as its provider counted them; 0 if that is unknown
	Effective token.Count   `json:"effective"`      // of the capacity; Level is of this
	Fixed     ContextShare  `json:"fixed"`          // framing and tool definitions
	System    ContextShare  `json:"system"`         // system text
	Pinned    ContextShare  `json:"pinned"`         // other blocks under hard rules
	Summary   ContextShare  `json:"summary"`        // what stands for blocks that it covers and that left
	Live      ContextShare  `json:"live"`           // other blocks as they came in
	Stubs     ContextShare  `json:"stubs"`          // what stands for others
	Cold      ContextShare  `json:"cold"`           // out of the window; Tokens is 0
	Earlier   ContextShare  `json:"earlier"`        // of windows before a compaction by the client; Tokens is 0
	Free      token.Count   `json:"free"`           // capacity less used and reserve, at least 0
	Reserved  token.Count   `json:"reserved"`       // for the reply
	Level     string        `json:"level"`          // "ok", "warn", "compress" or "critical"; see Figures
	Figures   pager.Figures `json:"figures"`
	Ops       int           `json:"ops"`             // entries in the journal
	Proxy     *ProxyState   `json:"proxy,omitempty"` // how it goes through a proxy of Carrel; none if it does not
}

// A ProxyState says how a session goes through a proxy of Carrel, by its last call.
type ProxyState struct {
	Session   transcript.SessionID `json:"session"`    // that the proxy stores the conversation as; with managing, its window is what is sent from the next epoch on
	At        time.Time            `json:"at"`         // when the answer to the last call came
	Managed   bool                 `json:"managed"`    // what was sent is not what came
	Epoch     int                  `json:"epoch"`      // of what was sent; 0 is the time before the first head
	Bytes     int                  `json:"bytes"`      // that came
	SentBytes int                  `json:"sent_bytes"` // that were sent
	Tokens    token.Count          `json:"tokens"`     // of the prompt, as the provider counted; 0 if it did not say
}

// A ContextShare is what one kind of content takes.
type ContextShare struct {
	Blocks int         `json:"blocks"`
	Tokens token.Count `json:"tokens"`    // in the window
	Stands token.Count `json:"stand_for"` // as they were imported
}
