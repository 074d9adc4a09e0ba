package static

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A tokenizer cuts texts into tokens: it normalizes a text, splits it into pieces, and cuts
// each piece with a model.
type tokenizer struct {
	normalizers []normalizer
	splitters   []splitter
	model       model
	size        int // largest token plus one
}

// A model cuts a piece of text into tokens and appends them. It omits unknown parts.
type model interface {
	appendTokens(tokens []int, piece string) []int

	// forget makes a token unknown.
	forget(text string)
}

// tokens returns the tokens of a text.
func (t *tokenizer) tokens(text string) []int {
	if text == "" {
		return nil // an empty text stays without tokens, whatever is put before it
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, n := range t.normalizers {
		text = n(text)
	}
	pieces := []string{text}
	for _, split := range t.splitters {
		var next []string
		for i, p := range pieces {
			next = append(next, split(p, i == 0)...)
		}
		pieces = next
	}
	var tokens []int
	for _, p := range pieces {
		tokens = t.model.appendTokens(tokens, p)
	}
	return tokens
}

// Limits for the features of a tokenizer.json. They limit the time and the memory that a text
// can take.
const (
	maxSteps    = 16  // normalizers, and pre-tokenizers
	maxNesting  = 8   // depth of sequences
	maxInserted = 64  // bytes that replace others or are put before a text
	maxPiece    = 512 // bytes of a token of a Unigram model
	maxWord     = 200 // letters of a word for a WordPiece model
)

// tokenizerJSON has the fields of tokenizer.json that are used. The steps after the model
// (post-processor, decoder, truncation, padding) do not affect embeddings.
type tokenizerJSON struct {
	Normalizer   *component `json:"normalizer"`
	PreTokenizer *component `json:"pre_tokenizer"`
	Model        modelJSON  `json:"model"`
	AddedTokens  []struct {
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// A component is a normalizer or a pre-tokenizer of any type, with the fields of all types.
type component struct {
	Type string `json:"type"`

	Normalizers   []component `json:"normalizers"`   // Sequence
	PreTokenizers []component `json:"pretokenizers"` // Sequence

	CleanText          *bool  `json:"clean_text"`           // BertNormalizer
	HandleChineseChars *bool  `json:"handle_chinese_chars"` // BertNormalizer
	StripAccents       *bool  `json:"strip_accents"`        // BertNormalizer
	Lowercase          *bool  `json:"lowercase"`            // BertNormalizer
	StripLeft          bool   `json:"strip_left"`           // Strip
	StripRight         bool   `json:"strip_right"`          // Strip
	Prepend            string `json:"prepend"`              // Prepend
	Content            string `json:"content"`              // Replace
	Pattern            struct {
		String string `json:"String"`
	} `json:"pattern"` // Replace

	Replacement      string `json:"replacement"`       // Metaspace
	PrependScheme    string `json:"prepend_scheme"`    // Metaspace
	AddPrefixSpace   *bool  `json:"add_prefix_space"`  // Metaspace, before prepend_scheme
	Split            *bool  `json:"split"`             // Metaspace
	Behavior         string `json:"behavior"`          // Punctuation
	IndividualDigits bool   `json:"individual_digits"` // Digits
}

// modelJSON is a model of any type, with the fields of all types.
type modelJSON struct {
	Type  string          `json:"type"`
	Vocab json.RawMessage `json:"vocab"`

	UnkToken                *string `json:"unk_token"`                 // WordPiece
	ContinuingSubwordPrefix *string `json:"continuing_subword_prefix"` // WordPiece
	MaxInputCharsPerWord    *int    `json:"max_input_chars_per_word"`  // WordPiece

	UnkID        *int `json:"unk_id"`        // Unigram
	ByteFallback bool `json:"byte_fallback"` // Unigram
}

// newTokenizer reads tokenizer.json.
func newTokenizer(data []byte) (*tokenizer, error) {
	var file tokenizerJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	for i, a := range file.AddedTokens {
		if !a.Special {
			return nil, fmt.Errorf("added_tokens.%d: %q is no special token, and others are %w", i, a.Content, ErrUnsupported)
		}
	}
	t := new(tokenizer)
	var err error
	if t.normalizers, err = steps(nil, "normalizer", file.Normalizer, (*component).normalizer); err != nil {
		return nil, err
	}
	if t.splitters, err = steps(nil, "pre_tokenizer", file.PreTokenizer, (*component).splitter); err != nil {
		return nil, err
	}
	switch file.Model.Type {
	case "WordPiece":
		t.model, t.size, err = newWordPiece(&file.Model)
	case "Unigram":
		t.model, t.size, err = newUnigram(&file.Model)
	default:
		err = fmt.Errorf("type: %q is %w", file.Model.Type, ErrUnsupported)
	}
	if err == nil && t.size == 0 {
		err = fmt.Errorf("vocab: no tokens: %w", ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("model.%w", err)
	}
	for _, a := range file.AddedTokens {
		t.model.forget(a.Content)
	}
	return t, nil
}

// steps appends the steps that a component consists of to the slice done. A
// component may be a sequence of components; the function step makes the step of
// a single one.
func steps[S any](done []S, path string, c *component, step func(*component) (S, error)) ([]S, error) {
	switch {
	case c == nil:
		return done, nil
	case strings.Count(path, ".") > maxNesting:
		return nil, fmt.Errorf("%s: sequences more than %d deep: %w", path, maxNesting, ErrFormat)
	case c.Type == "Sequence":
		var err error
		for i := range c.Normalizers {
			if done, err = steps(done, fmt.Sprintf("%s.%d", path, i), &c.Normalizers[i], step); err != nil {
				return nil, err
			}
		}
		for i := range c.PreTokenizers {
			if done, err = steps(done, fmt.Sprintf("%s.%d", path, i), &c.PreTokenizers[i], step); err != nil {
				return nil, err
			}
		}
		return done, nil
	case len(done) == maxSteps:
		return nil, fmt.Errorf("%s: more than %d steps: %w", path, maxSteps, ErrFormat)
	}
	s, err := step(c)
	if err != nil {
		return nil, fmt.Errorf("%s.%w", path, err)
	}
	return append(done, s), nil
}

// wordPiece cuts a word into tokens: it repeatedly cuts off the longest token with which the
// rest of the word begins. Tokens after the first have a prefix. If a word cannot be cut
// completely, the whole word is unknown.
type wordPiece struct {
	vocab   map[string]int
	unknown int    // token for unknown words, or -1
	prefix  string // such as "##"
	letters int    // most letters of a word to cut
	longest int    // bytes of the longest token
}

// forget implements [model].
func (w *wordPiece) forget(text string) { delete(w.vocab, text) }

func newWordPiece(m *modelJSON) (model, int, error) {
	w := &wordPiece{unknown: -1, prefix: "##", letters: 100}
	if err := json.Unmarshal(m.Vocab, &w.vocab); err != nil {
		return nil, 0, fmt.Errorf("vocab: %w: %w", err, ErrFormat)
	}
	size := 0
	for token, id := range w.vocab {
		if id < 0 || id > 1<<30 {
			return nil, 0, fmt.Errorf("vocab: %q has the id %d, which is out of range: %w", token, id, ErrFormat)
		}
		size = max(size, id+1)
		w.longest = max(w.longest, len(token))
	}
	if m.ContinuingSubwordPrefix != nil {
		w.prefix = *m.ContinuingSubwordPrefix
	}
	if len(w.prefix) > maxInserted {
		return nil, 0, fmt.Errorf("continuing_subword_prefix: %d bytes are too many: %w", len(w.prefix), ErrFormat)
	}
	if m.MaxInputCharsPerWord != nil {
		w.letters = *m.MaxInputCharsPerWord
	}
	if w.letters < 0 || w.letters > maxWord {
		return nil, 0, fmt.Errorf("max_input_chars_per_word: %d is not from 0 to %d: %w", w.letters, maxWord, ErrFormat)
	}
	if m.UnkToken != nil {
		if id, ok := w.vocab[*m.UnkToken]; ok {
			w.unknown = id
		}
	}
	return w, size, nil
}

// appendTokens implements [model].
func (w *wordPiece) appendTokens(tokens []int, word string) []int {
	if utf8.RuneCountInString(word) > w.letters {
		return tokens
	}
	known := len(tokens)
	key := make([]byte, 0, len(w.prefix)+len(word))
	for start := 0; start < len(word); {
		end := min(len(word), start+w.longest)
		for ; end > start; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			key = key[:0]
			if start > 0 {
				key = append(key, w.prefix...)
			}
			if id, ok := w.vocab[string(append(key, word[start:end]...))]; ok {
				if id != w.unknown {
					tokens = append(tokens, id)
				}
				break
			}
		}
		if end == start {
			return tokens[:known]
		}
		start = end
	}
	return tokens
}

// unigram cuts a text into tokens so that the sum of their scores is largest.
type unigram struct {
	vocab   map[string]int
	scores  []float64
	unknown int // token for unknown letters, or -1
	penalty float64
	longest int // bytes of the longest token
}

// forget implements [model].
func (u *unigram) forget(text string) { delete(u.vocab, text) }

// unknownPenalty is by how much the score of a letter that is no token is below the lowest score of a
// token.
const unknownPenalty = 10

// A scored is a token with its score. In JSON it is an array of these two.
type scored struct {
	text  string
	score float64
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scored) UnmarshalJSON(b []byte) error {
	var score *float64
	pair := []any{&s.text, &score}
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || score == nil {
		return fmt.Errorf("%q is not followed by a score", s.text)
	}
	s.score = *score
	return nil
}

func newUnigram(m *modelJSON) (model, int, error) {
	if m.ByteFallback {
		return nil, 0, fmt.Errorf("byte_fallback: it is %w", ErrUnsupported)
	}
	var list []scored
	if err := json.Unmarshal(m.Vocab, &list); err != nil {
		return nil, 0, fmt.Errorf("vocab: %w: %w", err, ErrFormat)
	}
	u := &unigram{vocab: make(map[string]int, len(list)), unknown: -1}
	for id, s := range list {
		if len(s.text) > maxPiece {
			return nil, 0, fmt.Errorf("vocab.%d: %d bytes, more than %d: %w", id, len(s.text), maxPiece, ErrFormat)
		}
		u.vocab[s.text] = id
		u.scores = append(u.scores, s.score)
		u.penalty = min(u.penalty, s.score)
		u.longest = max(u.longest, len(s.text))
	}
	u.penalty -= unknownPenalty
	if m.UnkID != nil {
		if u.unknown = *m.UnkID; u.unknown < 0 || u.unknown >= len(list) {
			return nil, 0, fmt.Errorf("unk_id: %d, but the vocab has %d tokens: %w", u.unknown, len(list), ErrFormat)
		}
	}
	return u, len(list), nil
}

// appendTokens implements [model]. It goes over the text once, and records for each position
// the best way to cut the text up to there. If several are equally good, it takes the first.
func (u *unigram) appendTokens(tokens []int, text string) []int {
	type arrival struct {
		score float64
		start int // start of the last token of the best cut up to here
		token int // last token, or -1 if it is unknown
		ok    bool
	}
	best := make([]arrival, len(text)+1)
	best[0].ok = true
	arrive := func(end int, a arrival) {
		if a.ok = true; !best[end].ok || a.score > best[end].score {
			best[end] = a
		}
	}
	for start, r := range text {
		letter := utf8.RuneLen(r)
		single := false
		for end := start + letter; end <= len(text) && end-start <= u.longest; end++ {
			if end < len(text) && !utf8.RuneStart(text[end]) {
				continue
			}
			if id, ok := u.vocab[text[start:end]]; ok && id != u.unknown {
				arrive(end, arrival{score: best[start].score + u.scores[id], start: start, token: id})
				single = single || end == start+letter
			}
		}
		if !single {
			arrive(start+letter, arrival{score: best[start].score + u.penalty, start: start, token: -1})
		}
	}
	var backward []int
	for end := len(text); end > 0; end = best[end].start {
		if id := best[end].token; id >= 0 {
			backward = append(backward, id)
		}
	}
	slices.Reverse(backward)
	return append(tokens, backward...)
}
