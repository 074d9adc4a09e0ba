package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/carrel-dev/carrel/llm"
)

// reply is the part of a reply that is looked at.
type reply struct {
	Data []struct {
		Index     *int   `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// A vector reads an array of finite numbers. Package json alone would take null
// for 0.
type vector []float32

var errNumbers = errors.New("not an array of finite numbers")

// UnmarshalJSON implements [json.Unmarshaler]. It is given valid JSON.
func (v *vector) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return errNumbers
	}
	elements := bytes.TrimSpace(b[1 : len(b)-1])
	if len(elements) == 0 {
		return errNumbers
	}
	*v = make(vector, 0, bytes.Count(elements, []byte(","))+1)
	for e := range bytes.SplitSeq(elements, []byte(",")) {
		// What is no number in JSON is none here, and what is too large for a
		// float32 is an error.
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(e)), 32)
		if err != nil {
			return errNumbers
		}
		*v = append(*v, float32(f))
	}
	return nil
}

// parseReply returns the vectors of a reply in the order of the texts. A
// dimension of 0 is any, but all have the same.
func parseReply(data []byte, texts, dimension int) ([][]float32, error) {
	var r reply
	if err := json.Unmarshal(data, &r); errors.Is(err, errNumbers) {
		return nil, badReply("an embedding is %v", errNumbers)
	} else if err != nil {
		return nil, badReply("no JSON with a list of embeddings")
	}
	if len(r.Data) != texts {
		return nil, badReply("%d embeddings for %d texts", len(r.Data), texts)
	}
	vectors := make([][]float32, texts)
	for i, d := range r.Data {
		switch {
		case d.Index == nil:
			return nil, badReply("data.%d has no index", i)
		case *d.Index < 0 || *d.Index >= texts:
			return nil, badReply("data.%d has index %d of %d", i, *d.Index, texts)
		case vectors[*d.Index] != nil:
			return nil, badReply("two embeddings have index %d", *d.Index)
		case d.Embedding == nil:
			return nil, badReply("data.%d has no embedding", i)
		}
		if dimension == 0 {
			dimension = len(d.Embedding)
		}
		if len(d.Embedding) != dimension {
			return nil, badReply("data.%d has %d components, want %d", i, len(d.Embedding), dimension)
		}
		vectors[*d.Index] = d.Embedding
	}
	return vectors, nil
}

// badReply returns [llm.ErrReply] with what is wrong with the reply.
func badReply(format string, args ...any) error {
	return fmt.Errorf("%w: %s", llm.ErrReply, fmt.Sprintf(format, args...))
}
