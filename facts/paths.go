package facts

import (
	"bytes"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// paths maps the paths in a conversation, absolute or relative, to names of files, so that
// two paths of the same file have one name.
type paths struct {
	project string
	names   map[string]string   // cleaned path → name of the file
	byBase  map[string][]string // last segment → names of files
}

// clean returns a path in the form of path.Clean, and a path inside the project relative to
// the project.
func (p *paths) clean(name string) string {
	if name == "" {
		return ""
	}
	if strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, '\\') > 0 {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	name = path.Clean(name)
	if p.project == "" || name == p.project {
		return strings.TrimPrefix(name, p.project)
	}
	return strings.TrimPrefix(name, p.project+"/")
}

// of returns the name of the file at a path: the first path by which the conversation
// mentions the file.
func (p *paths) of(name string) string {
	name = p.clean(name)
	if known, ok := p.names[name]; ok {
		return known
	}
	if p.names == nil {
		p.names, p.byBase = make(map[string]string), make(map[string][]string)
	}
	base := path.Base(name)
	file := name
	if p.project == "" {
		if same, ok := p.alias(name, base); ok {
			file = same
		}
	}
	p.names[name] = file
	if file == name && len(p.byBase[base]) < maxWatched {
		p.byBase[base] = append(p.byBase[base], name)
	}
	return file
}

// alias returns the known name of a file if name is another path of the same file: one path
// is absolute, the other is relative with a slash, and the first ends in the second. It
// returns false if no known name or more than one fits. base is the last segment of name.
func (p *paths) alias(name, base string) (string, bool) {
	var found []string
	for _, other := range p.byBase[base] {
		long, short := name, other
		if !path.IsAbs(long) {
			long, short = other, name
		}
		if path.IsAbs(long) && !path.IsAbs(short) && strings.IndexByte(short, '/') > 0 && strings.HasSuffix(long, "/"+short) {
			found = append(found, other)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// An extent is a range of lines of a file, counted from 1, with both ends included. The
// zero extent is an unknown part.
type extent struct{ from, to int }

// maxLine bounds the numbers of lines that calls ask for.
const maxLine = 1 << 29

// allLines is the extent of a whole file.
var allLines = extent{1, math.MaxInt}

// covers reports whether the extent e includes the extent other, which must be known.
func (e extent) covers(other extent) bool {
	return other.to > 0 && e.from <= other.from && e.to >= other.to
}

// extentOf returns the part of a file that a call reads, by its arguments.
func extentOf(c transcript.ToolCall) extent {
	in := gjson.ParseBytes(c.Input)
	number := func(keys ...string) int {
		for _, k := range keys {
			if v := in.Get(k); v.Exists() {
				return int(max(min(v.Int(), maxLine), 0))
			}
		}
		return 0
	}
	e := allLines
	if lines := in.Get("view_range").Array(); len(lines) == 2 {
		e.from = int(max(min(lines[0].Int(), maxLine), 1))
		if to := lines[1].Int(); to > 0 {
			e.to = int(min(to, maxLine))
		}
		return e
	}
	e.from = max(number("offset", "start_line", "startLine", "start_line_one_indexed", "line_start", "from_line", "start"), 1)
	if to := number("end_line", "endLine", "end_line_one_indexed_inclusive", "line_end", "to_line", "end"); to > 0 {
		e.to = to
	} else if n := number("limit", "lines", "max_lines", "num_lines"); n > 0 {
		e.to = e.from + n - 1
	}
	if in.Get("pages").Exists() || in.Get("cell_id").Exists() {
		return extent{}
	}
	return e
}

// A writing is the effect of a call on a file, without a description.
type writing struct {
	path   string
	status FactStatus
	whole  bool // the call replaced the whole content
}

// writings returns the files that a call of an editing tool writes.
func writings(c transcript.ToolCall) []writing {
	all := gjson.ParseBytes(c.Input)
	in := membersOf(all)
	var found []shell.Patch
	switch {
	case !isJSON(c.Input):
		found = shell.Patches(string(c.Input))
	case all.Type == gjson.String:
		found = shell.Patches(all.Str)
	default:
		for _, key := range patchKeys {
			if found = shell.Patches(in.get(key).String()); len(found) > 0 {
				break
			}
		}
	}
	if len(found) > 0 {
		return ofPatches(found)
	}
	name, p := tool.Fold(c.Name), tool.Path(c)
	switch command := in.get("command").String(); {
	case p == "":
		return nil
	case strings.HasPrefix(name, "delete"):
		return []writing{{p, StatusDeleted, true}}
	case strings.HasPrefix(name, "move"), strings.HasPrefix(name, "rename"):
		if to := in.text(targetKeys...); to != "" {
			return []writing{{p, StatusDeleted, true}, {to, statusMoved, true}}
		}
		return nil
	case command == "undo_edit", command == "insert", strings.HasPrefix(name, "insert"), name == "notebookedit",
		in.get("edits").IsArray(), in.text(replacedKeys...) != "", len(shell.Replacements(in.get("diff").String())) > 0:
		return []writing{{p, StatusModified, false}}
	}
	return []writing{{p, StatusCreated, true}}
}

func ofPatches(list []shell.Patch) []writing {
	var out []writing
	for _, p := range list {
		if p.From != "" {
			out = append(out, writing{p.From, StatusDeleted, true})
		}
		out = append(out, writing{p.Path, statusOf(p.Act), p.Act != shell.Edit})
	}
	return slices.Clip(out)
}

// isJSON reports whether arguments begin like JSON. The arguments of some tools are a
// patch or a program.
func isJSON(input []byte) bool {
	input = bytes.TrimLeft(input, " \t\r\n")
	return len(input) > 0 && (input[0] == '{' || input[0] == '[' || input[0] == '"')
}

// members are the fields of an object in JSON, read once.
type members []member

type member struct {
	key   string
	value gjson.Result
}

func membersOf(in gjson.Result) members {
	var m members
	if in.IsObject() {
		in.ForEach(func(k, v gjson.Result) bool {
			m = append(m, member{k.Str, v})
			return true
		})
	}
	return m
}

func (m members) get(key string) gjson.Result {
	for i := range m {
		if m[i].key == key {
			return m[i].value
		}
	}
	return gjson.Result{}
}

// text returns the value of the first of the keys that is a string and not empty, or "".
func (m members) text(keys ...string) string {
	for _, k := range keys {
		if v := m.get(k); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}
