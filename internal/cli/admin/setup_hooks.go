package admin

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A hookTable has the hooks of a client. Claude Code, Codex and others have the same form of
// settings: under "hooks" each event has a list of groups.
type hookTable struct {
	client string // as in "carrel hook CLIENT EVENT"
	events []hookEvent

	// limit is the client's timeout for a hook, in the client's unit. It is longer than a hook
	// takes, so that the client never kills one.
	limit int
}

// A hookEvent is an event that Carrel answers.
type hookEvent struct {
	name    string
	matcher string // tools that it applies to, or "" for all
	async   bool   // the client does not wait for it
}

// The form of hooks in the settings of a client.
type (
	hookGroup struct {
		Matcher string        `json:"matcher,omitempty"`
		Hooks   []hookCommand `json:"hooks"`
	}
	hookCommand struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Async   bool   `json:"async,omitempty"`
	}
)

// part returns the hooks as a part of a JSON file.
func (h *hookTable) part(program string) setupPart {
	return jsonPart(func(t *settingsText) error { return h.add(t, program) }, h.drop)
}

// group returns the entry that setup writes for an event.
func (h *hookTable) group(e *hookEvent, program string) hookGroup {
	if strings.ContainsAny(program, " \t'\"\\$`&;|()<>*?") {
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	return hookGroup{e.matcher, []hookCommand{{"command", program + h.suffix(e.name), h.limit, e.async}}}
}

// suffix returns the arguments behind the program in the command of an event.
func (h *hookTable) suffix(event string) string { return " hook " + h.client + " " + event }

// program returns the program that an entry runs, and whether setup wrote the entry.
func (h *hookTable) program(raw []byte, event string) (program string, ours bool) {
	var g hookGroup
	if json.Unmarshal(raw, &g) != nil || len(g.Hooks) != 1 {
		return "", false
	}
	program, found := strings.CutSuffix(g.Hooks[0].Command, h.suffix(event))
	if strings.HasPrefix(program, "'") {
		program = strings.ReplaceAll(strings.Trim(program, "'"), `'\''`, "'")
	}
	return program, found && ourProgram(program)
}

// ourProgram reports whether a program is Carrel, judged by its name.
func ourProgram(program string) bool {
	base := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return base == "carrel" || base == "carrel.exe"
}

// programs returns the programs of the hooks in settings that setup wrote, by event.
func (h *hookTable) programs(t *settingsText) (map[string]string, error) {
	found := make(map[string]string)
	plain := t.plain()
	for i := range h.events {
		event := h.events[i].name
		list, err := t.at("hooks", event)
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		for _, s := range list.items {
			if p, ours := h.program(s.Of(plain), event); ours {
				found[event] = p
			}
		}
	}
	return found, nil
}

// add adds the hooks to settings. It does not touch hooks that are already right.
func (h *hookTable) add(t *settingsText, program string) error {
	for i := range h.events { // check all events before changing anything
		list, err := t.at("hooks", h.events[i].name)
		if err != nil {
			return err
		}
		if list != nil && list.kind != rawjson.Array {
			return t.fail(list.span.Start, "hooks.%s is not a list, so setup cannot add to it: correct the file", h.events[i].name)
		}
	}
	for i := range slices.Backward(h.events) { // insert puts each first, so the last one inserted is first
		e := &h.events[i]
		there, err := h.has(t, e, program)
		if err == nil && !there {
			err = errors.Join(h.dropEvent(t, e.name), h.addEvent(t, e, program))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// has reports whether the hook of an event is in the settings as setup writes it.
func (h *hookTable) has(t *settingsText, e *hookEvent, program string) (bool, error) {
	want, err := json.Marshal(h.group(e, program))
	if err != nil {
		return false, err
	}
	list, err := t.at("hooks", e.name)
	if list == nil {
		return false, err
	}
	plain := t.plain()
	return slices.ContainsFunc(list.items, func(s rawjson.Span) bool { return sameJSON(s.Of(plain), want) }), nil
}

func (h *hookTable) addEvent(t *settingsText, e *hookEvent, program string) error {
	group := h.group(e, program)
	list, err := t.at("hooks", e.name)
	if err != nil {
		return err
	}
	if list != nil {
		return t.insert(list, 2, "", group)
	}
	if err := t.isObject(); err != nil {
		return err
	}
	return t.set([]string{"hooks"}, e.name, []hookGroup{group})
}

// drop removes the hooks from settings, and lists that are then empty.
func (h *hookTable) drop(t *settingsText) error {
	for i := range h.events {
		if err := h.dropEvent(t, h.events[i].name); err != nil {
			return err
		}
	}
	return nil
}

func (h *hookTable) dropEvent(t *settingsText, event string) error {
	list, err := t.at("hooks", event)
	if list == nil {
		return err
	}
	plain := t.plain()
	ours := func(s rawjson.Span) bool { _, is := h.program(s.Of(plain), event); return is }
	if !slices.ContainsFunc(list.items, ours) {
		return nil
	}
	if !t.cut(list, func(i int) bool { return ours(list.items[i]) }) {
		return nil
	}
	return t.cutMember([]string{"hooks"}, event)
}
