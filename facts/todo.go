package facts

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// todos is the state of the task list of a conversation.
type todos struct {
	list   []entry
	block  int    // the block that changed the list last
	callID string // the call that changed the list last, if a tool keeps it
	tool   bool   // a tool keeps the list; otherwise it is a check list in a reply
}

type entry struct {
	id     string
	text   string
	status FactStatus
}

// call reads call c of block i, which may change the list, and reports whether it is a call
// of a task list. name is the folded name of the tool.
func (t *todos) call(i int, name string, c transcript.ToolCall, result string) bool {
	in := gjson.ParseBytes(c.Input)
	switch name {
	case "taskcreate":
		id := ""
		if _, rest, ok := strings.Cut(result, "#"); ok {
			id = rest[:text.Digits(rest)]
		}
		t.set(i, c.ID)
		t.list = append(t.list, entry{id, text.Line(membersOf(in).text("subject", "title", "description"), lineRunes), StatusPending})
		return true
	case "taskupdate":
		id := in.Get("taskId").String()
		for k := range t.list {
			if e := &t.list[k]; e.id == id && id != "" {
				t.set(i, c.ID)
				if s := in.Get("status").String(); s == "deleted" {
					t.list = append(t.list[:k], t.list[k+1:]...)
				} else if s != "" {
					e.status = todoStatus(s)
				}
				break
			}
		}
		return true
	}
	if !strings.Contains(name, "todo") && !strings.Contains(name, "plan") {
		return false
	}
	for _, key := range [...]string{"todos", "plan", "todo_list", "items"} {
		v := in.Get(key)
		switch {
		case v.IsArray():
			var list []entry
			for _, e := range v.Array() {
				said := membersOf(e).text("content", "step", "text", "title", "subject", "task", "description")
				if said == "" && e.Type == gjson.String {
					said = e.Str
				}
				if said != "" {
					status := e.Get("status").String() + e.Get("state").String()
					if e.Get("completed").Bool() || e.Get("done").Bool() {
						status = "done"
					}
					list = append(list, entry{"", text.Line(said, lineRunes), todoStatus(status)})
				}
			}
			if len(list) > 0 || key != "items" && len(v.Array()) == 0 {
				t.set(i, c.ID)
				t.list = list
				return true
			}
		case v.Type == gjson.String && strings.Contains(name, "todo"):
			if list := boxes(sentences(v.Str)); len(list) > 0 {
				t.set(i, c.ID)
				t.list = list
				return true
			}
		}
	}
	return false
}

// set records that a tool keeps the task list, and drops a check list that came from a reply.
func (t *todos) set(i int, call string) {
	if !t.tool {
		t.list = nil
	}
	t.tool, t.block, t.callID = true, i, call
}

// prose makes the check list in a reply the task list, unless a tool keeps the task list.
func (t *todos) prose(i int, list []sentence) {
	if found := boxes(list); !t.tool && len(found) > 0 {
		t.list, t.block = found, i
	}
}

// boxes returns the entries of a check list in sentences.
func boxes(list []sentence) []entry {
	var out []entry
	for _, s := range list {
		switch s.box {
		case ' ':
			out = append(out, entry{"", text.Line(s.text, lineRunes), StatusPending})
		case 'x':
			out = append(out, entry{"", text.Line(s.text, lineRunes), StatusCompleted})
		case '-' | 0x20, '~' | 0x20:
			out = append(out, entry{"", text.Line(s.text, lineRunes), StatusActive})
		}
	}
	return out
}

func todoStatus(s string) FactStatus {
	switch strings.ToLower(s) {
	case "completed", "done", "complete", "x":
		return StatusCompleted
	case "in_progress", "active", "in progress", "in-progress", "doing":
		return StatusActive
	}
	return StatusPending
}

func (t *todos) emit(x *extractor) {
	for _, e := range t.list {
		if e.text != "" {
			x.add(Fact{Kind: FactTodo, Status: e.status, Role: transcript.RoleAssistant, Block: t.block, CallID: t.callID, Subject: e.text, Text: e.text})
		}
	}
}
