package api

import (
	"time"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SessionInfo describes a session without its blocks.
type SessionInfo struct {
	Session  transcript.SessionID `json:"session"`
	Status   store.Status         `json:"status,omitempty"` // set if it was removed or purged
	Title    string               `json:"title,omitempty"`
	Critical bool                 `json:"critical,omitempty"` // see carrel.Engine.Mark
	Project  string               `json:"project,omitempty"`
	File     string               `json:"file,omitempty"` // file that it was imported from
	Format   string               `json:"format"`
	Model    string               `json:"model,omitempty"`
	Encoding string               `json:"encoding"`
	Messages int                  `json:"messages"`
	Blocks   int                  `json:"blocks"`
	Tokens   token.Count          `json:"tokens"` // imported tokens
	Window   token.Count          `json:"window"` // tokens now in the session's window
	Bytes    int64                `json:"bytes"`
	Revision store.Revision       `json:"revision"`
	Created  time.Time            `json:"created"`
	Updated  time.Time            `json:"updated"`
}

// A BlockInfo is one block of a session in a list.
type BlockInfo struct {
	ID      transcript.BlockID `json:"id"`
	ShortID string             `json:"short_id"`          // beginning of ID, for people; another block may have the same
	Earlier int                `json:"earlier,omitempty"` // number of its earlier window, from 1, the oldest; 0: the present window
	Turn    int                `json:"turn"`              // position of the block in its window, from 1
	Kind    transcript.Kind    `json:"kind"`
	Tools   []string           `json:"tools,omitempty"`
	Rule    pager.Rule         `json:"rule,omitempty"`
	State   store.State        `json:"state"`
	Form    pager.Form         `json:"form"` // how much of the block is in the window
	Pinned  bool               `json:"pinned,omitempty"`
	Tokens  token.Count        `json:"est_tokens"` // imported tokens
	Window  token.Count        `json:"window"`     // tokens of the block now in the window
	Preview string             `json:"preview"`

	// Discardable reports whether carrel.Engine.Discard may take it out.
	Discardable bool           `json:"discardable"`
	Class       pager.Disposal `json:"class,omitempty"`    // why it may be discarded
	Priority    int            `json:"priority,omitempty"` // order of discard; 1 goes first
	Kept        string         `json:"kept,omitempty"`     // why it may not be discarded
}

// A MessagesResult lists the blocks of a session in order, with the figures
// that an agent needs to tidy its window. Blocks of earlier windows, which
// the client compacted, come first; they are cold and count in no figure of
// the session. SessionInfo.Messages is 0, because the list has that name; the
// number is Count.
type MessagesResult struct {
	SessionInfo
	Count    int                 `json:"message_count"` // number of messages; Messages lists blocks
	Floor    token.Count         `json:"floor_tokens"`
	Target   token.Count         `json:"target_tokens"`     // target of an automatic discard, the Tidy of Figures
	Total    token.Count         `json:"total_est_tokens"`  // the same as Window
	Earlier  int                 `json:"earlier,omitempty"` // number of blocks of earlier windows
	Sent     token.Count         `json:"sent,omitempty"`    // see [ContextResult]
	Figures  pager.Figures       `json:"figures"`           // thresholds of the window
	Messages []BlockInfo         `json:"messages"`
	Next     string              `json:"next,omitempty"` // as in a [List]
	Branches []transcript.Branch `json:"branches,omitempty"`
}

// A ContextResult has the sizes of the parts of a session's window, in
// tokens. They sum to Used.
type ContextResult struct {
	SessionInfo
	Capacity  token.Count   `json:"capacity"`        // capacity of the model's context window
	Used      token.Count   `json:"used"`            // tokens now in the session's window, the same as Window
	Sent      token.Count   `json:"sent,omitempty"`  // tokens of the agent's newest request, as its provider counted them; 0 if unknown
	Effective token.Count   `json:"effective"`       // usable part of Capacity; Level refers to it
	Fixed     ContextShare  `json:"fixed"`           // framing and tool definitions
	System    ContextShare  `json:"system"`          // system text
	Pinned    ContextShare  `json:"pinned"`          // other blocks under hard rules
	Summary   ContextShare  `json:"summary"`         // the summary of older blocks
	Live      ContextShare  `json:"live"`            // other whole blocks
	Stubs     ContextShare  `json:"stubs"`           // stubs of paged blocks
	Cold      ContextShare  `json:"cold"`            // blocks out of the window; Tokens is 0
	Earlier   ContextShare  `json:"earlier"`         // blocks of windows before a compaction by the client; Tokens is 0
	Free      token.Count   `json:"free"`            // Capacity less Used and Reserved, at least 0
	Reserved  token.Count   `json:"reserved"`        // for the reply
	Level     string        `json:"level"`           // "ok", "warn", "compress" or "critical"; see Figures
	Figures   pager.Figures `json:"figures"`         // thresholds of the window
	Ops       int           `json:"ops"`             // number of journal entries
	Proxy     *ProxyState   `json:"proxy,omitempty"` // set if the session goes through a proxy of Carrel
}

// A ProxyState describes the last call of a session through a proxy of
// Carrel.
type ProxyState struct {
	Session   transcript.SessionID `json:"session"`    // session in which the proxy stores the conversation; if managed, its window is sent from the next epoch on
	At        time.Time            `json:"at"`         // when the last answer arrived
	Managed   bool                 `json:"managed"`    // the sent body was not the received one
	Epoch     int                  `json:"epoch"`      // epoch of the sent messages; 0 before the first head
	Bytes     int                  `json:"bytes"`      // size of the received body
	SentBytes int                  `json:"sent_bytes"` // size of the sent body
	Tokens    token.Count          `json:"tokens"`     // tokens of the prompt, as the provider counted them; 0 if it did not
}

// A ContextShare is the size of one kind of content.
type ContextShare struct {
	Blocks int         `json:"blocks"`
	Tokens token.Count `json:"tokens"`    // in the window
	Stands token.Count `json:"stand_for"` // imported tokens
}
