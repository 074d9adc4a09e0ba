package opencode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Validate implements [transcript.Format]. It checks the file that opencode import is given,
// by the rules in the comment of the package.
func (f format) Validate(data []byte) ([]transcript.Violation, error) {
	d, err := read("", data)
	if err != nil {
		return nil, err
	}
	c := &checker{document: d, seen: make(map[string]bool)}
	c.at = -1
	c.need(d.info, "info", session)
	c.names("info", d.info.text(data, "id"), "ses")
	for i := range d.msgs {
		c.at = i
		c.message(&d.msgs[i])
	}
	return c.conversation(), nil
}

// A checker collects the violations of a document.
type checker struct {
	*document

	at    int // index of the message that is checked
	seen  map[string]bool
	found []transcript.Violation
}

func (c *checker) report(rule, field, format string, args ...any) {
	c.found = append(c.found, transcript.Violation{Rule: rule, Message: c.at, Field: field, Text: fmt.Sprintf(format, args...)})
}

// A form maps the required members of an object to their kinds. A name with a dot is a member
// of a nested object.
type form map[string]rawjson.Kind

var (
	tokens  = form{"tokens.input": '0', "tokens.output": '0', "tokens.reasoning": '0', "tokens.cache.read": '0', "tokens.cache.write": '0', "cost": '0'}
	session = form{"id": '"', "slug": '"', "projectID": '"', "directory": '"', "title": '"', "version": '"', "time.created": '0', "time.updated": '0'}
	forms   = lazy.Value[map[string]form]{Make: makeForms}
	states  = lazy.Value[map[string]form]{Make: makeStates}
)

// makeForms returns the required members of messages, whose keys are the roles, and of parts, whose
// keys are the types.
func makeForms() map[string]form {
	return map[string]form{
		"user":        {"id": '"', "sessionID": '"', "time.created": '0', "agent": '"', "model.providerID": '"', "model.modelID": '"'},
		"assistant":   {"id": '"', "sessionID": '"', "time.created": '0', "parentID": '"', "modelID": '"', "providerID": '"', "mode": '"', "agent": '"', "path.cwd": '"', "path.root": '"'},
		"text":        {"text": '"'},
		"reasoning":   {"text": '"', "time.start": '0'},
		"file":        {"mime": '"', "url": '"'},
		"tool":        {"callID": '"', "tool": '"', "state.status": '"', "state.input": '{'},
		"agent":       {"name": '"'},
		"compaction":  {},
		"subtask":     {"prompt": '"', "description": '"', "agent": '"'},
		"retry":       {"attempt": '0', "error": '{', "time.created": '0'},
		"step-start":  {},
		"step-finish": {"reason": '"'},
		"snapshot":    {"snapshot": '"'},
		"patch":       {"hash": '"', "files": '['},
	}
}

// makeStates returns the required members of the states of calls.
func makeStates() map[string]form {
	return map[string]form{
		"pending":   {"raw": '"'},
		"running":   {"time.start": '0'},
		"completed": {"output": '"', "title": '"', "metadata": '{', "time.start": '0', "time.end": '0'},
		"error":     {"error": '"', "time.start": '0', "time.end": '0'},
	}
}

// need reports the required members that an object lacks (rule N0).
func (c *checker) need(o object, field string, f form) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		at, v := o, value{}
		for path := strings.Split(name, "."); len(path) > 0; path = path[1:] {
			if v = at[path[0]]; len(path) > 1 {
				at = at.in(c.Data, path[0])
			}
		}
		if v.kind != f[name] {
			c.report("N0", field+"."+name, "%s is missing or of another type", name)
		}
	}
}

// names checks the prefix of an id (rule N1).
func (c *checker) names(field, id, prefix string) {
	if !strings.HasPrefix(id, prefix) {
		c.report("N1", field+".id", "id %q does not begin with %s", id, prefix)
	}
}

// once checks that an id occurs once (rule N2).
func (c *checker) once(field, id string) {
	if c.seen[id] {
		c.report("N2", field+".id", "id %s stands twice", id)
	}
	c.seen[id] = true
}

func (c *checker) message(m *message) {
	field := fmt.Sprintf("messages.%d", c.at)
	c.need(m.info, field+".info", forms.Get()[m.role])
	if m.role == "assistant" {
		c.need(m.info, field+".info", tokens)
	}
	c.names(field+".info", m.id, "msg")
	c.once(field+".info", m.id)
	if c.at > 0 {
		before := &c.msgs[c.at-1]
		if cmp.Or(cmp.Compare(before.created, m.created), cmp.Compare(before.id, m.id)) > 0 {
			c.report("N3", field+".info.time.created", "the message is older than the one before it")
		}
	}
	for k := range m.parts {
		p := &m.parts[k]
		at := fmt.Sprintf("%s.parts.%d", field, k)
		f, known := forms.Get()[p.kind]
		switch {
		case !known:
			c.report("N0", at+".type", "a part of type %q is not known", p.kind)
		case p.kind == "step-finish":
			c.need(p.object, at, tokens)
		case p.kind == "compaction" && p.object["auto"].kind != rawjson.True && p.object["auto"].kind != rawjson.False:
			c.report("N0", at+".auto", "auto is missing or of another type")
		case p.kind == "tool":
			if state, known := states.Get()[p.state.text(c.Data, "status")]; known {
				c.need(p.state, at+".state", state)
			} else {
				c.report("N0", at+".state.status", "the status is not known")
			}
		}
		c.need(p.object, at, f)
		c.need(p.object, at, form{"id": '"', "sessionID": '"', "messageID": '"'})
		c.names(at, p.id, "prt")
		c.once(at, p.id)
		if k > 0 && m.parts[k-1].id > p.id {
			c.report("N3", at+".id", "the id is smaller than that of the part before it")
		}
	}
}

// conversation checks the messages that OpenCode sends (rules X7 and A16).
func (c *checker) conversation() []transcript.Violation {
	v := &viewer{document: c.document, items: make([]int, len(c.msgs))}
	live, _, _ := v.conversation()
	called := make(map[string]bool)
	for i := range live {
		c.at = live[i].at
		field := fmt.Sprintf("messages.%d", c.at)
		if i == 0 && live[i].Role != transcript.RoleUser {
			c.report("X7", field, "the first message is of role %s, not user", live[i].Role)
		}
		for _, call := range live[i].Calls() {
			if called[call.ID] {
				c.report("A16", field, "tool call id %s is used twice", call.ID)
			}
			called[call.ID] = true
		}
	}
	return c.found
}
