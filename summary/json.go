package summary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/carrel-dev/carrel/ratio"
)

// A SyntaxError means that a text cannot be read as a summary. It has the place and the cause.
type SyntaxError struct {
	Line  int    // line of the text, from 1; 0 if the error is about a field
	Field string // such as "decisions_made[2].rationale"; may be empty
	Text  string // the cause
	Hint  string // the correction; may be empty
}

// Error returns the place, the cause and the hint on one line.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString("summary")
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Field != "" {
		b.WriteString(" " + e.Field)
	}
	b.WriteString(": " + e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// MarshalJSON writes the text as a JSON string, or an object of text and source if the item has
// a source.
func (it Item) MarshalJSON() ([]byte, error) {
	if it.Source == "" {
		return encode(it.Text)
	}
	return encode(struct {
		Text   string `json:"text"`
		Source string `json:"source"`
	}{it.Text, it.Source})
}

// UnmarshalJSON reads a string or an object. It fails with a [*SyntaxError].
func (it *Item) UnmarshalJSON(data []byte) error { return readItem(data, "item", it) }

// MarshalJSON writes an object with a field for each path, in the order of fs. Files with equal
// paths become one field.
func (fs Files) MarshalJSON() ([]byte, error) {
	if fs == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range unite(fs) {
		if i > 0 {
			b.WriteByte(',')
		}
		if f.Changes == nil {
			f.Changes = []Item{}
		}
		key, err := encode(f.Path)
		list, bad := encode(f.Changes)
		if err := cmp.Or(err, bad); err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(list)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object with a field for each path. If a path occurs twice, the changes
// of both are kept. It fails with a [*SyntaxError].
func (fs *Files) UnmarshalJSON(data []byte) error { return readFiles(data, string(SectionFiles), fs) }

// UnmarshalJSON reads a summary, or a state file of the published form, which has the summary
// in the field compression_state. The case of field names does not matter, and unknown fields
// are ignored. It also reads common deviations of models: a string for a decision or an error,
// a single value for a list of one, and a list of objects with a path for the files. For a
// value of a wrong type it fails with a [*SyntaxError] that names the field.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var out Summary
	if err := out.read(data, ""); err != nil {
		return err
	}
	*s = out
	return nil
}

func (s *Summary) read(data []byte, field string) error {
	list, err := members(data, field)
	if err != nil {
		return err
	}
	for _, m := range list {
		key := strings.ToLower(m.key)
		read := s.readField
		if key == "summary" && field != key || key == "compression_state" && field == "" {
			read = s.readWrapped
		}
		if err := read(key, m.value); err != nil {
			return err
		}
	}
	return nil
}

// readWrapped reads the object around a summary. Such an object is read at the top and, for a
// summary, in the state, so that no document is read more than three times.
func (s *Summary) readWrapped(key string, v json.RawMessage) error {
	if isNull(v) {
		return nil
	}
	return s.read(v, key)
}

// readField reads one field of a summary or of its metadata.
func (s *Summary) readField(key string, v json.RawMessage) error {
	if isNull(v) {
		return nil
	}
	switch key {
	case string(SectionIntent):
		return readText(v, key, &s.Intent)
	case string(SectionState):
		return readText(v, key, &s.State)
	case string(SectionFiles):
		return readFiles(v, key, &s.Files)
	case string(sectionDecisions):
		return readList(v, key, &s.Decisions, readDecision)
	case string(sectionErrors):
		return readList(v, key, &s.Errors, readError)
	case string(sectionBlockers), string(SectionNext), string(SectionContext), string(SectionArtifacts):
		return readList(v, key, s.items(Section(key)), readItem)
	}
	return s.Meta.readField(key, v)
}

// readField reads one field of the metadata.
func (m *Meta) readField(key string, v json.RawMessage) error {
	for _, f := range m.fields() {
		if f.name != key {
			continue
		}
		switch into := f.value.(type) {
		case *string:
			return readText(v, key, into)
		case *ratio.Ratio:
			return readRatio(v, key, into)
		}
		return readValue(v, key, "a whole number", f.value)
	}
	return nil
}

// readDecision reads a decision, which is an object or a string.
func readDecision(v json.RawMessage, field string, d *Decision) error {
	return readEntry(v, field, "decision", map[string]*string{
		"decision": &d.Decision, "rationale": &d.Rationale, "source": &d.Source,
	})
}

// readError reads an error, which is an object or a string.
func readError(v json.RawMessage, field string, e *Error) error {
	err := readEntry(v, field, "error", map[string]*string{
		"error": &e.Error, "status": &e.Status, "note": &e.Note, "source": &e.Source,
	})
	switch {
	case err != nil:
		return err
	case kind(v) != "a text":
		e.Status = status(e.Status)
	case !isNone(e.Error):
		e.Status = statusOpen
	}
	return nil
}

// readItem reads an item, which is an object or a string.
func readItem(v json.RawMessage, field string, it *Item) error {
	return readEntry(v, field, "text", map[string]*string{"text": &it.Text, "source": &it.Source})
}

// readEntry reads an object whose values are strings into the variables that the map into has by
// the names of the fields. The field that need names must be present. A string in place of the
// object is the value of that field.
func readEntry(v json.RawMessage, field, need string, into map[string]*string) error {
	if kind(v) == "a text" {
		return readText(v, field, into[need])
	}
	list, err := members(v, field)
	if err != nil {
		return err
	}
	found := false
	for _, m := range list {
		key := strings.ToLower(m.key)
		dst, known := into[key]
		if !known || isNull(m.value) {
			continue
		}
		if err := readText(m.value, field+"."+key, dst); err != nil {
			return err
		}
		found = found || key == need
	}
	if !found {
		return &SyntaxError{Field: field, Text: "the entry has no field " + need}
	}
	return nil
}

// readFiles reads an object with a field for each path, a list of objects with path and
// changes, or the string "None".
func readFiles(v json.RawMessage, field string, fs *Files) error {
	files := []File{}
	switch kind(v) {
	case "null":
		return nil
	case "an object":
		list, err := members(v, field)
		if err != nil {
			return err
		}
		for _, m := range list {
			f := File{Path: m.key}
			if err := readChanges(m.value, field+"."+m.key, &f); err != nil {
				return err
			}
			files = append(files, f)
		}
	default:
		if err := readList(v, field, &files, readFile); err != nil {
			return err
		}
	}
	*fs = unite(files)
	return nil
}

// readFile reads one entry of a list of files: a path, or an object with a path and changes.
func readFile(v json.RawMessage, field string, f *File) error {
	if kind(v) == "a text" {
		return readText(v, field, &f.Path)
	}
	list, err := members(v, field)
	if err != nil {
		return err
	}
	for _, m := range list {
		switch strings.ToLower(m.key) {
		case "path", "file":
			err = readText(m.value, field+".path", &f.Path)
		case "changes", "change":
			err = readChanges(m.value, field+".changes", f)
		}
		if err != nil {
			return err
		}
	}
	if f.Path == "" {
		return &SyntaxError{Field: field, Text: "the entry has no field path"}
	}
	return nil
}

func readChanges(v json.RawMessage, field string, f *File) error {
	if isNull(v) {
		return nil
	}
	if err := readList(v, field, &f.Changes, readItem); err != nil {
		return err
	}
	if len(f.Changes) == 0 {
		f.Changes = nil
	}
	return nil
}

// readList reads a list with the function read, or a single value as a list of one.
func readList[T any](v json.RawMessage, field string, into *[]T, read func(json.RawMessage, string, *T) error) error {
	if kind(v) != "a list" {
		var one T
		if err := read(v, field, &one); err != nil {
			return err
		}
		*into = []T{one}
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(v, &raw); err != nil {
		return syntax(v, field, err)
	}
	list := make([]T, len(raw))
	for i, r := range raw {
		if err := read(r, fmt.Sprintf("%s[%d]", field, i), &list[i]); err != nil {
			return err
		}
	}
	*into = list
	return nil
}

func readText(v json.RawMessage, field string, into *string) error {
	return readValue(v, field, "a text", into)
}

func readRatio(v json.RawMessage, field string, into *ratio.Ratio) error {
	r, err := ratio.Parse(strings.Trim(string(v), `"`))
	if err != nil {
		return wrongType(v, field, "a number such as 0.95")
	}
	*into = r
	return nil
}

// readValue reads a JSON string or number into the variable that into points to. The text in want
// names the expected type in the error.
func readValue(v json.RawMessage, field, want string, into any) error {
	if err := json.Unmarshal(v, into); err != nil || isNull(v) {
		return wrongType(v, field, want)
	}
	return nil
}

func wrongType(v json.RawMessage, field, want string) error {
	return &SyntaxError{Field: field, Text: kind(v) + " where " + want + " is expected"}
}

// A member is one field of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the fields of an object in their order. A repeated field is returned each time.
func members(v json.RawMessage, field string) ([]member, error) {
	if k := kind(v); k != "an object" {
		return nil, wrongType(v, field, "an object")
	}
	d := json.NewDecoder(bytes.NewReader(v))
	var list []member
	_, err := d.Token() // the opening brace
	for err == nil && d.More() {
		var key json.Token
		var m member
		if key, err = d.Token(); err == nil {
			m.key = fmt.Sprint(key)
			err = d.Decode(&m.value)
		}
		list = append(list, m)
	}
	if err == nil {
		_, err = d.Token() // the closing brace
	}
	if err != nil {
		return nil, syntax(v, field, err)
	}
	return list, nil
}

// syntax turns an error of the JSON decoder into a SyntaxError with its line.
func syntax(v []byte, field string, err error) *SyntaxError {
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		return e
	}
	e := &SyntaxError{Field: field, Text: err.Error()}
	ends := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if ends {
		e.Line = 1 + bytes.Count(v, []byte("\n"))
	}
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		e.Line = 1 + bytes.Count(v[:min(int(se.Offset), len(v))], []byte("\n"))
		ends = strings.HasPrefix(se.Error(), "unexpected end")
	}
	if ends {
		e.Text, e.Hint = "the JSON ends in the middle", "the reply may have been cut off"
	}
	return e
}

// kind names the type of a JSON value, for errors and for the choice of a reader.
func kind(v json.RawMessage) string {
	v = bytes.TrimLeft(v, " \t\r\n")
	if len(v) == 0 {
		return "nothing"
	}
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}

func isNull(v json.RawMessage) bool { return kind(v) == "null" }

// status returns the status that a word such as "fixed" or "pending" means, or "" if it means
// neither open nor resolved.
func status(word string) string {
	switch strings.ToLower(strings.Trim(word, " .*_()[]`")) {
	case "open", "unresolved", "pending", "ongoing", "investigating", "unfixed", "active", "in progress":
		return statusOpen
	case "resolved", "fixed", "solved", "done", "closed", "mended", "repaired":
		return statusResolved
	}
	return ""
}

// unite merges files with equal paths. The changes keep their order.
func unite(fs []File) Files {
	if fs == nil {
		return nil
	}
	at := make(map[string]int, len(fs))
	out := make(Files, 0, len(fs))
	for _, f := range fs {
		i, twice := at[f.Path]
		if !twice {
			at[f.Path] = len(out)
			out = append(out, File{f.Path, append([]Item(nil), f.Changes...)})
			continue
		}
		out[i].Changes = append(out[i].Changes, f.Changes...)
	}
	return out
}

// encode writes JSON without the escapes that HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
