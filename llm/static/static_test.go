package static

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A spec is a tensor to write.
type spec struct {
	name  string
	dtype string
	shape []int
	data  []byte
}

// le encodes numbers, low bytes first.
func le[T any](values ...T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

// safetensors encodes a file.
func safetensors(specs ...spec) []byte {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, s := range specs {
		header[s.name] = map[string]any{"dtype": s.dtype, "shape": s.shape, "data_offsets": []int{len(data), len(data) + len(s.data)}}
		data = append(data, s.data...)
	}
	h, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return withHeader(string(h)+"  ", data)
}

// withHeader puts a header before data.
func withHeader(header string, data []byte) []byte {
	return append(append(le(uint64(len(header))), header...), data...)
}

// Vectors of two components for the four tokens of words.
var (
	words  = `{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"deploy":1,"##ment":2,"now":3}}`
	matrix = spec{"embeddings", "F32", []int{4, 2}, le[float32](9, 9, 3, 0, 0, 4, -1, 0)}
)

// bertTokenizer is a tokenizer.json around a model.
func bertTokenizer(model string) string {
	return `{"version":"1.0","added_tokens":[{"id":0,"content":"[UNK]","special":true}],
		"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
		"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"Whatever"},"model":` + model + `}`
}

// files are those of a model.
func files(model []byte, tokenizer, config string) fstest.MapFS {
	fsys := fstest.MapFS{modelFile: {Data: model}, tokenizerFile: {Data: []byte(tokenizer)}}
	if config != "" {
		fsys[configFile] = &fstest.MapFile{Data: []byte(config)}
	}
	return fsys
}

func TestEmbed(t *testing.T) {
	const raw = `{"normalize":false}`
	half := func(values ...uint16) []byte { return le(values...) }
	for _, tt := range []struct {
		name   string
		model  []byte
		config string
		opts   Options
		text   string
		want   []float32
	}{
		{"a mean", safetensors(matrix), raw, Options{}, "Deployment now", []float32{2. / 3, 4. / 3}},
		{"a mean of length 1", safetensors(matrix), "", Options{}, "Deployment", []float32{0.6, 0.8}},
		{"length 1 by the file", safetensors(matrix), `{"normalize":true}`, Options{}, "deployment", []float32{0.6, 0.8}},
		{"a mean that is shorter than 1", safetensors(spec{"embeddings", "F32", []int{4, 2}, le[float32](9, 9, 0.3, 0.4, 0, 0, 0, 0)}), "", Options{}, "deploy", []float32{0.6, 0.8}},
		{"unknown words do not count", safetensors(matrix), raw, Options{}, "deploy xyz deployx!", []float32{3, 0}},
		{"numbers at the edge", safetensors(matrix, spec{"weights", "F32", []int{4}, le[float32](1, math.MaxFloat32, 1, 1)}), raw, Options{}, "deploy", []float32{math.MaxFloat32, 0}},
		{"nothing known", safetensors(matrix), "", Options{}, "xyz [UNK]", []float32{0, 0}},
		{"no text", safetensors(matrix), "", Options{}, "", []float32{0, 0}},
		{"the first tokens only", safetensors(matrix), raw, Options{MaxTokens: 1}, "deployment now", []float32{3, 0}},
		{"fewer tokens than may be", safetensors(matrix), raw, Options{MaxTokens: 9}, "deploy", []float32{3, 0}},
		{"a file that says nothing of the length", safetensors(matrix), `{}`, Options{}, "deployment", []float32{0.6, 0.8}},
		{"a file as large as may be", safetensors(matrix), raw, Options{MaxBytes: int64(len(safetensors(matrix)))}, "deploy", []float32{3, 0}},
		{"weights and mapping of two dimensions", safetensors(matrix, spec{"weights", "F32", []int{4, 1}, le[float32](7, 7, 7, 7)}, spec{"mapping", "I32", []int{4, 1}, le[int32](0, 0, 0, 0)}), raw, Options{}, "deploy", []float32{3, 0}},
		{"another name", safetensors(spec{"table.weight", "F32", []int{4, 2}, matrix.data}), raw, Options{}, "now", []float32{-1, 0}},
		{"F16", safetensors(spec{"embeddings", "F16", []int{4, 2}, half(0, 0, 0x3C00, 0xC000, 0x0001, 0x7BFF, 0x3555, 0x8000)}), raw, Options{}, "now deploy", []float32{(1 + 0.33325195) / 2, -1}},
		{"BF16", safetensors(spec{"embeddings", "BF16", []int{4, 2}, half(0, 0, 0x3F80, 0xC000, 0, 0, 0, 0)}), raw, Options{}, "deploy", []float32{1, -2}},
		{"weights", safetensors(matrix, spec{"weights", "F64", []int{4}, le[float64](1, 2, 0.5, 1)}), raw, Options{}, "deployment", []float32{3, 1}},
		{"mapping", safetensors(spec{"embeddings", "F32", []int{2, 2}, le[float32](9, 9, 7, 8)}, spec{"mapping", "I64", []int{4}, le[int64](0, 1, 0, 1)}), raw, Options{}, "deploy now", []float32{7, 8}},
		{"weights and mapping", safetensors(spec{"embeddings", "F32", []int{2, 2}, le[float32](9, 9, 7, 8)}, spec{"mapping", "I32", []int{4}, le[int32](0, 1, 0, 1)}, spec{"weights", "F32", []int{4}, le[float32](1, 3, 1, 1)}), raw, Options{}, "deploy now", []float32{14, 16}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Load(files(tt.model, bertTokenizer(words), tt.config), &tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Embed(t.Context(), []string{tt.text, tt.text})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]float32{tt.want, tt.want}, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("vectors of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestEmbedStopsWhenTheContextIsDone(t *testing.T) {
	m, err := Load(files(safetensors(matrix), bertTokenizer(words), ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := m.Embed(ctx, []string{"a"}); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, want only context.Canceled", got, err)
	}
}

// All that changes vectors changes the name, and nothing else does.
func TestName(t *testing.T) {
	other := matrix
	other.data = le[float32](9, 9, 3, 0, 0, 4, -1, 1)
	seen := make(map[string]string)
	for _, tt := range []struct {
		name string
		fsys fstest.MapFS
		opts *Options
	}{
		{"plain", files(safetensors(matrix), bertTokenizer(words), ""), nil},
		{"other table", files(safetensors(other), bertTokenizer(words), ""), nil},
		{"other tokenizer", files(safetensors(matrix), bertTokenizer(strings.Replace(words, "now", "new", 1)), ""), nil},
		{"other config", files(safetensors(matrix), bertTokenizer(words), `{"normalize":false}`), nil},
		{"other limit", files(safetensors(matrix), bertTokenizer(words), ""), &Options{MaxTokens: 9}},
		{"named", files(safetensors(matrix), bertTokenizer(words), ""), &Options{Name: "tiny"}},
	} {
		m, err := Load(tt.fsys, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(tt.fsys, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name() != again.Name() || seen[m.Name()] != "" {
			t.Errorf("%s: names are %s and %s, the first also of %q", tt.name, m.Name(), again.Name(), seen[m.Name()])
		}
		seen[m.Name()] = tt.name
		want := "static@sha256:"
		if tt.opts != nil && tt.opts.Name != "" {
			want = "tiny@sha256:"
		}
		if rest, ok := strings.CutPrefix(m.Name(), want); !ok || len(rest) != 16 {
			t.Errorf("name is %s, want %s and 16 digits", m.Name(), want)
		}
	}
}

// Every error names the file and what is wrong with it.
func TestLoadErrors(t *testing.T) {
	good := safetensors(matrix)
	data := matrix.data
	table := func(specs ...spec) fstest.MapFS { return files(safetensors(specs...), bertTokenizer(words), "") }
	header := func(h string, data []byte) fstest.MapFS {
		return files(withHeader(h, data), bertTokenizer(words), "")
	}
	nan := math.Float32frombits(0x7FC00000)
	for _, tt := range []struct {
		name string
		fsys fstest.MapFS
		want error
		says string
	}{
		{"no table", fstest.MapFS{}, nil, "model.safetensors"},
		{"no tokenizer", fstest.MapFS{modelFile: {Data: good}}, nil, "tokenizer.json"},
		{"table too large", files(make([]byte, 5000), "", ""), ErrFormat, "model.safetensors: more than 4096 bytes"},
		{"config that is no JSON", files(good, bertTokenizer(words), "{"), ErrFormat, "config.json: "},
		{"config of another shape", files(good, bertTokenizer(words), `{"normalize":"yes"}`), ErrFormat, "normalize"},
		{"more tokens than rows", table(spec{"embeddings", "F32", []int{2, 2}, data[:16]}), ErrFormat, "tokenizer.json: 4 tokens, but model.safetensors has vectors for 2"},
		{"fewer weights than tokens", table(matrix, spec{"weights", "F32", []int{3}, le[float32](1, 1, 1)}), ErrFormat, "4 tokens, but model.safetensors has vectors for 3"},

		{"empty file", files(nil, "", ""), ErrFormat, "model.safetensors: 0 bytes"},
		{"header beyond the file", files(le(uint64(9), uint64(0)), "", ""), ErrFormat, "header of 9 bytes in a file of 16"},
		{"header beyond all bounds", files(le(uint64(math.MaxUint64)), "", ""), ErrFormat, "header of 18446744073709551615 bytes"},
		{"header that is no object", header(`[]`, nil), ErrFormat, "header does not begin with {"},
		{"header with space before", header(` {}`, nil), ErrFormat, "header does not begin with {"},
		{"header that is cut off", header(`{"a":`, nil), ErrFormat, "header: "},
		{"header with more behind", header(`{}{}`, nil), ErrFormat, "header: "},
		{"a tensor twice", header(`{"a":{"dtype":"F32","shape":[0,1],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0,1],"data_offsets":[0,0]}}`, nil), ErrFormat, "header: "},
		{"a key that is not known", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4],"stride":1}}`, data[:4]), ErrFormat, "a.stride"},
		{"a key in capitals", header(`{"a":{"DTYPE":"F32","shape":[1,1],"data_offsets":[0,4]}}`, data[:4]), ErrFormat, "a.DTYPE"},
		{"no shape", header(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, data[:4]), ErrFormat, "a: has 2 keys"},
		{"one offset", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0]}}`, data[:4]), ErrFormat, "a.data_offsets: 1 offsets, want 2"},
		{"a negative offset", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[-4,0]}}`, data[:4]), ErrFormat, "a.data_offsets.0: not a whole number"},
		{"a fraction", header(`{"a":{"dtype":"F32","shape":[1.0,1],"data_offsets":[0,4]}}`, data[:4]), ErrFormat, "a.shape.0: not a whole number"},
		{"metadata that is no text", header(`{"__metadata__":{"a":1}}`, nil), ErrFormat, "__metadata__.a"},
		{"a type that is not known", header(`{"a":{"dtype":"F4","shape":[1,1],"data_offsets":[0,4]}}`, data[:4]), ErrUnsupported, `a.dtype: "F4" is not supported`},
		{"offsets out of range", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, data[:3]), ErrFormat, "a.data_offsets: from 0 to 4 of 3"},
		{"offsets in the wrong order", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[4,0]}}`, data[:4]), ErrFormat, "a.data_offsets: from 4 to 0"},
		{"a shape of another size", header(`{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,4]}}`, data[:4]), ErrFormat, "4 bytes, which are not F32 of shape [2 1]"},
		{"a shape that overflows", header(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, nil), ErrFormat, "0 bytes, which are not F32"},
		{"a shape that overflows by one", header(`{"a":{"dtype":"F32","shape":[4611686018427387904,1],"data_offsets":[0,0]}}`, nil), ErrFormat, "0 bytes, which are not F32"},
		{"a shape that overflows and then is empty", header(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}`, nil), ErrFormat, "0 bytes, which are not F32"},
		{"an empty tensor of great length", header(`{"a":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, nil), ErrFormat, "a.shape"},
		{"two that overlap", header(`{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, data[:12]), ErrFormat, "b.data_offsets: begins at 4, but the data before it ends at 8"},
		{"a gap", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, data[:12]), ErrFormat, "b.data_offsets: begins at 8, but the data before it ends at 4"},
		{"data left over", header(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, data[:8]), ErrFormat, "data ends at 4, but the file at 8"},

		{"no table among the tensors", table(spec{"weights", "F32", []int{8}, data}), ErrFormat, "no tensor embeddings"},
		{"two tables", table(spec{"a", "F32", []int{4, 2}, data}, spec{"b", "F32", []int{4, 2}, data}), ErrFormat, "2 others of two dimensions"},
		{"rows of nothing", table(spec{"a", "F32", []int{4, 0}, nil}, spec{"w", "F32", []int{8}, data}), ErrFormat, "a.shape: 4 rows of 0 numbers"},
		{"no rows", table(spec{"a", "F32", []int{0, 4}, nil}, spec{"w", "F32", []int{8}, data}), ErrFormat, "a.shape: 0 rows of 4 numbers"},
		{"a table of integers", table(spec{"a", "I8", []int{4, 2}, data[:8]}), ErrUnsupported, "a.dtype: I8 is not supported"},
		{"a component that is no number", table(spec{"a", "F32", []int{1, 2}, le(1, nan)}), ErrFormat, "a: element 1 is NaN"},
		{"an infinite component", table(spec{"a", "F16", []int{1, 2}, le[uint16](0, 0xFC00)}), ErrFormat, "a: element 1 is -Inf"},
		{"a weight beyond float32", table(matrix, spec{"weights", "F64", []int{1}, le(1e300)}), ErrFormat, "weights: element 0 is +Inf"},
		{"a row that is not there", table(matrix, spec{"mapping", "I64", []int{1}, le[int64](4)}), ErrFormat, "mapping: element 0 is 4, and there are 4 rows"},
		{"a negative row", table(matrix, spec{"mapping", "I32", []int{1}, le[int32](-1)}), ErrFormat, "mapping: element 0 is -1"},
		{"rows as fractions", table(matrix, spec{"mapping", "F32", []int{4}, data[:16]}), ErrUnsupported, "mapping.dtype: F32 is not supported"},
		{"weights and mapping of different length", table(matrix, spec{"mapping", "I32", []int{1}, le[int32](1)}, spec{"weights", "F32", []int{2}, data[:8]}), ErrFormat, "mapping: 1 tokens, but weights has 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Load(tt.fsys, &Options{MaxBytes: 4096})
			if m != nil || err == nil || !strings.Contains(err.Error(), tt.says) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, %v, want %v that says %q", m, err, tt.want, tt.says)
			}
		})
	}
	for most, ok := range map[int64]bool{int64(len(good)) - 1: false, int64(len(good)): true, math.MaxInt64: true} {
		if _, err := Load(files(good, bertTokenizer(words), ""), &Options{MaxBytes: most}); (err == nil) != ok {
			t.Errorf("a table of %d bytes, where %d are allowed: %v", len(good), most, err)
		}
	}
	for _, o := range []Options{{MaxTokens: -1}, {MaxBytes: -1}} {
		if _, err := Load(fstest.MapFS{}, &o); err == nil || !strings.Contains(err.Error(), "must not be negative") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A table has one component at least, and as many as are allowed.
func TestDimensionsOfTables(t *testing.T) {
	for dim, ok := range map[int]bool{1: true, maxDim: true, maxDim + 1: false} {
		got, err := newTable(safetensors(spec{"embeddings", "F32", []int{1, dim}, make([]byte, 4*dim)}))
		if (err == nil) != ok || ok && got.dim != dim || !ok && !errors.Is(err, ErrFormat) {
			t.Errorf("%d: %d, %v", dim, got.dim, err)
		}
	}
}

// A header is read up to a length.
func TestLengthOfHeaders(t *testing.T) {
	const h = `{"embeddings":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`
	for n, ok := range map[int]bool{maxHeader: true, maxHeader + 1: false} {
		if _, err := newTable(withHeader(h+strings.Repeat(" ", n-len(h)), make([]byte, 4))); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// Every number of 16 bits is what its parts say.
func TestFromHalf(t *testing.T) {
	for h := range 1 << 16 {
		exponent, fraction := h>>10&31, float64(h&1023)
		var want float64
		switch exponent {
		case 0:
			want = math.Ldexp(fraction, -24)
		case 31:
			want = math.Inf(1)
			if fraction > 0 {
				want = math.NaN()
			}
		default:
			want = math.Ldexp(1024+fraction, exponent-25)
		}
		if h>>15 == 1 {
			want = -want
		}
		got := float64(fromHalf(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(safetensors(matrix))
	f.Add(safetensors(matrix, spec{"weights", "F64", []int{4}, le[float64](1, 2, 3, 4)}, spec{"mapping", "I32", []int{4}, le[int32](1, 2, 3, 0)}))
	f.Add(withHeader(`{"a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}`, make([]byte, 4)))
	f.Add(withHeader(`{"a":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := newTable(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("error is %v", err)
			}
			return
		}
		sums := make([]float64, table.dim)
		for token := range table.tokens() {
			table.add(sums, token)
		}
		for i, s := range sums {
			if math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("component %d is %v", i, s)
			}
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	const tokens, dim = 2000, 256
	vocab := map[string]int{"[UNK]": 0}
	for i := 1; i < tokens; i++ {
		vocab[fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26%26)] = i
		vocab[fmt.Sprintf("##%c", 'a'+i%26)] = i
	}
	v, err := json.Marshal(vocab)
	if err != nil {
		b.Fatal(err)
	}
	table := spec{"embeddings", "F32", []int{tokens, dim}, make([]byte, 4*tokens*dim)}
	m, err := Load(files(safetensors(table), bertTokenizer(`{"type":"WordPiece","unk_token":"[UNK]","vocab":`+string(v)+`}`), ""), nil)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("retry the upload of the staging profile, ", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Embed(b.Context(), []string{text}); err != nil {
			b.Fatal(err)
		}
	}
}
