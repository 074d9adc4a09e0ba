package api

import (
	"time"

	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/transcript"
)

// A CostRequest asks for the cost of conversations.
type CostRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // empty: all sessions of the scope
	Since   time.Time            `json:"since,omitzero"`    // only calls answered at this time or later
}

// A CostResult has the cost of conversations, from the usage of each call as
// the client or the proxy recorded it, and the reasons for cache misses.
// Money is in billionths of a US dollar, at the list prices of the models.
type CostResult struct {
	Sessions  []SessionCost          `json:"sessions"`          // sessions with calls, the most expensive first
	Total     economy.Bill           `json:"bill"`              // of all sessions; breaks are listed only if the request names a session
	Managed   *ManagedCost           `json:"managed,omitempty"` // estimated cost with managed windows; nil if no call has a price, or all were managed
	Unmetered []transcript.SessionID `json:"unmetered"`         // sessions whose format does not record usage
	Unseen    int                    `json:"unseen"`            // sub-agents whose calls are in no session
	Twice     int                    `json:"twice"`             // calls that both a session file and the proxy recorded; the proxy's record counts
	Compacted int                    `json:"compacted"`         // compactions by the client, whose own calls are not recorded
}

// A SessionCost is the cost of a session.
type SessionCost struct {
	Session  transcript.SessionID `json:"session"` // need not be stored; empty for calls outside of conversations, such as for titles
	Title    string               `json:"title,omitempty"`
	Project  string               `json:"project,omitempty"`
	Model    string               `json:"model,omitempty"` // model of the last answer
	Calls    int                  `json:"calls"`
	Side     int                  `json:"side"`    // part of the calls made by sub-agents
	Proxied  int                  `json:"proxied"` // part of the calls recorded by the proxy
	Spend    economy.Spend        `json:"spend"`
	Total    economy.Money        `json:"total"`
	Breaks   int                  `json:"breaks"`         // calls that may have read less from the cache than they could
	Extra    economy.Money        `json:"extra"`          // by how much the breaks cost more than reads from the cache
	Unpriced int                  `json:"unpriced"`       // calls without a known price
	First    time.Time            `json:"first,omitzero"` // when the first call was answered
	Last     time.Time            `json:"last,omitzero"`  // when the last call was answered
}

// A ManagedCost estimates the cost that calls would have had if Carrel had managed their windows:
// Least to Most, depending on the assumptions. It covers the calls whose model has a price. Calls
// that were managed count unchanged.
type ManagedCost struct {
	Least  economy.Money `json:"least"`
	Most   economy.Money `json:"most"`
	Epochs int           `json:"epochs"` // number of times that a window would have been made smaller
	Basis  string        `json:"basis"`  // the assumptions
}
