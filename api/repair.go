package api

import "github.com/carrel-dev/carrel/transcript"

// A RepairRequest asks for a valid form of a request to a model that its provider may refuse.
type RepairRequest struct {
	Name     string `json:"name,omitempty"`     // of the file, for errors and the result
	Provider string `json:"provider,omitempty"` // "anthropic", "openai" or "responses"; by default it is detected
	Data     []byte `json:"data"`

	// WithoutThinking removes all thinking, also from a request without
	// violations. Use it if the provider refused a signature of thinking.
	WithoutThinking bool `json:"without_thinking,omitempty"`
}

// A RepairResult is a valid request and the list of its repairs.
type RepairResult struct {
	File    string           `json:"file,omitempty"` // Name of the request
	Format  string           `json:"format"`
	Data    []byte           `json:"data,omitempty"`
	Bytes   int              `json:"bytes"`
	Intact  bool             `json:"intact"` // byte for byte as given
	Repairs []transcript.Fix `json:"repairs"`
}
