package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A TaskStats has the tokens that one task of a session cost. A task begins
// with a user's request and ends before the next one.
type TaskStats struct {
	Task    int                `json:"task"`    // from 1
	Block   transcript.BlockID `json:"block"`   // the user's request
	Turns   int                `json:"turns"`   // number of blocks
	Calls   int                `json:"calls"`   // calls of the model
	Read    token.Count        `json:"read"`    // tokens that the model read: the whole window, at each call
	Written token.Count        `json:"written"` // tokens that the model wrote
	Total   token.Count        `json:"total"`   // Read + Written
	Preview string             `json:"preview"`
}

// A StatsResult has the estimated tokens of a session. The measure is tokens
// per task, not per request, because an agent that lost text from its window
// makes further requests to get it again.
type StatsResult struct {
	SessionInfo
	Tasks         []TaskStats `json:"tasks"`
	Calls         int         `json:"calls"`           // of all tasks
	Total         token.Count `json:"total"`           // of all tasks
	TokensPerTask token.Count `json:"tokens_per_task"` // Total / number of tasks
	Rounds        int         `json:"compressions"`    // compressions of the session that are in its journal
}
