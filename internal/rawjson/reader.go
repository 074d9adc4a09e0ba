package rawjson

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/text"
)

// MaxDepth is the maximum nesting of arrays and objects.
const MaxDepth = 512

// A Span is a range of bytes in a text: from Start to End, without End.
type Span struct{ Start, End int }

// Of returns the bytes of data in s.
func (s Span) Of(data []byte) []byte { return data[s.Start:s.End:s.End] }

// An Error says where and why a text cannot be read.
type Error struct {
	Offset int
	Path   string // such as "messages.3.role", or empty
	Text   string // what is wrong
	Hint   string // what to do, or empty
	Rule   Rule   // rule of a Document that the text breaks, or empty
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("offset %d: %s", e.Offset, e.Text)
	}
	return fmt.Sprintf("offset %d: %s: %s", e.Offset, e.Path, e.Text)
}

// A Kind is the kind of a JSON value: the first byte of its usual spelling.
type Kind byte

// The kinds of values. None is the kind at the end of the text and before any byte
// that begins no value.
const (
	None   Kind = 0
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// A Reader walks over a JSON text. Set the fields before Reset.
type Reader struct {
	Shared bool // strings without escapes share the memory of the text, which must not change
	Twins  bool // objects may have a key twice

	data  []byte
	pos   int
	depth int
	path  []step
	keyAt int // offset of the latest key that Object has read
	lossy bool

	strict bool // strings that are not valid Unicode are errors
}

// A step is one part of a path: a key, or an index if there is no key.
type step struct {
	key   string
	index int
}

// bom is the byte order mark that some editors put before a text.
var bom = []byte("\xef\xbb\xbf")

// NewReader returns a reader at the beginning of data, after a byte order mark.
func NewReader(data []byte) *Reader {
	r := &Reader{}
	r.Reset(data)
	return r
}

// Reset restarts the reader at the beginning of another text.
func (r *Reader) Reset(data []byte) {
	*r = Reader{Shared: r.Shared, Twins: r.Twins, data: data, path: r.path[:0]}
	if bytes.HasPrefix(data, bom) {
		r.pos = len(bom)
	}
}

// Lossy reports whether a string or key read so far was not valid Unicode. Strings that were
// skipped do not count.
func (r *Reader) Lossy() bool { return r.lossy }

// Offset returns the position of the next value.
func (r *Reader) Offset() int {
	r.space()
	return r.pos
}

// Position returns the offset up to which the Reader has read: the end of the last value, or the
// end of the whitespace behind it if Kind, Offset or End looked at what follows.
func (r *Reader) Position() int { return r.pos }

// Of returns the bytes of a span of the text.
func (r *Reader) Of(s Span) []byte { return s.Of(r.data) }

// KeyOffset returns the offset of the latest key. The function that [Reader.Object] calls for a member
// gets that of the member until it reads the value.
func (r *Reader) KeyOffset() int { return r.keyAt }

// Kind returns the kind of the next value, without reading it.
func (r *Reader) Kind() Kind {
	r.space()
	if r.pos == len(r.data) {
		return None
	}
	switch c := r.data[r.pos]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return Kind(c)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return None
}

// Fail returns an error at an offset and the current path.
func (r *Reader) Fail(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Path: r.Path(), Text: fmt.Sprintf(format, args...)}
}

// shownKey is how many bytes of a key an error shows at most.
const shownKey = 40

// Path returns the place in the text that the reader has reached, such as "messages.3.role".
func (r *Reader) Path() string {
	var b strings.Builder
	for i, s := range r.path {
		if i > 0 {
			b.WriteByte('.')
		}
		if s.key != "" {
			b.WriteString(text.Clip(s.key, shownKey))
		} else {
			b.WriteString(strconv.Itoa(s.index))
		}
	}
	return b.String()
}

// End returns an error unless only whitespace is left.
func (r *Reader) End() error {
	if r.space(); r.pos < len(r.data) {
		return r.Fail(r.pos, "more text behind the end of the value")
	}
	return nil
}

// Object reads an object and calls the function member for each key. That function must read the
// value of the key. A repeated key is an error, unless r.Twins is true.
func (r *Reader) Object(member func(key string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	var seen keySet
	for more := !r.closes('}'); more; {
		at := r.Offset()
		key, err := r.key()
		if err != nil {
			return err
		}
		if !r.Twins && !seen.add(key) {
			return r.Fail(at, "key %q comes twice", text.Clip(key, shownKey))
		}
		r.path = append(r.path, step{key: key})
		r.keyAt = at
		if err := member(key); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
		if more, err = r.next('}'); err != nil {
			return err
		}
	}
	return nil
}

// Array reads an array and calls the function element for each of its values. That function must
// read the value.
func (r *Reader) Array(element func(i int) error) error {
	if err := r.open('['); err != nil {
		return err
	}
	i := 0
	for more := !r.closes(']'); more; i++ {
		r.path = append(r.path, step{index: i})
		if err := element(i); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
		var err error
		if more, err = r.next(']'); err != nil {
			return err
		}
	}
	return nil
}

// A Member is a member of an object.
type Member struct {
	Key   string
	Whole Span // from the key to the end of the value
	Value Span
}

// Members reads an object and returns its members.
func (r *Reader) Members() ([]Member, error) {
	var list []Member
	err := r.Object(func(key string) error {
		at := r.keyAt
		v, err := r.Skip()
		list = append(list, Member{Key: key, Whole: Span{at, v.End}, Value: v})
		return err
	})
	return list, err
}

// Elements reads an array and returns the spans of its values.
func (r *Reader) Elements() ([]Span, error) {
	var list []Span
	err := r.Array(func(int) error {
		v, err := r.Skip()
		list = append(list, v)
		return err
	})
	return list, err
}

// At goes to an earlier offset, calls the function read, and goes back. That function must read one
// value at the offset. In errors the path of the value ends with key. After an error At does not go
// back.
func (r *Reader) At(offset int, key string, read func() error) error {
	pos := r.pos
	r.pos = offset
	r.path = append(r.path, step{key: key})
	if err := read(); err != nil {
		return err
	}
	r.path = r.path[:len(r.path)-1]
	r.pos = pos
	return nil
}

// key reads a key and the colon behind it.
func (r *Reader) key() (string, error) {
	key, err := r.String()
	if err != nil {
		return "", err
	}
	return key, r.colon()
}

func (r *Reader) colon() error {
	r.space()
	switch {
	case r.pos == len(r.data):
		return r.cut()
	case r.data[r.pos] != ':':
		return r.Fail(r.pos, "%s where a colon is expected", r.here())
	}
	r.pos++
	return nil
}

// open reads the bracket that begins an object or an array.
func (r *Reader) open(bracket byte) error {
	r.space()
	switch {
	case r.pos == len(r.data):
		return r.cut()
	case r.data[r.pos] != bracket:
		what := "an object"
		if bracket == '[' {
			what = "an array"
		}
		return r.Fail(r.pos, "%s where %s is expected", r.here(), what)
	case r.depth == MaxDepth:
		return r.refuse(r.pos, RuleDepth, "nested more than %d levels deep", MaxDepth)
	}
	r.depth++
	r.pos++
	return nil
}

// closes reads the closing bracket if it comes next.
func (r *Reader) closes(bracket byte) bool {
	r.space()
	if r.pos == len(r.data) || r.data[r.pos] != bracket {
		return false
	}
	r.depth--
	r.pos++
	return true
}

// next reads a comma or the closing bracket. more is true if it was a comma.
func (r *Reader) next(bracket byte) (more bool, err error) {
	if r.closes(bracket) {
		return false, nil
	}
	switch {
	case r.pos == len(r.data):
		return more, r.cut()
	case r.data[r.pos] != ',':
		return more, r.Fail(r.pos, "%s where a comma or %q is expected", r.here(), bracket)
	}
	r.pos++
	return true, nil
}

func (r *Reader) word(w string) error {
	if !bytes.HasPrefix(r.data[r.pos:], []byte(w)) {
		if len(r.data)-r.pos < len(w) {
			return r.cut()
		}
		return r.Fail(r.pos, "%s where a value is expected", r.here())
	}
	r.pos += len(w)
	return nil
}

func (r *Reader) number() error {
	start := r.pos
	if r.data[r.pos] == '-' {
		r.pos++
	}
	whole := r.digits()
	ok := whole > 0 && (whole == 1 || r.data[r.pos-whole] != '0')
	if ok && r.pos < len(r.data) && r.data[r.pos] == '.' {
		r.pos++
		ok = r.digits() > 0
	}
	if ok && r.pos < len(r.data) && r.data[r.pos]|0x20 == 'e' {
		r.pos++
		if r.pos < len(r.data) && (r.data[r.pos] == '+' || r.data[r.pos] == '-') {
			r.pos++
		}
		ok = r.digits() > 0
	}
	if !ok {
		return r.Fail(start, "malformed number")
	}
	return nil
}

// digits passes over digits and returns how many there were.
func (r *Reader) digits() int {
	start := r.pos
	for r.pos < len(r.data) && r.data[r.pos] >= '0' && r.data[r.pos] <= '9' {
		r.pos++
	}
	return r.pos - start
}

func (r *Reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

// cut returns the error that the text ends too early.
func (r *Reader) cut() *Error {
	e := r.Fail(len(r.data), "the text ends in the middle of a value")
	e.Hint = "the file may have been cut off"
	return e
}

// here describes the character at the position.
func (r *Reader) here() string {
	c, _ := utf8.DecodeRune(r.data[r.pos:])
	return strconv.QuoteRune(c)
}

// A keySet holds the keys of an object.
type keySet struct {
	few  [8]string
	n    int
	many map[string]bool
}

// add adds a key and reports whether it is new.
func (s *keySet) add(key string) bool {
	if s.many != nil {
		if s.many[key] {
			return false
		}
		s.many[key] = true
		return true
	}
	if slices.Contains(s.few[:s.n], key) {
		return false
	}
	if s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return true
	}
	s.many = make(map[string]bool, 4*len(s.few))
	for _, k := range s.few {
		s.many[k] = true
	}
	s.many[key] = true
	return true
}
