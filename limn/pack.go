package limn

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync" //nolint:depguard // for tables that are made once
	"time"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A Pack adds to the language: nouns, which are reserved while it is loaded,
// verbs, and live names with values from outside. Make one with [LoadPack].
//
// A [Machine] does not read Sequence, Interval, Path and Limit. The caller makes the updates for
// [Machine.Listen] from them; Sources in package adapter does so for all types of packs.
type Pack struct {
	Name         string // by default the type
	Version      string // or empty
	Type         PackType
	Nouns        []string
	Declarations []PackName // live names

	Sequence []LiveValue   // updates of a pack of type "test"
	Interval time.Duration // between the ticks of a timer
	Path     string        // file or directory that a file-watcher watches
	Limit    int           // most events of a timer or a file-watcher; 0 is no limit

	verbs []*packVerb
}

// A PackType is the source of the values of a pack's live names.
type PackType string

// The types of packs.
const (
	PackTest        PackType = "test"         // Pack.Sequence
	PackTimer       PackType = "timer"        // the name "tick" counts intervals
	PackStdin       PackType = "stdin"        // the name "line" has the last input line
	PackFileWatcher PackType = "file-watcher" // see [PackNames]
)

// PackNames returns the live names that a type of pack updates. Those of a
// file-watcher are the text of the last file that was created or modified, which
// is empty if it could not be read; the name of the last changed file, without
// its folder; and the event: created, modified or deleted.
func PackNames(t PackType) []PackName {
	switch t {
	case PackTimer:
		return []PackName{{"tick", "number"}}
	case PackStdin:
		return []PackName{{"line", "string"}}
	case PackFileWatcher:
		return []PackName{{"file-content", "string"}, {"changed-file", "string"}, {"change-type", "string"}}
	case PackTest:
	}
	return nil
}

// A PackName is a live name and the type of its values: "number", "string",
// "date", "record", "list", or a typed list such as "list_of_strings".
type PackName struct {
	Name, Type string
}

// holds reports whether v has the declared type. An empty list has every list type.
func (n PackName) holds(v Value) bool {
	if v.kindOf() == kindList && v.len() == 0 {
		return strings.HasPrefix(n.Type, string(kindList))
	}
	return n.Type == string(v.kindOf()) || n.Type == v.typeName()
}

// A packVerb is a verb of a pack.
type packVerb struct {
	Pack      string
	Word      string
	Slots     []packSlot // the first may be positional
	Execution execution
}

// slot returns the index of the slot with a name, or -1.
func (v *packVerb) slot(name string) int {
	return slices.IndexFunc(v.Slots, func(s packSlot) bool { return s.Name == name })
}

// A packSlot is a place for a value or a name in a statement of a pack verb.
type packSlot struct {
	Name       string
	Connective string // the word before it; empty for the positional slot
	Required   bool
	IsName     bool   // the slot takes the name of an existing value instead of a value
	Constraint string // descriptor that the named value must have, or empty
}

// An execution defines the effect of a pack verb: a type and its parameters.
type execution struct {
	Type   string            // one of eight, see [LoadPack]
	Params map[string]string // parameters by name
}

//go:embed packs/*.json
var packFiles embed.FS

// BuiltinPacks returns the names of the built-in packs.
func BuiltinPacks() []string { return []string{"session", "research"} }

// BuiltinPack returns a built-in pack: "session", whose verbs compare claims
// with sources, or "research", whose verbs compare claims with releases and
// windows. It fails for other names.
func BuiltinPack(name string) (*Pack, error) {
	load, ok := builtin.Get()[name]
	if !ok {
		return nil, fmt.Errorf("no such pack: %q", name)
	}
	return load()
}

// builtin has, for the name of each built-in pack, a function that returns the pack. The function
// loads it once, when it is first called.
var builtin = lazy.Value[map[string]func() (*Pack, error)]{Make: func() map[string]func() (*Pack, error) {
	return map[string]func() (*Pack, error){
		"session":  sync.OnceValues(func() (*Pack, error) { return readPack("session") }),
		"research": sync.OnceValues(func() (*Pack, error) { return readPack("research") }),
	}
}}

func readPack(name string) (*Pack, error) {
	data, err := packFiles.ReadFile(path.Join("packs", name+".json"))
	if err != nil {
		return nil, err
	}
	return LoadPack(data)
}

// A packClash is an [ErrPack] about two packs, each of which is one.
type packClash struct{ text string }

func (e *packClash) Error() string { return e.text }
func (e *packClash) Unwrap() error { return ErrPack }

// CheckPacks returns an error if two packs declare the same word or the same
// live name.
func CheckPacks(packs []*Pack) error {
	owners := make(map[string]int)
	for i, p := range packs {
		for _, w := range p.words() {
			if owner, taken := owners[w]; taken && owner != i {
				return &packClash{fmt.Sprintf("the packs %q and %q both define %q: load only one of them", packs[owner].Name, p.Name, w)}
			}
			owners[w] = i
		}
	}
	return nil
}

// words returns the nouns, the verbs and then the live names of a pack.
func (p *Pack) words() []string {
	words := slices.Clone(p.Nouns)
	for _, v := range p.verbs {
		words = append(words, v.Word)
	}
	for _, d := range p.Declarations {
		words = append(words, d.Name)
	}
	return words
}
