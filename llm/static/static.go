// Package static embeds texts by static embeddings: a table with a vector for
// each token, in files that the user supplies. It needs no server, no network
// and no library of another language, and takes microseconds; its vectors know
// no context.
//
// # The files
//
// A directory as Model2Vec writes it has
//
//   - model.safetensors: a table "embeddings" of F32, F16 or BF16, with a row
//     for each token; perhaps "weights", a factor for each token, and
//     "mapping", the row of each token where several share one;
//   - tokenizer.json: how texts are cut into tokens, as Hugging Face's
//     tokenizers write it: WordPiece and Unigram models with the usual
//     normalizers and pre-tokenizers. What is not supported is an error that
//     names it, [ErrUnsupported], for otherwise the vectors would be wrong;
//   - config.json, if there is one: "normalize" says whether vectors get the
//     length 1. The default is that they do.
//
// The vector of a text is the mean of the weighted rows of its tokens, unknown
// tokens left out. A text is data: the spelling of a special token in it, such
// as "[CLS]", is a text like any other. Normal forms of Unicode (NFC, NFKC and
// so on) are not supported. Accents are taken off letters of which a single
// letter remains, and off Hangul.
//
// # Determinism
//
// Vectors are the same on every processor: sums run in the order of the tokens
// in 64-bit floating point, with no multiplication and addition in one step.
package static

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/llm"
)

// The reasons for which files cannot be loaded.
var (
	// ErrFormat means that a file is damaged or does not fit the others.
	ErrFormat = errors.New("not a static embedding")

	// ErrUnsupported means that a file asks for what this package cannot do.
	ErrUnsupported = errors.New("not supported")
)

// Options adjusts an embedder. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Name is the model's name in the record. The default is "static".
	Name string

	// MaxTokens is how many tokens of a text count; those after it are left
	// out. The default is all.
	MaxTokens int

	// MaxBytes is the size of the largest model.safetensors to read. The
	// default is 1 GiB.
	MaxBytes int64
}

// The files, and the largest of the small ones to read, in bytes.
const (
	modelFile     = "model.safetensors"
	tokenizerFile = "tokenizer.json"
	configFile    = "config.json"

	maxTokenizer = 128 << 20
	maxConfig    = 1 << 20
)

// A staticModel is an [llm.Embedder].
type staticModel struct {
	name      string
	tokenizer *tokenizer
	table     table
	normalize bool
	maxTokens int // or 0
}

// Load reads an embedder from the files of a directory.
func Load(fsys fs.FS, opts *Options) (llm.Embedder, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.MaxTokens < 0 || o.MaxBytes < 0 {
		return nil, errors.New("static: options: negative number")
	}
	m, err := load(fsys, o)
	if err != nil {
		return nil, fmt.Errorf("static: %w", err)
	}
	return m, nil
}

func load(fsys fs.FS, o Options) (*staticModel, error) {
	var sum []byte // of the digests of all that decides about a vector
	read := func(name string, limit int64) ([]byte, error) {
		b, err := readFile(fsys, name, limit)
		d := digest.Of(b)
		sum = append(sum, d[:]...)
		return b, err
	}
	m := &staticModel{normalize: true, maxTokens: o.MaxTokens}

	data, err := read(modelFile, cmp.Or(o.MaxBytes, 1<<30))
	if err != nil {
		return nil, err
	}
	if m.table, err = newTable(data); err != nil {
		return nil, fmt.Errorf("%s: %w", modelFile, err)
	}

	if data, err = read(tokenizerFile, maxTokenizer); err != nil {
		return nil, err
	}
	if m.tokenizer, err = newTokenizer(data); err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	if have := m.table.tokens(); m.tokenizer.size > have {
		return nil, fmt.Errorf("%s: %d tokens, but %s has %d: %w", tokenizerFile, m.tokenizer.size, modelFile, have, ErrFormat)
	}

	data, err = read(configFile, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		var config struct {
			Normalize *bool `json:"normalize"`
		}
		if err := json.Unmarshal(data, &config); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", configFile, err, ErrFormat)
		}
		m.normalize = config.Normalize == nil || *config.Normalize
	}

	sum = fmt.Appendf(sum, "%d %t", m.maxTokens, m.normalize)
	m.name = fmt.Sprintf("%s@sha256:%.16s", cmp.Or(o.Name, "static"), digest.Of(sum))
	return m, nil
}

// readFile reads a file of at most limit bytes.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err // it has the name
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes: %w", name, limit, ErrFormat)
	}
	return b, nil
}

// Name returns the name of the options and a digest of the files, such as
// "static@sha256:6b86b273ff34fce1".
func (m *staticModel) Name() string { return m.name }

// Embed returns a vector for each text, in order. A text without a known token
// has a vector of zeros. It fails only when the context is done.
func (m *staticModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = m.embed(t)
	}
	return vectors, nil
}

// embed returns the vector of a text.
func (m *staticModel) embed(text string) []float32 {
	tokens := m.tokenizer.tokens(text)
	if m.maxTokens > 0 && len(tokens) > m.maxTokens {
		tokens = tokens[:m.maxTokens]
	}
	sums := make([]float64, m.table.dim)
	for _, t := range tokens {
		m.table.add(sums, t)
	}
	// The mean, and then its length. The conversions keep compilers from fusing
	// a product with a sum.
	scale := 1 / float64(max(len(tokens), 1))
	if m.normalize {
		squares := 0.0
		for i := range sums {
			squares += float64(sums[i] * sums[i])
		}
		if length := math.Sqrt(squares); length > 0 {
			scale = 1 / length
		}
	}
	vector := make([]float32, m.table.dim)
	for i, s := range sums {
		vector[i] = float32(min(max(s*scale, -math.MaxFloat32), math.MaxFloat32))
	}
	return vector
}
