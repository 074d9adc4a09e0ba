package static

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tokenizerOf returns a tokenizer of three parts in JSON.
func tokenizerOf(normalizer, split, model string) string {
	return fmt.Sprintf(`{"normalizer":%s,"pre_tokenizer":%s,"model":%s,"added_tokens":[{"id":0,"content":"<s>","special":true}]}`, normalizer, split, model)
}

func mustTokenizer(t testing.TB, data string) *tokenizer {
	t.Helper()
	tok, err := newTokenizer([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// A recorder is a model that keeps the pieces it is given.
type recorder struct{ pieces []string }

func (r *recorder) appendTokens(tokens []int, piece string) []int {
	r.pieces = append(r.pieces, piece)
	return tokens
}

func (r *recorder) forget(string) {}

// anyModel is one where only the steps before it matter.
const anyModel = `{"type":"WordPiece","vocab":{"a":0}}`

func TestSteps(t *testing.T) {
	const bert = `{"type":"BertNormalizer"}`
	for _, tt := range []struct {
		name       string
		normalizer string
		split      string
		text       string
		want       []string
	}{
		{"nothing", `null`, `null`, "Größe  1", []string{"Größe  1"}},
		{"no text", `{"type":"Prepend","prepend":"_"}`, `null`, "", nil},
		{"bytes that are no text", `null`, `null`, "a\xff\xfeb", []string{"a\uFFFDb"}},

		{"BERT: letters without accents", bert, `null`, "ÀÉîõü Ångström Ёж Ἀθῆναι", []string{"aeiou angstrom еж αθηναι"}},
		{"BERT: marks by themselves", bert, `null`, "e\u0301 a\u0308", []string{"e a"}},
		{"BERT: letters that have no accents", bert, `null`, "Straße Øl Łódź", []string{"straße øl łodz"}},
		{"BERT: Hangul is taken apart", bert, `null`, "한글 가힣", []string{"\u1112\u1161\u11ab\u1100\u1173\u11af \u1100\u1161\u1112\u1175\u11c2"}},
		{"BERT: Hangul of the first tail, and what is behind Hangul", bert, `null`, "각 Ａ😀", []string{"\u1100\u1161\u11a8 ａ😀"}},
		{"BERT: control characters go, space is space", bert, `null`, "a\x00b\u200d\x07c\td\r\ne\u00a0f\uFFFD", []string{"abc d  e f"}},
		{"BERT: ideographs stand alone", bert, `null`, "a設定b", []string{"a 設  定 b"}},
		{"BERT: nothing of it", `{"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,"strip_accents":false,"lowercase":false}`, `null`, "É設\t\x07", []string{"É設\t\x07"}},
		{"BERT: accents stay with capitals", `{"type":"BertNormalizer","lowercase":false}`, `null`, "É", []string{"É"}},
		{"BERT: accents stay if asked", `{"type":"BertNormalizer","strip_accents":false}`, `null`, "É", []string{"é"}},
		{"a prefix as long as may be", `{"type":"Prepend","prepend":"` + strings.Repeat("a", 64) + `"}`, `null`, "b", []string{strings.Repeat("a", 64) + "b"}},
		{"a sequence", `{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"Strip","strip_left":true,"strip_right":true},{"type":"Replace","pattern":{"String":" "},"content":"▁"},{"type":"Prepend","prepend":"▁"}]}`, `null`, "  A b ", []string{"▁a▁b"}},
		{"half a strip", `{"type":"Strip","strip_right":true}`, `null`, " a ", []string{" a"}},
		{"accents that are apart already", `{"type":"StripAccents"}`, `null`, "e\u0301é", []string{"eé"}},
		{"an empty sequence", `{"type":"Sequence","normalizers":[]}`, `{"type":"Sequence","pretokenizers":[]}`, "A b", []string{"A b"}},

		{"BERT: punctuation stands alone", `null`, `{"type":"BertPreTokenizer"}`, " don't  stop!! $5_a «x» ", []string{"don", "'", "t", "stop", "!", "!", "$", "5", "_", "a", "«", "x", "»"}},
		{"words and the rest", `null`, `{"type":"Whitespace"}`, "a_1 don't ?! e\u0301", []string{"a_1", "don", "'", "t", "?!", "e\u0301"}},
		{"at space", `null`, `{"type":"WhitespaceSplit"}`, " a_1\tdon't\n", []string{"a_1", "don't"}},
		{"punctuation", `null`, `{"type":"Punctuation","behavior":"Isolated"}`, "a, b", []string{"a", ",", " b"}},
		{"punctuation by default", `null`, `{"type":"Punctuation"}`, "a, b", []string{"a", ",", " b"}},
		{"digits together", `null`, `{"type":"Digits"}`, "a12b3", []string{"a", "12", "b", "3"}},
		{"digits alone", `null`, `{"type":"Digits","individual_digits":true}`, "a12", []string{"a", "1", "2"}},
		{"metaspace", `null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}`, "Hey  you", []string{"▁Hey", "▁", "▁you"}},
		{"metaspace of old", `null`, `{"type":"Metaspace","replacement":"▁","add_prefix_space":false}`, "Hey you", []string{"Hey", "▁you"}},
		{"metaspace by default", `null`, `{"type":"Metaspace","replacement":"▁"}`, "Hey", []string{"▁Hey"}},
		{"metaspace of old with a prefix", `null`, `{"type":"Metaspace","replacement":"▁","add_prefix_space":true}`, "Hey", []string{"▁Hey"}},
		{"metaspace where a space is", `null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}`, " Hey", []string{"▁Hey"}},
		{"metaspace without a cut", `null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":false}`, "Hey you", []string{"Hey▁you"}},
		{"metaspace for each word", `null`, `{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}]}`, "Hey you", []string{"▁Hey", "▁you"}},
		{"metaspace for the first word", `null`, `{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"}]}`, "Hey you", []string{"▁Hey", "you"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustTokenizer(t, tokenizerOf(tt.normalizer, tt.split, anyModel))
			r := new(recorder)
			tok.model = r
			tok.tokens(tt.text)
			if diff := cmp.Diff(tt.want, r.pieces); diff != "" {
				t.Errorf("pieces of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestModels(t *testing.T) {
	const (
		pieces = `{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":10,
			"vocab":{"[UNK]":0,"un":1,"unhappi":2,"##happi":3,"##ness":4,"##s":5,"ü":6,"##ü":7,"<s>":8}}`
		scores = `{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["<s>",0],["▁",-2],["▁de",-3],["ploy",-3],["▁deploy",-5.5],["d",-4],["e",-4],["▁d",-4.5],["é",-4]]}`
	)
	for _, tt := range []struct {
		name  string
		model string
		text  string
		want  []int
	}{
		{"the longest first", pieces, "unhappiness", nil}, // has 11 letters
		{"the longest that fits", pieces, "unhappines", nil},
		{"pieces", pieces, "unhappis", []int{2, 5}},
		{"a word that goes on", pieces, "uns", []int{1, 5}},
		{"a word that cannot be cut is unknown as a whole", pieces, "unhappix", nil},
		{"letters of two bytes", pieces, "üüs", []int{6, 7, 5}},
		{"the unknown token by name", pieces, "[UNK]", nil},
		{"a special token by name", pieces, "<s>", nil},
		{"no pieces", `{"type":"WordPiece","max_input_chars_per_word":0,"vocab":{"a":0}}`, "a", nil},
		{"no prefix", `{"type":"WordPiece","continuing_subword_prefix":"","vocab":{"a":0,"b":1}}`, "abba", []int{0, 1, 1, 0}},

		{"one token that scores more than two", scores, "▁deploy", []int{5}},
		{"two tokens that score more than one", strings.Replace(scores, "-5.5", "-6.5", 1), "▁deploy", []int{3, 4}},
		{"of equal ways the one with the shorter last token", strings.Replace(scores, "-5.5", "-6", 1), "▁deploy", []int{5}},
		{"letters that no token has", scores, "▁dxée", []int{8, 9, 7}},
		{"nothing that any token has", scores, "xyz", nil},
		{"the first token", `{"type":"Unigram","vocab":[["a",-1],["b",-1]]}`, "aba", []int{0, 1, 0}},
		{"special tokens by name", scores, "<s><unk>", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustTokenizer(t, tokenizerOf("null", "null", tt.model))
			if diff := cmp.Diff(tt.want, tok.tokens(tt.text), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("tokens of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// What cannot be done as asked is refused by name, and so is what makes no
// sense.
func TestTokenizerErrors(t *testing.T) {
	nested := `{"type":"Lowercase"}`
	for range 12 {
		nested = `{"type":"Sequence","normalizers":[` + nested + `]}`
	}
	for _, tt := range []struct {
		name string
		file string
		want error
		says string
	}{
		{"no JSON", `{`, ErrFormat, ""},
		{"another shape", `{"normalizer":{"lowercase":1}}`, ErrFormat, "lowercase"},
		{"no model", `{}`, ErrUnsupported, `model.type: ""`},
		{"BPE", tokenizerOf("null", "null", `{"type":"BPE","vocab":{},"merges":[]}`), ErrUnsupported, `model.type: "BPE" is not supported`},
		{"a normal form", tokenizerOf(`{"type":"NFKC"}`, "null", anyModel), ErrUnsupported, `normalizer.type: "NFKC" is not supported`},
		{"a normalizer in a sequence", tokenizerOf(`{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"Precompiled","precompiled_charsmap":""}]}`, "null", anyModel), ErrUnsupported, `normalizer.1.type: "Precompiled"`},
		{"a pattern", tokenizerOf(`{"type":"Replace","pattern":{"Regex":" +"},"content":" "}`, "null", anyModel), ErrUnsupported, "normalizer.pattern"},
		{"text that grows", tokenizerOf(`{"type":"Replace","pattern":{"String":"a"},"content":"aaaa"}`, "null", anyModel), ErrUnsupported, "normalizer.content: 4 bytes in place of 1"},
		{"a long prefix", tokenizerOf(`{"type":"Prepend","prepend":"`+strings.Repeat("a", 65)+`"}`, "null", anyModel), ErrFormat, "normalizer.prepend: 65 bytes"},
		{"sequences in sequences", tokenizerOf(nested, "null", anyModel), ErrFormat, "sequences more than 8 deep"},
		{"many steps", tokenizerOf(`{"type":"Sequence","normalizers":[`+strings.Repeat(`{"type":"Lowercase"},`, 16)+`{"type":"Lowercase"}]}`, "null", anyModel), ErrFormat, "normalizer.16: more than 16 steps"},
		{"bytes", tokenizerOf("null", `{"type":"ByteLevel"}`, anyModel), ErrUnsupported, `pre_tokenizer.type: "ByteLevel"`},
		{"punctuation merged", tokenizerOf("null", `{"type":"Punctuation","behavior":"Removed"}`, anyModel), ErrUnsupported, `pre_tokenizer.behavior: "Removed"`},
		{"metaspace of two letters", tokenizerOf("null", `{"type":"Metaspace","replacement":"__"}`, anyModel), ErrFormat, "pre_tokenizer.replacement"},
		{"metaspace at times", tokenizerOf("null", `{"type":"Metaspace","replacement":"_","prepend_scheme":"sometimes"}`, anyModel), ErrUnsupported, "pre_tokenizer.prepend_scheme"},
		{"an added token", `{"model":` + anyModel + `,"added_tokens":[{"content":"x"}]}`, ErrUnsupported, `added_tokens.0: "x"`},
		{"no vocabulary", tokenizerOf("null", "null", `{"type":"WordPiece"}`), ErrFormat, "model.vocab"},
		{"an empty vocabulary", tokenizerOf("null", "null", `{"type":"WordPiece","vocab":{}}`), ErrFormat, "model.vocab: no tokens"},
		{"an id that is negative", tokenizerOf("null", "null", `{"type":"WordPiece","vocab":{"a":-1}}`), ErrFormat, `model.vocab: "a" has the id -1`},
		{"an id that is too large", tokenizerOf("null", "null", `{"type":"WordPiece","vocab":{"a":1073741825}}`), ErrFormat, `model.vocab: "a" has the id 1073741825`},
		{"words of less than nothing", tokenizerOf("null", "null", `{"type":"WordPiece","max_input_chars_per_word":-1,"vocab":{"a":0}}`), ErrFormat, "model.max_input_chars_per_word: -1"},
		{"words too long by one", tokenizerOf("null", "null", `{"type":"WordPiece","max_input_chars_per_word":201,"vocab":{"a":0}}`), ErrFormat, "model.max_input_chars_per_word: 201"},
		{"an unknown token below the first", tokenizerOf("null", "null", `{"type":"Unigram","unk_id":-1,"vocab":[["a",0]]}`), ErrFormat, "model.unk_id: -1"},
		{"words without end", tokenizerOf("null", "null", `{"type":"WordPiece","max_input_chars_per_word":1000000,"vocab":{"a":0}}`), ErrFormat, "model.max_input_chars_per_word: 1000000"},
		{"a prefix without end", tokenizerOf("null", "null", `{"type":"WordPiece","continuing_subword_prefix":"`+strings.Repeat("#", 65)+`","vocab":{"a":0}}`), ErrFormat, "model.continuing_subword_prefix: 65 bytes"},
		{"a score that is missing", tokenizerOf("null", "null", `{"type":"Unigram","vocab":[["a"]]}`), ErrFormat, `model.vocab: "a" is not followed by a score`},
		{"a score that is null", tokenizerOf("null", "null", `{"type":"Unigram","vocab":[["a",null]]}`), ErrFormat, "model.vocab"},
		{"a score too many", tokenizerOf("null", "null", `{"type":"Unigram","vocab":[["a",1,2]]}`), ErrFormat, "model.vocab"},
		{"a score that is text", tokenizerOf("null", "null", `{"type":"Unigram","vocab":[["a","b"]]}`), ErrFormat, "model.vocab"},
		{"a vocabulary by name", tokenizerOf("null", "null", `{"type":"Unigram","vocab":{"a":0}}`), ErrFormat, "model.vocab"},
		{"an unknown token that is not there", tokenizerOf("null", "null", `{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}`), ErrFormat, "model.unk_id: 1, but the vocab has 1"},
		{"a long token", tokenizerOf("null", "null", `{"type":"Unigram","vocab":[["`+strings.Repeat("a", 513)+`",0]]}`), ErrFormat, "model.vocab.0: 513 bytes"},
		{"bytes for letters", tokenizerOf("null", "null", `{"type":"Unigram","byte_fallback":true,"vocab":[["a",0]]}`), ErrUnsupported, "model.byte_fallback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok, err := newTokenizer([]byte(tt.file))
			if tok != nil || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, %v, want %v that says %q", tok, err, tt.want, tt.says)
			}
		})
	}
}

// What is as large as may be is taken.
func TestTokenizersHaveBounds(t *testing.T) {
	for _, model := range []string{
		`{"type":"WordPiece","vocab":{"a":1073741824}}`, `{"type":"WordPiece","max_input_chars_per_word":200,"vocab":{"a":0}}`,
		`{"type":"WordPiece","continuing_subword_prefix":"` + strings.Repeat("#", 64) + `","vocab":{"a":0}}`, `{"type":"Unigram","vocab":[["` + strings.Repeat("a", 512) + `",0]]}`,
	} {
		mustTokenizer(t, tokenizerOf("null", "null", model))
	}
}

// The table of accents agrees with itself: what a letter becomes stays as it
// is, and no letter is in two groups.
func TestAccents(t *testing.T) {
	letters := 0
	for rest := strings.Join(strings.Fields(accented), ""); rest != ""; letters++ {
		var err error
		if _, _, rest, err = strconv.UnquoteChar(rest, 0); err != nil {
			t.Fatal(err)
		}
	}
	plain := plainLetters()
	if len(plain) != letters {
		t.Errorf("%d letters in the groups, %d of them different", letters, len(plain))
	}
	for r, p := range plain {
		if plain[p] != p {
			t.Errorf("%q becomes %q, and that %q", r, p, plain[p])
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(bertTokenizer(words)), "Deployment, now! É設")
	f.Add([]byte(tokenizerOf(`{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]}`,
		`{"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"}]}`,
		`{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-2],["a",-1e308],["aa",1e308]]}`)), "aaa b1")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := newTokenizer(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("error is %v", err)
			}
			return
		}
		for _, id := range tok.tokens(text) {
			if id < 0 || id >= tok.size {
				t.Errorf("token %d of %d", id, tok.size)
			}
		}
	})
}
