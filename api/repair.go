package api

import "github.com/carrel-dev/carrel/transcript"

// A RepairRequest is a request to a model that its provider refuses, or may refuse.
type RepairRequest struct {
	Name     string `json:"name,omitempty"`     // of the file, for errors and what is told of it
	Provider string `json:"provider,omitempty"` // "anthropic", "openai" or "responses"; by default whose request it looks like
	Data     []byte `json:"data"`

	// WithoutThinking takes all thinking out, also of a request that breaks no rule that can
	// be checked: one that was refused because of the signature of its thinking.
	WithoutThinking bool `json:"without_thinking,omitempty"`
}

// A RepairResult is a request as its provider takes it, and each thing that was mended.
type RepairResult struct {
	File    string           `json:"file,omitempty"` // the name in the request
	Format  string           `json:"format"`
	Data    []byte           `json:"data,omitempty"`
	Bytes   int              `json:"bytes"`
	Intact  bool             `json:"intact"` // byte for byte what came
	Repairs []transcript.Fix `json:"repairs"`
}
