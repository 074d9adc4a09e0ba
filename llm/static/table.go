package static

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxDim is the largest number of components of a vector.
const maxDim = 1 << 16

// A table has the vectors of tokens.
type table struct {
	dim     int
	values  []float32 // row by row
	weights []float32 // factor of each token; nil if all are 1
	mapping []int     // row of each token; nil if token i has row i
}

// newTable reads model.safetensors.
func newTable(data []byte) (table, error) {
	tensors, err := parseSafetensors(data)
	if err != nil {
		return table{}, err
	}
	var t table
	main, err := mainTensor(tensors)
	if err != nil {
		return table{}, err
	}
	if t.dim = main.shape[1]; t.dim < 1 || t.dim > maxDim || main.shape[0] < 1 {
		return table{}, fmt.Errorf("%s.shape: %d rows of %d numbers are none, or too many: %w", main.name, main.shape[0], t.dim, ErrFormat)
	}
	if t.values, err = main.floats(); err != nil {
		return table{}, err
	}
	for _, other := range tensors {
		switch {
		case other.name == "weights" && len(other.shape) == 1:
			if t.weights, err = other.floats(); err != nil {
				return table{}, err
			}
		case other.name == "mapping" && len(other.shape) == 1:
			if t.mapping, err = other.indexes(main.shape[0]); err != nil {
				return table{}, err
			}
		}
	}
	if t.mapping != nil && t.weights != nil && len(t.mapping) != len(t.weights) {
		return table{}, fmt.Errorf("mapping: %d tokens, but weights has %d: %w", len(t.mapping), len(t.weights), ErrFormat)
	}
	return t, nil
}

// mainTensor returns the tensor "embeddings" or, if there is none, the only tensor of two
// dimensions.
func mainTensor(tensors []tensor) (tensor, error) {
	var two []tensor
	for _, t := range tensors {
		if len(t.shape) == 2 {
			two = append(two, t)
			if t.name == "embeddings" {
				return t, nil
			}
		}
	}
	if len(two) != 1 {
		return tensor{}, fmt.Errorf("no tensor embeddings, and %d others of two dimensions in place of one: %w", len(two), ErrFormat)
	}
	return two[0], nil
}

// tokens returns the number of tokens with a vector.
func (t *table) tokens() int {
	n := len(t.values) / t.dim
	if t.mapping != nil {
		n = len(t.mapping)
	}
	if t.weights != nil {
		n = min(n, len(t.weights))
	}
	return n
}

// add adds the weighted vector of a token to sums.
func (t *table) add(sums []float64, token int) {
	weight, row := 1.0, token
	if t.weights != nil {
		weight = float64(t.weights[token])
	}
	if t.mapping != nil {
		row = t.mapping[token]
	}
	for i, v := range t.values[row*t.dim : (row+1)*t.dim] {
		sums[i] += float64(weight * float64(v))
	}
}

// floats returns the numbers of a tensor. It fails for a number that is not finite.
func (t tensor) floats() ([]float32, error) {
	var at func([]byte) float32
	switch t.dtype {
	case "F64":
		at = func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	case "F32":
		at = func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case "F16":
		at = func(b []byte) float32 { return fromHalf(binary.LittleEndian.Uint16(b)) }
	case "BF16":
		at = func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }
	default:
		return nil, fmt.Errorf("%s.dtype: %s is %w for numbers", t.name, t.dtype, ErrUnsupported)
	}
	size := sizes[t.dtype]
	values := make([]float32, len(t.data)/size)
	for i := range values {
		v := at(t.data[i*size:])
		if v-v != 0 {
			return nil, fmt.Errorf("%s: element %d is %v: %w", t.name, i, v, ErrFormat)
		}
		values[i] = v
	}
	return values, nil
}

// indexes returns the numbers of a tensor. It fails if a number is negative, or not below
// limit.
func (t tensor) indexes(limit int) ([]int, error) {
	var at func([]byte) int64
	switch t.dtype {
	case "I64":
		at = func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
	case "I32":
		at = func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }
	default:
		return nil, fmt.Errorf("%s.dtype: %s is %w for indexes", t.name, t.dtype, ErrUnsupported)
	}
	size := sizes[t.dtype]
	values := make([]int, len(t.data)/size)
	for i := range values {
		v := at(t.data[i*size:])
		if v < 0 || v >= int64(limit) {
			return nil, fmt.Errorf("%s: element %d is %d, and there are %d rows: %w", t.name, i, v, limit, ErrFormat)
		}
		values[i] = int(v)
	}
	return values, nil
}

// fromHalf converts a number of 16 bits (IEEE 754 binary16).
func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15), uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0: // zero, or a multiple of the smallest number, 2⁻²⁴
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign<<31)
	case 31: // infinity, or not a number
		return math.Float32frombits(sign<<31 | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign<<31 | (exponent+127-15)<<23 | fraction<<13)
}
