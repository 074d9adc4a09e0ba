// Package llm is the port to models: what Carrel asks of a server or a file
// that can do what programs cannot.
//
// Models are optional. An [Embedder] turns texts into vectors, so that they can
// be compared by meaning; without one they are compared by words. A [Generator]
// writes text; without one, programs write. Whatever a model made is recorded
// beside the model's name and is checked before it is used.
//
// # Spending
//
// [Limited] puts a generator within [Limits]: tokens, calls and time. The ceiling
// is 0 unless somebody sets it, and then nothing is ever sent.
//
// # Errors and concurrency
//
// Drivers report the sentinels of this package, wrapped; test with errors.Is.
// When the context of a call is done, they report its error instead. No error
// has a text that was sent, nor a [Secret]. Embedders and generators are safe for
// concurrent use.
package llm

import (
	"context"
	"errors"
)

// The conditions that every driver reports.
var (
	// ErrUnavailable means that the model does not answer now: later it may.
	ErrUnavailable = errors.New("model is unavailable")

	// ErrRefused means that the server refuses the request and a retry is
	// useless: the key, the model's name or the request is wrong.
	ErrRefused = errors.New("refused by the model's server")

	// ErrReply means that the model answered, with something that cannot be
	// used.
	ErrReply = errors.New("unusable reply of the model")
)

// An Embedder turns texts into vectors. The angle between two vectors of one
// embedder says how unlike the texts are; vectors of different embedders do not
// compare.
type Embedder interface {
	// Embed returns a vector for each text, in order. All have the same
	// length and finite components. A text without meaning for the model may
	// have a zero vector. The caller owns the vectors. If there is an error,
	// there are no vectors.
	Embed(ctx context.Context, texts []string) ([][]float32, error)

	// Name returns the name and origin of the model. It is recorded with the
	// vectors. Vectors of embedders with the same name are comparable.
	Name() string
}
