package account

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
)

// fields adds the values of a JSON document, one or more lines for each object
// with the path of the object. The first line, which likely names the object,
// is the head of the others. The lines begin with the path at. Below mostNested
// levels an object is a value, as its JSON. It returns the index of the last
// unit that it added, or the given last if it added none.
func (r *reader) fields(u Unit, doc gjson.Result, at string, last, level int) int {
	line, above := "", u.Head
	flush := func() {
		if line == "" {
			return
		}
		u.Text, u.First = indent+strings.TrimPrefix(at+": ", ": ")+line, last < 0
		last = int(r.add(u))
		if line = ""; doc.IsObject() && u.Head == above {
			u.Head = int32(last)
		}
	}
	n := 0
	doc.ForEach(func(key, v gjson.Result) bool {
		name := key.Str
		if doc.IsArray() {
			name = "[" + strconv.Itoa(n) + "]"
			n++
		}
		if level < mostNested && (v.IsObject() || v.IsArray() && len(v.Raw) > mostArgument) {
			flush()
			below := at + name
			if at != "" && doc.IsObject() {
				below = at + "." + name
			}
			inner := u
			inner.Head = above
			last = r.fields(inner, v, below, last, level+1)
			return true
		}
		if v.Raw == "null" || v.Raw == `""` || v.Raw == "[]" {
			return true // empty
		}
		said := text.Clip(text.Fold(v.String()), mostUnit)
		if doc.IsObject() {
			said = name + ": " + said
		}
		if len(line)+len(said) > mostFields {
			flush()
		}
		if line != "" {
			line += ", "
		}
		line += said
		return true
	})
	flush()
	return last
}

// The shortest line that is read as JSON, the size of a unit of it, and the
// levels of objects that become paths.
const (
	leastJSON  = 160
	mostFields = 140
	mostNested = 32
)
