package admin

import (
	"encoding/json"
	"slices"
)

// A serverEntry is Carrel's MCP server in JSON settings of a client.
type serverEntry struct {
	under string // key of the client's servers

	// value returns the entry for a program.
	value func(program string) any

	// program returns the program of an entry, and whether setup wrote the entry.
	program func(raw []byte) (program string, ours bool)
}

// serverName is the name of the server in the settings of every client.
const serverName = "carrel"

// part returns the server as a part of a JSON file.
func (e *serverEntry) part(program string) setupPart {
	return jsonPart(func(t *settingsText) error { return e.add(t, program) }, e.drop)
}

// add adds the server to settings. If setup has written an entry before, it keeps the members that
// others have added to the entry.
func (e *serverEntry) add(t *settingsText, program string) error {
	server := e.value(program)
	want, err := json.Marshal(server)
	if err != nil {
		return err
	}
	there, err := t.at(e.under, serverName)
	if err != nil {
		return err
	}
	if there != nil {
		raw := there.span.Of(t.plain())
		if covers(raw, want) {
			return nil
		}
		if _, ours := e.program(raw); !ours {
			return t.fail(there.span.Start, "%s.%s is there already, and is not this program: rename or remove that server", e.under, serverName)
		}
		return t.setMembers([]string{e.under, serverName}, want)
	}
	if err := t.isObject(); err != nil {
		return err
	}
	return t.set([]string{e.under}, serverName, server)
}

// stdioProgram is the function program of clients whose entries have the command and its arguments
// apart.
func stdioProgram(raw []byte) (program string, ours bool) {
	var s struct {
		Command string
		Args    []string
	}
	ours = json.Unmarshal(raw, &s) == nil && ourProgram(s.Command) && slices.Equal(s.Args, []string{"mcp"})
	return s.Command, ours
}

// drop removes the server from settings.
func (e *serverEntry) drop(t *settingsText) error {
	_, ours, err := e.find(t)
	if !ours {
		return err
	}
	return t.cutMember([]string{e.under}, serverName)
}

// find returns the program of the server in settings, and whether setup wrote the entry.
func (e *serverEntry) find(t *settingsText) (program string, ours bool, err error) {
	there, err := t.at(e.under, serverName)
	if there == nil {
		return "", false, err
	}
	program, ours = e.program(there.span.Of(t.plain()))
	return program, ours, nil
}
