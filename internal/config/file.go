package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A FileError says where a settings file is invalid.
type FileError struct {
	File   string
	Line   int    // from 1; 0 means the whole file
	Column int    // from 1
	Key    string // such as "budget.window", or ""
	Err    error
	Hint   string // the next step, or ""
}

func (e *FileError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Column > 0 {
		text += fmt.Sprintf(":%d", e.Column)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// errUnknown means that no setting has this name.
var errUnknown = errors.New("unknown key")

// The table that contains the tables of profiles, and the profile that always exists and changes
// nothing.
const (
	profileTable   = "profile"
	defaultProfile = "default"
)

// A document is the content of a settings file.
type document struct {
	path     string
	base     entries
	profiles map[string]entries
}

// entries are values by key.
type entries map[string]entry

type entry struct {
	value any // as returned by the key's reader
	line  int
	key   *key
}

// readDocument reads a file.
func readDocument(path string) (*document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// parse parses a settings file. The decoder checks the TOML syntax; the syntax tree gives the
// digits of numbers and the positions of keys.
func parse(path string, data []byte) (*document, error) {
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		return nil, syntaxError(path, data, err)
	}
	d := &document{path: path, base: make(entries), profiles: make(map[string]entries)}
	r := &reader{document: d}
	r.Reset(data)
	var table []string
	for r.NextExpression() {
		e := r.Expression()
		keys := keysOf(e)
		var err error
		if e.Kind == unstable.KeyValue {
			err = r.set(table, e)
		} else {
			table = keys
			err = r.enter(table, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, r.Error()
}

func syntaxError(path string, data []byte, err error) error {
	e := &FileError{File: path, Err: errors.New(strings.TrimPrefix(err.Error(), "toml: "))}
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		e.Line, e.Column = d.Position()
		e.Key = dotted(d.Key())
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		e.Err = errors.New("the settings are not TOML; they look like JSON")
	}
	return e
}

// A reader converts the syntax tree to a document.
type reader struct {
	unstable.Parser
	*document
}

// keysOf returns the parts of the key of a table or value.
func keysOf(n *unstable.Node) []string {
	var keys []string
	for it := n.Key(); it.Next(); {
		keys = append(keys, string(it.Node().Data))
	}
	return keys
}

// dotted joins the parts of a key with dots, and quotes them where needed.
func dotted(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		if quoted[i] = p; p == "" || strings.ContainsAny(p, ". ") {
			quoted[i] = strconv.Quote(p)
		}
	}
	return strings.Join(quoted, ".")
}

// fail returns an error at the position of the key of a table or value.
func (r *reader) fail(path []string, n *unstable.Node, err error) error {
	it := n.Key()
	it.Next()
	at := r.Shape(it.Node().Raw).Start
	e := &FileError{File: r.path, Line: at.Line, Column: at.Column, Key: dotted(path), Err: err}
	if errors.Is(err, errUnknown) {
		e.Hint = near(path)
	}
	return e
}

// near returns a hint for a key that does not exist: the keys of its table, or else those of other
// tables that have the same last word, or else the tables.
func near(path []string) string {
	if len(path) > 2 && path[0] == profileTable {
		path = path[2:]
	}
	var table, same, first []string
	for _, name := range fileKeys() {
		words := strings.Split(name, ".")
		switch {
		case len(path) > 1 && words[0] == path[0]:
			table = append(table, name)
		case words[len(words)-1] == path[len(path)-1]:
			same = append(same, name)
		}
		if !slices.Contains(first, words[0]) {
			first = append(first, words[0])
		}
	}
	switch {
	case len(table) > 0:
		return "the keys of this table are " + strings.Join(table, ", ")
	case len(same) > 0:
		return "did you mean " + strings.Join(same, " or ") + "?"
	}
	return "settings begin with " + strings.Join(first, ", ") + ": carrel help config"
}

// section splits a path into the entries that it belongs to and the key within them. It creates a
// profile that is named for the first time.
func (r *reader) section(path []string) (entries, []string) {
	if path[0] != profileTable || len(path) < 2 {
		return r.base, path
	}
	name := path[1]
	if r.profiles[name] == nil {
		r.profiles[name] = make(entries)
	}
	return r.profiles[name], path[2:]
}

// isTable reports whether settings exist below path.
func isTable(path []string) bool {
	if path[0] == profileTable {
		if len(path) <= 2 {
			return true
		}
		path = path[2:]
		if path[0] == profileTable {
			return false
		}
	}
	return slices.ContainsFunc(known, func(k key) bool {
		parts := strings.Split(k.name, ".")
		return len(parts) > len(path) && fits(parts[:len(path)], path)
	})
}

// fits reports whether a path of keys matches a known key.
func fits(parts, path []string) bool {
	return slices.EqualFunc(parts, path, func(p, s string) bool {
		return p == s || p == "*" && s != "" && !strings.ContainsAny(s, "/*")
	})
}

// keyAt returns the known key of a path, or nil.
func keyAt(path []string) *key {
	at := slices.IndexFunc(known, func(k key) bool {
		return fits(strings.Split(k.name, "."), path) || k.alias != "" && fits(strings.Split(k.alias, "."), path)
	})
	if at < 0 {
		return nil
	}
	return &known[at]
}

// enter checks the header of a table.
func (r *reader) enter(path []string, n *unstable.Node) error {
	switch {
	case !isTable(path):
		return r.fail(path, n, errUnknown)
	case n.Kind == unstable.ArrayTable:
		return r.fail(path, n, errors.New("is one table, not a list: write [...]"))
	case len(path) > 1 && path[0] == profileTable && path[1] == defaultProfile:
		return r.fail(path, n, errors.New("is the built-in profile: give the profile another name"))
	}
	r.section(path)
	return nil
}

// set reads a value, or the values of an inline table.
func (r *reader) set(table []string, n *unstable.Node) error {
	path := slices.Concat(table, keysOf(n))
	value := n.Value()
	if isTable(path) {
		if value.Kind != unstable.InlineTable {
			return r.fail(path, n, errors.New("is a table of keys, not a value"))
		}
		if err := r.enter(path, n); err != nil {
			return err
		}
		for it := value.Children(); it.Next(); {
			if err := r.set(path, it.Node()); err != nil {
				return err
			}
		}
		return nil
	}
	if len(path) > 2 && path[0] == profileTable {
		if err := r.enter(path[:2], n); err != nil {
			return err
		}
	}
	section, name := r.section(path)
	k := keyAt(name)
	switch {
	case k == nil:
		return r.fail(path, n, errUnknown)
	case k.secret:
		return r.fail(path, n, fmt.Errorf("is a secret, which no settings hold: set %s, or name a file with it in %s_file", k.variable, k.name))
	}
	v, err := k.read(newLiteral(value))
	if err != nil {
		return r.fail(path, n, err)
	}
	full := k.name
	if strings.Contains(full, "*") {
		full = dotted(name)
	}
	if _, ok := section[full]; ok {
		return r.fail(path, n, fmt.Errorf("is %s, which is set already", full))
	}
	it := n.Key()
	it.Next()
	section[full] = entry{v, r.Shape(it.Node().Raw).Start.Line, k}
	return nil
}

// lookup returns the value of a key in a file. A value in the profile has precedence over one
// outside of profiles.
func (d *document) lookup(name, profile string) (any, Origin, bool) {
	if e, ok := d.profiles[profile][name]; ok {
		return e.value, Origin{Kind: "file", Name: d.path, Line: e.line, Profile: profile}, true
	}
	e, ok := d.base[name]
	return e.value, Origin{Kind: "file", Name: d.path, Line: e.line}, ok
}

// profileNames returns the names of the profiles in files, after that of the default profile.
func profileNames(documents []*document) []string {
	names := make(map[string]bool)
	for _, d := range documents {
		for name := range d.profiles {
			names[name] = true
		}
	}
	return append([]string{defaultProfile}, slices.Sorted(maps.Keys(names))...)
}
