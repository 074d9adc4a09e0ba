package api

import (
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A TriggerRequest asks whether a session is due for a pass.
type TriggerRequest struct {
	Session transcript.SessionID `json:"session"`

	// Window is the capacity of the context window. The default is Options.Window of
	// the engine, or else the capacity of the session's model.
	Window token.Count `json:"window,omitempty"`

	// Trigger says when a pass is due. The default is that of the engine's options.
	Trigger *pager.Trigger `json:"trigger,omitempty"`

	Retry bool `json:"retry,omitempty"` // the last compression was rejected
}

// A TriggerResult says whether a pass is due, with the figures that decide
// it.
type TriggerResult struct {
	pager.Advice

	Session    transcript.SessionID `json:"session"`
	Figures    pager.Figures        `json:"figures"`    // thresholds of the window
	Used       token.Count          `json:"used"`       // tokens now in the session's window
	Window     token.Count          `json:"window"`     // capacity of the model's context window
	Effective  token.Count          `json:"effective"`  // usable part of that capacity
	Messages   int                  `json:"messages"`   // messages in the window; a stub counts as one
	Cycles     int                  `json:"cycles"`     // compressions that were not undone
	Iterations int                  `json:"iterations"` // user messages that a person wrote
	Pending    bool                 `json:"pending"`    // a call has no result yet
}
