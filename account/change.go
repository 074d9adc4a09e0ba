package account

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// parsed returns the arguments of a call.
func parsed(c transcript.ToolCall) gjson.Result { return gjson.ParseBytes(c.Input) }

// mostSaid is the limit of lines up to which hunks shows a wholly new text as
// added lines. A longer text is shown as the content of a file.
const mostSaid = 12

// edit adds the units of a call that changes files: a line with the names of
// the files and, if the call failed, the failure; and then the lines that
// differ.
func (r *reader) edit(c transcript.ToolCall, in gjson.Result, res transcript.ToolResult) {
	changes := changesOf(c, in)
	words := []string{bullet + c.Name}
	for i := range changes {
		ch := &changes[i]
		if p := r.short(ch.path); i == 0 || p != r.short(changes[i-1].path) {
			words = append(words, p)
		}
		switch {
		case ch.from != "":
			words = append(words, "(from "+r.short(ch.from)+")")
		case ch.gone && ch.path != tool.Path(c):
			words = append(words, "(deleted)")
		}
	}
	if len(changes) == 0 {
		words = append(words, r.short(tool.Path(c)))
	}
	if strings.Contains(text.Head(res.Text(), mostCommand), "overwritten") {
		words = append(words, "(overwritten)")
	}
	line := strings.TrimRight(strings.Join(words, " "), " ")
	head := r.add(Unit{Kind: Edit, Head: -1, Text: text.Clip(line, mostUnit) + r.failure(c, res), Failed: res.Error})
	if res.Error {
		return // nothing has changed
	}
	for i := range changes {
		ch := &changes[i]
		if ch.whole {
			ch.old = r.versions[r.short(ch.path)].text()
		}
		r.hunks(ch, head)
		r.note(ch)
	}
}

// A change is a replacement of a part of a file or of a whole file, or its end.
type change struct {
	path, old, now string
	whole          bool
	gone           bool   // the file was deleted
	from           string // the file's path before, if it was moved
}

// A version is the text of a file when it was last read or written whole, and
// the changes since.
type version struct {
	read    string // as the tool returned it, perhaps with line numbers
	written bool   // read is the text of a change, without line numbers
	since   []change
}

// text returns the file with its changes, or "" if the text is unknown.
func (v *version) text() string {
	s, known := v.changed()
	if !known {
		return ""
	}
	return s
}

// changed returns the file with those of its changes that apply, and whether all do.
func (v *version) changed() (s string, all bool) {
	if v == nil {
		return "", false
	}
	s, all = withoutNumbers(v.read, !v.written && numbers(v.read)), true
	for i := range v.since {
		all = all && strings.Contains(s, v.since[i].old)
		s = strings.ReplaceAll(s, v.since[i].old, v.since[i].now)
	}
	return s, all
}

// note records a change of a file.
func (r *reader) note(ch *change) {
	name, from := r.short(ch.path), r.short(ch.from)
	if v := r.versions[from]; ch.from != "" && v != nil {
		delete(r.versions, from)
		r.versions[name] = v
	}
	switch v := r.versions[name]; {
	case ch.gone:
		delete(r.versions, name)
	case ch.whole:
		r.versions[name] = &version{read: ch.now, written: true}
	case v == nil || ch.old == "" && ch.now == "":
	case ch.old == "" || len(v.since) == mostSince:
		delete(r.versions, name)
	default:
		v.since = append(v.since, *ch)
	}
}

// mostSince bounds how many changes are applied to a version.
const mostSince = 50

// changesOf returns the changes of a call.
func changesOf(c transcript.ToolCall, in gjson.Result) []change {
	var all []change
	patches := func(s string) bool {
		for _, p := range shell.Patches(s) {
			all = append(all, change{path: p.Path, old: p.Old, now: p.New, gone: p.Act == shell.Delete, from: p.From})
		}
		return len(all) > 0
	}
	if !in.IsObject() {
		patches(in.String())
		return all
	}
	for _, key := range [...]string{"input", "patch", "diff", "patchText"} {
		if v := in.Get(key); v.Type == gjson.String && patches(v.Str) {
			return all
		}
	}
	if found := shell.Replacements(in.Get("diff").Str); len(found) > 0 {
		for _, p := range found {
			all = append(all, change{path: tool.Path(c), old: p.Old, now: p.New})
		}
		return all
	}
	if ch, ok := moved(c, in); ok {
		return []change{ch}
	}
	edits := in.Get("edits").Array()
	if len(edits) == 0 {
		edits = []gjson.Result{in}
	}
	for _, e := range edits {
		ch := change{
			path: tool.Path(c),
			old:  field(e, "old_string", "old_str", "search", "old_text", "oldText", "old_content", "oldString"),
			now: field(e, "new_string", "new_str", "replace", "new_text", "newText", "new_content", "newString", "replacement",
				"new_source", "insert_text", "text", "code"),
		}
		if ch.now == "" && ch.old == "" {
			for _, key := range [...]string{"content", "contents", "file_text"} {
				if v := e.Get(key); v.Type == gjson.String && !ch.whole {
					ch.now, ch.whole = v.Str, !strings.HasPrefix(tool.Fold(c.Name), "insert")
				}
			}
		}
		if ch.old != "" || ch.now != "" || ch.whole {
			all = append(all, ch)
		}
	}
	return all
}

// moved returns the change of a call whose tool deletes or moves a file, by its name.
func moved(c transcript.ToolCall, in gjson.Result) (change, bool) {
	name := tool.Fold(c.Name)
	switch {
	case strings.HasPrefix(name, "delete") || strings.HasPrefix(name, "remove"):
		return change{path: tool.Path(c), gone: true}, tool.Path(c) != ""
	case strings.HasPrefix(name, "move") || strings.HasPrefix(name, "rename"):
		ch := change{path: field(in, "destination", "to", "new_path", "newPath", "target"), from: field(in, "source", "from", "old_path", "oldPath")}
		return ch, ch.path != "" && ch.from != ""
	}
	return change{}, false
}

// field returns the first of the named fields that is a nonempty text.
func field(in gjson.Result, keys ...string) string {
	for _, k := range keys {
		if v := in.Get(k); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// hunks adds units for the lines that a change removes and adds: removed lines
// below a minus, added lines below a plus. The unit with the index head is the
// head of these units.
func (r *reader) hunks(ch *change, head int32) {
	old, now := linesOf(ch.old), linesOf(ch.now)
	differ := differences(old, now)
	lines := 0
	for _, h := range differ {
		lines += len(h.old) + len(h.now)
	}
	if (ch.whole || len(old) == 0) && len(now) > mostSaid && lines >= len(now) {
		r.file(Written, ch.path, ch.now, r.add(Unit{Kind: Sign, Head: head, Text: "+"}))
		return
	}
	for _, h := range differ {
		r.side("-", h.old, Change, size(ch.now), head)
		r.side("+", h.now, Change, size(ch.now), head)
	}
}

func (r *reader) side(sign string, lines []string, kind Kind, of int32, head int32) {
	at := int32(-1)
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) < leastOutput || noise(l) {
			continue
		}
		if at < 0 {
			at = r.add(Unit{Kind: Sign, Head: head, Text: sign})
		}
		r.add(Unit{Kind: kind, Head: at, Text: text.Clip(l, mostUnit), Size: of, Removed: sign == "-"})
	}
}

func linesOf(s string) []string {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// A hunk is a run of lines that differ.
type hunk struct{ old, now []string }

// mostCompared bounds the pairs of lines that are compared. In larger texts
// only equal lines at both ends are recognized.
const mostCompared = 1 << 18

// differences returns the runs of lines outside of a longest common
// subsequence.
func differences(old, now []string) []hunk {
	old, now = withoutEnds(old, now)
	if len(old) == 0 && len(now) == 0 {
		return nil
	}
	if len(old)*len(now) > mostCompared {
		return []hunk{{old, now}}
	}
	common := commonBehind(old, now)
	var all []hunk
	for i, k := 0, 0; i < len(old) || k < len(now); {
		from, to := i, k
		for i < len(old) || k < len(now) {
			if i < len(old) && k < len(now) && old[i] == now[k] {
				break
			}
			if k == len(now) || i < len(old) && common[i+1][k] >= common[i][k+1] {
				i++
			} else {
				k++
			}
		}
		all = append(all, hunk{old[from:i], now[to:k]})
		for i < len(old) && k < len(now) && old[i] == now[k] {
			i++
			k++
		}
	}
	return all
}

// withoutEnds returns two lists without their common prefix and suffix.
func withoutEnds(old, now []string) (was, is []string) {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return old, now
}

// commonBehind returns for each pair of indexes i, k the length of the
// longest common subsequence of old[i:] and now[k:].
func commonBehind(old, now []string) [][]int32 {
	common := make([][]int32, len(old)+1)
	for i := range common {
		common[i] = make([]int32, len(now)+1)
	}
	for i, was := range slices.Backward(old) {
		for k, is := range slices.Backward(now) {
			if common[i][k] = max(common[i+1][k], common[i][k+1]); was == is {
				common[i][k] = common[i+1][k+1] + 1
			}
		}
	}
	return common
}
