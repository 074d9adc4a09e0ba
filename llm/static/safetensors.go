package static

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// maxHeader is the most bytes of a header. Tables of embeddings have a few hundred.
const maxHeader = 1 << 20

// A tensor is an array of a file.
type tensor struct {
	name  string
	dtype string
	shape []int
	data  []byte // bytes of the file
}

// sizes are the sizes of the elements of each type, in bytes.
var sizes = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
	"U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4,
	"U64": 8, "I64": 8, "F64": 8,
}

// parseSafetensors reads a file: the length of the header in 8 bytes, little endian, the header
// in JSON, and the data. The header assigns a part of the data to each tensor. The parts must
// follow each other without gaps up to the end. The tensors are returned in the order of their
// data.
func parseSafetensors(file []byte) ([]tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("%d bytes, too few for the length of a header: %w", len(file), ErrFormat)
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader || n > uint64(len(file)-8) {
		return nil, fmt.Errorf("header of %d bytes in a file of %d, and at most %d are read: %w", n, len(file), maxHeader, ErrFormat)
	}
	header, data := file[8:8+n], file[8+n:]
	if !bytes.HasPrefix(header, []byte("{")) {
		return nil, fmt.Errorf("header does not begin with {: %w", ErrFormat)
	}
	entries, err := parseHeader(header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	slices.SortFunc(entries, func(x, y headerEntry) int {
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end), cmp.Compare(x.name, y.name))
	})
	tensors := make([]tensor, len(entries))
	var at uint64
	for i, e := range entries {
		if tensors[i], err = e.tensor(data); err != nil {
			return nil, err
		}
		if e.begin != at {
			return nil, fmt.Errorf("%s.data_offsets: begins at %d, but the data before it ends at %d: %w", e.name, e.begin, at, ErrFormat)
		}
		at = e.end
	}
	if at != uint64(len(data)) {
		return nil, fmt.Errorf("data ends at %d, but the file at %d: %w", at, len(data), ErrFormat)
	}
	return tensors, nil
}

// A headerEntry describes a tensor in the header.
type headerEntry struct {
	name       string
	dtype      string
	shape      []uint64
	begin, end uint64 // offsets in the data
}

// tensor returns the tensor of an entry, or an error if the entry is not consistent.
func (e headerEntry) tensor(data []byte) (tensor, error) {
	size, ok := sizes[e.dtype]
	if !ok {
		return tensor{}, fmt.Errorf("%s.dtype: %q is %w", e.name, e.dtype, ErrUnsupported)
	}
	if e.begin > e.end || e.end > uint64(len(data)) {
		return tensor{}, fmt.Errorf("%s.data_offsets: from %d to %d of %d bytes: %w", e.name, e.begin, e.end, len(data), ErrFormat)
	}
	want, over := uint64(size), false
	for _, d := range e.shape {
		var hi uint64
		hi, want = bits.Mul64(want, d)
		over = over || hi > 0
	}
	if over || want != e.end-e.begin {
		return tensor{}, fmt.Errorf("%s.data_offsets: %d bytes, which are not %s of shape %d: %w", e.name, e.end-e.begin, e.dtype, e.shape, ErrFormat)
	}
	t := tensor{name: e.name, dtype: e.dtype, data: data[e.begin:e.end]}
	for _, d := range e.shape {
		if d > uint64(len(data)) { // only empty tensors can fail here: any other is no larger than its data
			return tensor{}, fmt.Errorf("%s.shape: %d is too large: %w", e.name, e.shape, ErrFormat)
		}
		t.shape = append(t.shape, int(d))
	}
	return t, nil
}

// parseHeader reads the header. Unknown, repeated and missing keys are errors.
func parseHeader(header []byte) ([]headerEntry, error) {
	r := rawjson.NewReader(header)
	var entries []headerEntry
	err := r.Object(func(name string) error {
		if name == "__metadata__" {
			return r.Object(func(string) error {
				_, err := r.String()
				return err
			})
		}
		e := headerEntry{name: name}
		if err := e.read(r, header); err != nil {
			return err
		}
		entries = append(entries, e)
		return nil
	})
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return entries, nil
}

// read reads the entry of one tensor.
func (e *headerEntry) read(r *rawjson.Reader, header []byte) error {
	start := r.Offset()
	var keys int
	err := r.Object(func(key string) (err error) {
		keys++
		switch key {
		case "dtype":
			e.dtype, err = r.String()
		case "shape":
			e.shape, err = readNumbers(r, header)
		case "data_offsets":
			at := r.Offset()
			var offsets []uint64
			if offsets, err = readNumbers(r, header); err == nil && len(offsets) != 2 {
				err = r.Fail(at, "%d offsets, want 2", len(offsets))
			}
			if err == nil {
				e.begin, e.end = offsets[0], offsets[1]
			}
		default:
			return r.Fail(r.KeyOffset(), "key is not known")
		}
		return err
	})
	if err == nil && keys != 3 {
		return r.Fail(start, "has %d keys, want dtype, shape and data_offsets", keys)
	}
	return err
}

// readNumbers reads an array of whole numbers.
func readNumbers(r *rawjson.Reader, header []byte) ([]uint64, error) {
	var numbers []uint64
	err := r.Array(func(int) error {
		at := r.Offset()
		span, err := r.Skip()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(span.Of(header)), 10, 64)
		if err != nil {
			return r.Fail(at, "not a whole number")
		}
		numbers = append(numbers, n)
		return nil
	})
	return numbers, err
}
