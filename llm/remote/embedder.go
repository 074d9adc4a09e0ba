package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// EmbedderOptions adjust an embedder. The zero value of every field is a sensible default, so a
// nil *EmbedderOptions is valid, too.
type EmbedderOptions struct {
	Options

	// Dimensions is the length of the vectors to request, for models that offer several. A
	// reply with another length is refused. The default is to accept any length.
	Dimensions int

	// Batch is the largest number of texts in a request. The default is 32.
	Batch int

	// BatchBytes is the limit for the total size of the texts in a request. A larger text is
	// sent alone. The default is 256 KiB.
	BatchBytes int
}

// An embedder is an [llm.Embedder] that asks a server.
type embedder struct {
	base  string
	model string
	opts  EmbedderOptions
	http  *httpjson.Client
}

// NewEmbedder returns an embedder for a model of the server at baseURL, with the API of OpenAI.
// The URL, the errors and the name are as for [NewOpenAI]; with Dimensions, these follow the model
// in the name, as in "small/256@https://api.openai.com/v1".
func NewEmbedder(baseURL, model string, opts *EmbedderOptions) (llm.Embedder, error) {
	c := &embedder{model: model}
	if opts != nil {
		c.opts = *opts
	}
	o := &c.opts
	var err error
	h := httpjson.Options{Authorize: func(h http.Header) { bearer(h, o.Key) }}
	if c.base, c.http, err = o.open(baseURL, model, h, 30*time.Second, 32<<20); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	if o.Dimensions < 0 || o.Batch < 0 || o.BatchBytes < 0 {
		return nil, errors.New("openai: options: Dimensions, Batch and BatchBytes must not be negative")
	}
	o.Batch, o.BatchBytes = cmp.Or(o.Batch, 32), cmp.Or(o.BatchBytes, 256<<10)
	return c, nil
}

// Name returns the model, the dimensions if they were chosen, and the base URL, such as
// "all-minilm@http://localhost:11434/v1".
func (c *embedder) Name() string {
	if c.opts.Dimensions > 0 {
		return fmt.Sprintf("%s/%d@%s", c.model, c.opts.Dimensions, c.base)
	}
	return c.model + "@" + c.base
}

// Embed implements [llm.Embedder]. It sends an empty text as one space, because some servers
// refuse empty texts.
func (c *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := c.batch(texts)
		batch, err := c.embed(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", c.Name(), err)
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, fmt.Errorf("embed with %s: %w", c.Name(), badReply("vectors of %d components after those of %d", len(batch[0]), len(vectors[0])))
		}
		vectors = append(vectors, batch...)
		texts = texts[n:]
	}
	return vectors, nil
}

// batch returns how many of the first texts fit into the next request.
func (c *embedder) batch(texts []string) int {
	size := len(texts[0])
	n := 1
	for n < len(texts) && n < c.opts.Batch && size+len(texts[n]) <= c.opts.BatchBytes {
		size += len(texts[n])
		n++
	}
	return n
}

// embedRequest is the body of a request.
type embedRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// embed embeds the texts of one request.
func (c *embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		input[i] = t
		if t == "" {
			input[i] = " "
		}
	}
	body, err := json.Marshal(embedRequest{c.model, input, "float", c.opts.Dimensions})
	if err != nil {
		return nil, err // unreachable: strings and numbers can be encoded
	}
	reply, err := c.http.Post(ctx, c.base+"/embeddings", body)
	if err != nil {
		return nil, err
	}
	return parseVectors(reply, len(texts), c.opts.Dimensions)
}

// vectorReply has the fields of a reply that are used.
type vectorReply struct {
	Data []struct {
		Index     *int   `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// A vector is an array of finite numbers in JSON. Package json alone would read null as 0.
type vector []float32

var errNumbers = errors.New("not an array of finite numbers")

// UnmarshalJSON implements [json.Unmarshaler]. Its argument is valid JSON.
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
		// ParseFloat rejects everything that is no number in JSON, and numbers that are too
		// large for a float32.
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(e)), 32)
		if err != nil {
			return errNumbers
		}
		*v = append(*v, float32(f))
	}
	return nil
}

// parseVectors returns the vectors of a reply in the order of the texts. Each vector must
// have the given dimension. If that is 0, all must have the same dimension.
func parseVectors(data []byte, texts, dimension int) ([][]float32, error) {
	var r vectorReply
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
