package api

import (
	"time"

	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/transcript"
)

// A CostRequest asks what conversations cost.
type CostRequest struct {
	Session transcript.SessionID `json:"session,omitempty"` // all of the scope by default
	Since   time.Time            `json:"since,omitzero"`    // only calls that were answered since then
}

// A CostResult says what conversations cost, by what the provider charged for each of their
// calls as the client recorded it or as the proxy saw it, and why what had been kept in its
// cache was not read. Money is in billionths of a US dollar, at the list prices of the models.
type CostResult struct {
	Sessions  []SessionCost          `json:"sessions"`          // with calls, the dearest first
	Total     economy.Bill           `json:"bill"`              // of all of them; breaks are listed where one session is asked for
	Managed   *ManagedCost           `json:"managed,omitempty"` // what managing their windows had changed; nil if no call has a price
	Unmetered []transcript.SessionID `json:"unmetered"`         // sessions whose format does not say what was charged
	Unseen    int                    `json:"unseen"`            // sub-agents whose calls are in no session
	Twice     int                    `json:"twice"`             // calls that a session file and the proxy recorded: they count once, as the proxy saw them
	Compacted int                    `json:"compacted"`         // compactions by the client: the call that wrote the summary is not recorded
}

// A SessionCost says what a session cost.
type SessionCost struct {
	Session  transcript.SessionID `json:"session"` // empty for calls beside conversations, such as for titles; may not be stored
	Title    string               `json:"title,omitempty"`
	Project  string               `json:"project,omitempty"`
	Model    string               `json:"model,omitempty"` // that answered last
	Calls    int                  `json:"calls"`
	Side     int                  `json:"side"`    // of them, those of sub-agents
	Proxied  int                  `json:"proxied"` // of them, those that came through the proxy
	Spend    economy.Spend        `json:"spend"`
	Total    economy.Money        `json:"total"`
	Breaks   int                  `json:"breaks"`         // calls that could have read more from the cache than they did
	Extra    economy.Money        `json:"extra"`          // what breaks cost above reading
	Unpriced int                  `json:"unpriced"`       // calls whose prices are not known
	First    time.Time            `json:"first,omitzero"` // when the first of its calls was answered
	Last     time.Time            `json:"last,omitzero"`  // when the last one was
}

// A ManagedCost says what the calls with prices had cost with windows that are made smaller
// when that has to be or pays: from the least to the most that the assumptions give. Calls
// that were managed are in both as they are.
type ManagedCost struct {
	Least  economy.Money `json:"least"`
	Most   economy.Money `json:"most"`
	Epochs int           `json:"epochs"` // how often a window had been made smaller
	Basis  string        `json:"basis"`  // the assumptions
}
