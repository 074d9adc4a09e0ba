package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A settingsText is a JSON file of another program. It is edited by replacing spans, so that
// every other byte stays the same. Comments and trailing commas are allowed.
type settingsText struct {
	name string
	data []byte
}

// plain returns the text as strict JSON of the same length, with blanks in place of comments and
// trailing commas. If the text is invalid, plain returns it unchanged, and the strict parser
// reports the error.
func (t *settingsText) plain() []byte {
	plain, err := hujson.Standardize(slices.Clone(t.data))
	if err != nil {
		return t.data
	}
	return plain
}

func lineEnd(s []byte) int {
	if i := bytes.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// fail returns an error with the line at an offset in the text.
func (t *settingsText) fail(offset int, format string, args ...any) error {
	return &transcript.SyntaxError{Name: t.name, Line: transcript.LineOf(t.data, offset), Text: fmt.Sprintf(format, args...)}
}

// A node is a value in the text.
type node struct {
	kind    rawjson.Kind
	span    rawjson.Span
	members []rawjson.Member // of an object
	items   []rawjson.Span   // of an array
}

// at returns the value at a path of keys, or nil if there is none. It fails if a value on the way
// is not an object.
func (t *settingsText) at(path ...string) (*node, error) {
	plain := t.plain()
	n, err := t.read(plain, rawjson.Span{Start: 0, End: len(plain)})
	if err != nil {
		return nil, err
	}
	for i, key := range path {
		if n.kind != rawjson.Object {
			return nil, t.fail(n.span.Start, "%s is not an object, so setup cannot add to it: correct the file", placeOf(path[:i]))
		}
		k := slices.IndexFunc(n.members, func(m rawjson.Member) bool { return m.Key == key })
		if k < 0 {
			return nil, nil
		}
		if n, err = t.read(plain, n.members[k].Value); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// placeOf returns a path of keys as text for an error.
func placeOf(path []string) string {
	if len(path) == 0 {
		return "the content of the file"
	}
	return strings.Join(path, ".")
}

// read parses the value in a span of the text.
func (t *settingsText) read(plain []byte, part rawjson.Span) (*node, error) {
	r := rawjson.NewReader(part.Of(plain))
	n := &node{kind: r.Kind()}
	var err error
	start := r.Offset()
	switch n.kind {
	case rawjson.Object:
		n.members, err = r.Members()
	case rawjson.Array:
		n.items, err = r.Elements()
	case rawjson.None, rawjson.String, rawjson.Number, rawjson.True, rawjson.False, rawjson.Null:
		_, err = r.Skip()
	}
	n.span = rawjson.Span{Start: start + part.Start, End: r.Position() + part.Start}
	if err == nil {
		err = r.End()
	}
	if e, ok := errors.AsType[*rawjson.Error](err); ok {
		return nil, t.fail(e.Offset+part.Start, "%s", e.Text)
	}
	for i := range n.members {
		n.members[i].Whole = shift(n.members[i].Whole, part.Start)
		n.members[i].Value = shift(n.members[i].Value, part.Start)
	}
	for i := range n.items {
		n.items[i] = shift(n.items[i], part.Start)
	}
	return n, err
}

func shift(s rawjson.Span, by int) rawjson.Span {
	return rawjson.Span{Start: s.Start + by, End: s.End + by}
}

// splice replaces a span by text.
func (t *settingsText) splice(part rawjson.Span, text string) {
	t.data = slices.Concat(t.data[:part.Start], []byte(text), t.data[part.End:])
}

// unit returns the indentation that the text uses for one level.
func (t *settingsText) unit() string {
	at := bytes.IndexByte(t.data, '{')
	for _, line := range bytes.Split(t.data[max(at, 0):], []byte("\n"))[1:] {
		if body := bytes.TrimLeft(line, " \t"); len(body) > 0 && len(body) < len(line) {
			return string(line[:len(line)-len(body)])
		}
	}
	return "  "
}

// insert puts a value, with a key if key is not "", before all other elements of an object or
// array. In a file of the usual layout this only adds lines.
func (t *settingsText) insert(into *node, depth int, key string, value any) error {
	unit := t.unit()
	inner := "\n" + strings.Repeat(unit, depth+1)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(inner[1:], unit)
	if err := enc.Encode(value); err != nil {
		return err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if key != "" {
		text = string(rawjson.AppendString(nil, key)) + ": " + text
	}
	switch rest := t.data[into.span.Start+1:]; {
	case len(into.members)+len(into.items) > 0:
		text += ","
	case bytes.IndexByte(rest, '\n') < 0 || len(bytes.TrimSpace(rest[:lineEnd(rest)])) > 0:
		text += "\n" + strings.Repeat(unit, depth)
	}
	at := into.span.Start + 1
	t.splice(rawjson.Span{Start: at, End: at}, inner+text)
	return nil
}

// cut removes the elements of an array, or the members of an object, for whose index the function
// drop returns true. It reports whether none is left.
func (t *settingsText) cut(from *node, drop func(i int) bool) (empty bool) {
	list := from.items
	for i := range from.members {
		list = append(list, from.members[i].Whole)
	}
	left := 0
	for i := range list {
		if !drop(i) {
			left++
		}
	}
	plain := t.plain()
	for _, c := range slices.Backward(rawjson.Remove(list, drop)) {
		for _, part := range slices.Backward(t.leaveComments(plain, list, c)) {
			t.splice(part, "")
		}
	}
	if left == 0 {
		t.dropComma(from.span.Start)
	}
	return left == 0
}

// dropComma removes the trailing comma of an object or array that has become empty and starts at an
// offset: a comma alone is not valid there.
func (t *settingsText) dropComma(start int) {
	if _, err := hujson.Parse(t.data); err == nil {
		return
	}
	for at := start; at < len(t.data); at++ {
		if t.data[at] != ',' {
			continue
		}
		without := slices.Concat(t.data[:at], t.data[at+1:])
		if _, err := hujson.Parse(without); err == nil {
			t.data = without
			return
		}
	}
}

// leaveComments splits a span to cut, so that comments between the removed and the remaining
// elements stay.
func (t *settingsText) leaveComments(plain []byte, list []rawjson.Span, cut rawjson.Span) []rawjson.Span {
	first := slices.IndexFunc(list, func(s rawjson.Span) bool { return s.Start >= cut.Start })
	comment := func(i int) bool { return t.data[i] != plain[i] }
	if head := list[first].Start; head > cut.Start { // no element follows
		for at := head - 1; at > cut.Start; at-- {
			if !comment(at) {
				continue
			}
			comma := cut.Start + bytes.IndexByte(plain[cut.Start:head], ',')
			if comma > at {
				return []rawjson.Span{{Start: t.afterComment(at, comma, cut.End), End: cut.End}}
			}
			return []rawjson.Span{{Start: comma, End: comma + 1}, {Start: t.afterComment(at, head, cut.End), End: cut.End}}
		}
	}
	end := cut.Start
	for _, s := range list {
		if s.End <= cut.End {
			end = s.End
		}
	}
	comma := end + bytes.IndexByte(plain[end:cut.End], ',')
	for at := end; at < cut.End; at++ {
		switch {
		case comment(at) && comma < at:
			return []rawjson.Span{{Start: cut.Start, End: at}}
		case comment(at):
			return []rawjson.Span{{Start: cut.Start, End: end}, {Start: comma, End: comma + 1}}
		}
	}
	return []rawjson.Span{cut}
}

// afterComment returns the start of a cut from the last byte of a comment, at, to end. It keeps the
// line end in front of the offset limit if otherwise the comment would swallow what follows the cut.
func (t *settingsText) afterComment(at, limit, end int) int {
	n := lineEnd(t.data[at+1 : limit])
	behind := t.data[end:]
	if n == limit-at-1 || len(bytes.TrimSpace(behind[:lineEnd(behind)])) == 0 {
		return at + 1
	}
	return at + 1 + n + 1
}

// isObject fails if the text is not a JSON object.
func (t *settingsText) isObject() error {
	root, err := t.at()
	if err == nil && root.kind != rawjson.Object {
		return t.fail(root.span.Start, "the settings are not a JSON object: correct the file")
	}
	return err
}

// cutMember removes a member from an object, and the object itself if it is then empty.
func (t *settingsText) cutMember(path []string, key string) error {
	n, err := t.at(path...)
	if err != nil {
		return err
	}
	empty := t.cut(n, func(i int) bool { return n.members[i].Key == key })
	if !empty || len(path) == 0 {
		return nil
	}
	return t.cutMember(path[:len(path)-1], path[len(path)-1])
}

// sameJSON reports whether two values are equal as JSON.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// covers reports whether object a has all members of object b, with equal values. A client that
// rewrites its settings may add members.
func covers(a, b []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	for k, v := range y {
		if have, ok := x[k]; !ok || !reflect.DeepEqual(have, v) {
			return false
		}
	}
	return true
}

// setMembers gives the object at a path the members of another object, whose JSON is want. It does
// not touch members that are equal, nor others.
func (t *settingsText) setMembers(path []string, want []byte) error {
	members, err := rawjson.NewReader(want).Members()
	if err != nil {
		return err // unreachable: want was just encoded
	}
	for _, m := range members {
		value := m.Value.Of(want)
		n, err := t.at(slices.Concat(path, []string{m.Key})...)
		switch {
		case err != nil:
			return err
		case n == nil:
			if err := t.set(path, m.Key, json.RawMessage(value)); err != nil {
				return err
			}
		case !sameJSON(n.span.Of(t.plain()), value):
			t.splice(n.span, string(value))
		}
	}
	return nil
}

// set sets a key of the object at a path, before all other keys. It creates missing objects on
// the path.
func (t *settingsText) set(dir []string, key string, value any) error {
	depth := len(dir)
	n, err := t.at(dir...)
	for err == nil && n == nil {
		depth--
		value, key = map[string]any{key: value}, dir[depth]
		n, err = t.at(dir[:depth]...)
	}
	switch {
	case err != nil:
		return err
	case n.kind != rawjson.Object:
		return t.fail(n.span.Start, "%s is not an object, so setup cannot add to it: correct the file", placeOf(dir[:depth]))
	}
	return t.insert(n, depth, key, value)
}
