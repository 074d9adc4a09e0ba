package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A TaskStats says what one task of a session cost, in tokens: a task is what a
// person asks for, up to what is asked next.
type TaskStats struct {
	Task    int                `json:"task"`    // from 1
	Block   transcript.BlockID `json:"block"`   // in which it is asked for
	Turns   int                `json:"turns"`   // blocks of the task
	Calls   int                `json:"calls"`   // of the model
	Read    token.Count        `json:"read"`    // that the model read: all that was there, at each call
	Written token.Count        `json:"written"` // that it wrote
	Total   token.Count        `json:"total"`   // both
	Preview string             `json:"preview"`
}

// A StatsResult says what a session cost. The skill's measure is tokens per task,
// not per request: what is saved by forgetting is spent again by looking it up.
type StatsResult struct {
	SessionInfo
	Tasks         []TaskStats `json:"tasks"`
	Calls         int         `json:"calls"`
	Total         token.Count `json:"total"`
	TokensPerTask token.Count `json:"tokens_per_task"` // Total over the number of tasks
	Rounds        int         `json:"compressions"`
}
