// Package llm defines the interfaces of models, limits on their use, and their errors.
//
// Models are optional. An [Embedder] turns texts into vectors, so that they can be compared by
// meaning; without one, Carrel compares texts by words. A [Generator] writes text; without one,
// programs do. Everything that a model writes is recorded with the model's name and checked
// before use. Package llm/remote has drivers for servers, and llm/static one for embeddings in
// files:
//
//	g, err := remote.NewOpenAI("http://localhost:11434", "llama3", nil)
//	limited := llm.Limited(g, &llm.Limits{Tokens: 200_000})
//	reply, err := limited.Generate(ctx, &llm.Prompt{Text: "…"})
//
// # Spending
//
// [Limited] puts a generator under [Limits] of tokens, calls and time. The default limit of
// tokens is 0, so nothing is sent until someone sets it.
//
// # Errors and concurrency
//
// Drivers wrap the errors of this package; test with errors.Is. If the context of a call is
// done, they return the context's error instead. No error contains a text that was sent or a
// [Secret]. Embedders and generators are safe for concurrent use.
package llm

import (
	"context"
	"errors"
)

// The errors of all drivers.
var (
	// ErrUnavailable means that the model does not answer now. A later call may succeed.
	ErrUnavailable = errors.New("model is unavailable")

	// ErrRefused means that the server refuses the request and a retry is useless, because the
	// key, the model's name or the request is wrong.
	ErrRefused = errors.New("refused by the model's server")

	// ErrReply means that the model's answer cannot be used.
	ErrReply = errors.New("unusable reply of the model")
)

// An Embedder turns texts into vectors. The smaller the angle between two vectors of an
// embedder, the more similar are their texts. Vectors of different embedders cannot be
// compared.
type Embedder interface {
	// Embed returns a vector for each text, in order. All have the same length and finite
	// components. A text without meaning for the model may have a zero vector. The caller owns
	// the vectors. With an error, there are no vectors.
	Embed(ctx context.Context, texts []string) ([][]float32, error)

	// Name returns the name and origin of the model. It is recorded with the
	// vectors. Vectors of embedders with the same name are comparable.
	Name() string
}
