// Package static computes static embeddings: each token has a fixed vector in a table, and the
// user supplies the files. It needs no server, no network and no library of another language,
// and takes microseconds for a text. The vectors do not depend on context.
//
// # The files
//
// A directory in the format of Model2Vec has
//
//   - model.safetensors: a table "embeddings" of F32, F16 or BF16, with a row
//     for each token; optionally "weights", a factor for each token, and
//     "mapping", the row of each token if tokens share rows;
//   - tokenizer.json: how to cut texts into tokens, in the format of Hugging
//     Face's tokenizers: WordPiece and Unigram models with the usual
//     normalizers and pre-tokenizers. For anything else [Load] fails with
//     [ErrUnsupported], because the vectors would be wrong;
//   - config.json, optional: "normalize" says whether vectors are scaled to
//     length 1. The default is that they are.
//
// The vector of a text is the mean of the weighted rows of its known tokens. A special token
// such as "[CLS]" in a text is treated as ordinary text. Normal forms of Unicode (NFC, NFKC and
// so on) are not supported, except for the removal of accents: it covers letters that consist
// of one base letter and marks, and Hangul.
//
// # Determinism
//
// Vectors are the same on every processor: sums run in the order of the tokens in 64-bit
// floating point, and no multiplication is fused with an addition. An embedder may be used
// concurrently.
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

// Errors of files.
var (
	// ErrFormat means that a file is damaged or does not fit the others.
	ErrFormat = errors.New("not a static embedding")

	// ErrUnsupported means that a file needs a feature that this package lacks.
	ErrUnsupported = errors.New("not supported")
)

// Options adjusts an embedder. The zero value of every field is a sensible default, so a nil
// *Options is valid, too.
type Options struct {
	// Name is the first part of the model's name; the second is a digest of its files, as in
	// "static@sha256:6b86b273ff34fce1". The default is "static".
	Name string

	// MaxTokens is how many tokens of a text are used, from its beginning. The default is all.
	MaxTokens int

	// MaxBytes is the largest accepted size of model.safetensors. The default is 1 GiB.
	MaxBytes int64
}

// The files, and the largest accepted size of the small ones, in bytes.
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
	maxTokens int // 0 for no limit
}

// Load reads an embedder from the files of a directory, as in Load(os.DirFS(dir), nil). It fails
// with [ErrFormat], [ErrUnsupported] or the error of fsys for a file that cannot be read.
func Load(fsys fs.FS, opts *Options) (llm.Embedder, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.MaxTokens < 0 || o.MaxBytes < 0 {
		return nil, errors.New("static: options: MaxTokens and MaxBytes must not be negative")
	}
	m, err := load(fsys, o)
	if err != nil {
		return nil, fmt.Errorf("static: %w", err)
	}
	return m, nil
}

func load(fsys fs.FS, o Options) (*staticModel, error) {
	var sum []byte // digests of all files that affect vectors
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
		return nil, fmt.Errorf("%s: %d tokens, but %s has vectors for %d: %w", tokenizerFile, m.tokenizer.size, modelFile, have, ErrFormat)
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
		return nil, err // the error has the name of the file
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, min(limit, math.MaxInt64-1)+1))
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

// Embed returns a vector for each text, in order. A text without a known token has a zero
// vector. It fails only if the context is done.
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
	if m.maxTokens > 0 {
		tokens = tokens[:min(len(tokens), m.maxTokens)]
	}
	sums := make([]float64, m.table.dim)
	for _, t := range tokens {
		m.table.add(sums, t)
	}
	// Compute the mean, then its length. The conversions keep compilers from fusing a product
	// with a sum.
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
