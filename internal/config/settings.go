package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A key is a setting that there is.
type key struct {
	name           string // in files
	flag, variable string // or "", if only files set it
	read           func(literal) (any, error)
	builtIn        any    // nil if it depends on something
	otherwise      string // what it depends on
}

// defaultLast is what the engine takes for [carrel.Options.KeepLast].
const defaultLast = 5

// known are all settings, in the order in which they are shown.
var known = []key{
	{name: "store", flag: "--store", variable: "CARREL_STORE", read: readText, otherwise: "the user's"},
	{name: "scope", flag: "--scope", variable: "CARREL_SCOPE", read: readScope, builtIn: governance.DefaultScope},
	{name: "budget.window", read: readTokens, otherwise: "the model's"},
	{name: "budget.target", read: readTarget, otherwise: "half of the window"},
	{name: "keep.last", read: readLast, builtIn: defaultLast},
	{name: "retention.alpha", read: readRatio, builtIn: pager.DefaultWeights.Relevance},
	{name: "retention.beta", read: readRatio, builtIn: pager.DefaultWeights.Recency},
	{name: "retention.retain", read: readRatio, builtIn: pager.DefaultCuts.Retain},
	{name: "retention.evict", read: readRatio, builtIn: pager.DefaultCuts.Evict},
	{name: "output.color", flag: "--color", variable: "CARREL_COLOR", read: oneOf(ColorWords()...), builtIn: "auto"},
	{name: "output.progress", flag: "--progress", variable: "CARREL_PROGRESS", read: oneOf(ProgressWords()...), builtIn: "auto"},
}

// Keys returns the names of all settings.
func Keys() []string {
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].name
	}
	return names
}

// ColorWords returns what --color may be, the default first.
func ColorWords() []string { return []string{"auto", "always", "never"} }

// ProgressWords returns what --progress may be, the default first.
func ProgressWords() []string { return []string{"auto", "plain", "json", "none"} }

// A literal is a value as it is written. That of a flag or of a variable is a
// string.
type literal struct {
	kind unstable.Kind
	text string
}

func readText(l literal) (any, error) {
	if l.kind != unstable.String || l.text == "" {
		return nil, errors.New("wants a text in quotes")
	}
	return l.text, nil
}

func readScope(l literal) (any, error) {
	if _, err := readText(l); err != nil {
		return nil, err
	}
	return governance.ParseScope(l.text)
}

func oneOf(words ...string) func(literal) (any, error) {
	return func(l literal) (any, error) {
		if l.kind != unstable.String || !slices.Contains(words, l.text) {
			return nil, fmt.Errorf("%q is none of %s", l.text, strings.Join(words, ", "))
		}
		return l.text, nil
	}
}

// whole returns a whole number of at least low.
func (l literal) whole(low int64) (int64, bool) {
	n, err := strconv.ParseInt(l.text, 0, 64) // with separators, as TOML has them
	return n, err == nil && l.kind == unstable.Integer && n >= low && n <= 1e12
}

// ratio returns a number from 0 to 1, of its digits.
func (l literal) ratio() (ratio.Ratio, bool) {
	r, err := ratio.Parse(strings.ReplaceAll(l.text, "_", ""))
	return r, err == nil && r >= 0 && r <= ratio.One
}

func readTokens(l literal) (any, error) {
	n, ok := l.whole(1)
	if !ok {
		return nil, errors.New("wants a number of tokens, such as 200_000")
	}
	return token.Count(n), nil
}

// readTarget reads a number of tokens or a share. A whole number is tokens.
func readTarget(l literal) (any, error) {
	if n, ok := l.whole(1); ok {
		return token.Count(n), nil
	}
	if l.kind == unstable.Float || l.kind == unstable.String && strings.HasSuffix(l.text, "%") {
		if r, ok := l.ratio(); ok && r > 0 {
			return r, nil
		}
	}
	return nil, errors.New(`wants a number of tokens, such as 40_000, or a share of what was imported up to 1.0, such as 0.50 or "50%"`)
}

func readLast(l literal) (any, error) {
	n, ok := l.whole(0)
	if !ok {
		return nil, errors.New("wants a number of blocks, 0 for none")
	}
	return int(n), nil
}

func readRatio(l literal) (any, error) {
	if l.kind == unstable.Float || l.kind == unstable.Integer {
		if r, ok := l.ratio(); ok {
			return r, nil
		}
	}
	return nil, errors.New("wants a number from 0 to 1, such as 0.55")
}

// An Origin says where a value was set.
type Origin struct {
	Kind    string `json:"kind"`              // "flag", "environment", "file", "folder" or "built-in"
	Name    string `json:"name,omitempty"`    // of the flag or variable; path of the file or folder
	Line    int    `json:"line,omitempty"`    // in the file, from 1
	Profile string `json:"profile,omitempty"` // of the file, if it is in one
}

func (o Origin) String() string {
	switch {
	case o.Kind == "built-in":
		return o.Kind
	case o.Kind != "file":
		return o.Kind + " " + o.Name
	case o.Profile != "":
		return fmt.Sprintf("%s:%d, profile %s", o.Name, o.Line, o.Profile)
	}
	return fmt.Sprintf("%s:%d", o.Name, o.Line)
}

// A Value is a setting and where it comes from.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // nil if it depends on something
	Origin Origin `json:"origin"`

	otherwise string
}

// String returns the value, or in words what it depends on.
func (v *Value) String() string {
	switch x := v.Value.(type) {
	case nil:
		return v.otherwise
	case ratio.Ratio:
		return strings.TrimSuffix(strings.TrimRight(x.String(), "0"), ".")
	default:
		return fmt.Sprint(x)
	}
}

// fail returns an error about the place where a value was set.
func (v *Value) fail(err error) error {
	if v.Origin.Kind == "file" {
		return &FileError{File: v.Origin.Name, Line: v.Origin.Line, Key: v.Key, Err: err}
	}
	return &Error{cmp.Or(v.Origin.Name, v.Key), err}
}

// A File is a file in which settings are looked for.
type File struct {
	Kind  string `json:"kind"` // "named", "project" or "user"
	Path  string `json:"path"`
	Found bool   `json:"found"`

	origin string // flag or variable that named it
}

// Sources are where settings come from.
type Sources struct {
	Getenv  Getenv
	Dir     string            // working directory, absolute
	Flags   map[string]string // by name, such as "--store"; "" is not given
	NoFiles bool              // flags and the environment only
}

// given returns the value of a flag or else of a variable, and which.
func (s *Sources) given(flag, variable string) (value string, from Origin) {
	if v := s.Flags[flag]; v != "" {
		return v, Origin{Kind: "flag", Name: flag}
	}
	return s.Getenv(variable), Origin{Kind: "environment", Name: variable}
}

// path returns the path of what a flag or variable names.
func (s *Sources) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Dir, name)
}

// Files returns the files in which settings are looked for, the one that wins
// first. That of a project is among them only if there is a folder for it.
func Files(src *Sources) []File {
	var files []File
	add := func(kind, path, origin string) {
		fi, err := os.Stat(path)
		files = append(files, File{kind, path, err == nil && !fi.IsDir(), origin})
	}
	if named, from := src.given("--config", "CARREL_CONFIG"); named != "" {
		add("named", src.path(named), from.Name)
	}
	if dir := projectDir(src.Dir); dir != "" {
		add("project", filepath.Join(dir, "config.toml"), "")
	}
	if dir, err := configDir(src.Getenv); err == nil { // without a home there is none
		add("user", filepath.Join(dir, "carrel", "config.toml"), "")
	}
	return files
}

// Settings are what flags, the environment and files set, taken together.
type Settings struct {
	Profile  string   // that is in force
	Profiles []string // that there are
	Values   []Value  // of all keys, in the order of [Keys]

	storeErr error // why there is no place for the store
}

// Load finds out the settings. Its errors are [*Error] and [*FileError].
func Load(src *Sources) (*Settings, error) {
	s := &Settings{Profiles: []string{defaultProfile}}
	var files []source
	if !src.NoFiles {
		var err error
		if files, err = readFiles(src); err != nil {
			return nil, err
		}
		documents := make([]*document, 0, len(files))
		for _, f := range files {
			if f.document != nil {
				documents = append(documents, f.document)
			}
		}
		s.Profiles = profileNames(documents)
	}
	profile, from := src.given("--profile", "CARREL_PROFILE")
	if profile != "" && !src.NoFiles && !slices.Contains(s.Profiles, profile) {
		return nil, &Error{from.Name, fmt.Errorf("%q is none of %s", profile, strings.Join(s.Profiles, ", "))}
	}
	s.Profile = cmp.Or(profile, defaultProfile)
	for i := range known {
		v, err := s.find(src, files, &known[i])
		if err != nil {
			return nil, err
		}
		s.Values = append(s.Values, v)
	}
	return s, s.check()
}

// A source is a file that was read, or the folder of a project with none in
// it.
type source struct {
	*document // nil if there is no file

	dir string // of the project, or ""
}

func readFiles(src *Sources) ([]source, error) {
	var read []source
	for _, f := range Files(src) {
		d, err := readDocument(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.Kind != "named":
			d = nil
		case is[*FileError](err):
			return nil, err
		case err != nil && f.Kind == "named":
			return nil, &Error{f.origin, err}
		case err != nil:
			return nil, &FileError{File: f.Path, Err: err}
		}
		s := source{document: d}
		if f.Kind == "project" {
			s.dir = filepath.Dir(f.Path)
		}
		read = append(read, s)
	}
	return read, nil
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// find returns the value of a key.
func (s *Settings) find(src *Sources, files []source, k *key) (Value, error) {
	v := Value{Key: k.name, Value: k.builtIn, Origin: Origin{Kind: "built-in"}, otherwise: k.otherwise}
	if text, from := k.given(src); text != "" {
		read, err := k.read(literal{unstable.String, text})
		if err != nil {
			return v, &Error{from.Name, err}
		}
		if k.name == "store" {
			read = src.path(text)
		}
		v.Value, v.Origin = read, from
		return v, nil
	}
	for _, f := range files {
		if f.document != nil {
			if value, from, ok := f.lookup(k.name, s.Profile); ok {
				v.Value, v.Origin = value, from
				if k.name == "store" {
					var err error
					v.Value, err = beside(src.Getenv, f.path, value)
					return v, err
				}
				return v, nil
			}
		}
		if k.name == "store" && f.dir != "" {
			v.Value, v.Origin = filepath.Join(f.dir, fileName), Origin{Kind: "folder", Name: f.dir}
			return v, nil
		}
	}
	if k.name == "store" {
		data, err := dataDir(src.Getenv)
		if s.storeErr = err; err == nil {
			v.Value = filepath.Join(data, "carrel", fileName)
		}
	}
	return v, nil
}

// given returns what a flag or a variable says of a key. There are two more
// variables for colors, which all programs know.
func (k *key) given(src *Sources) (string, Origin) {
	if k.flag == "" {
		return "", Origin{}
	}
	text, from := src.given(k.flag, k.variable)
	if text != "" || k.name != "output.color" {
		return text, from
	}
	if src.Getenv("NO_COLOR") != "" {
		return "never", Origin{Kind: "environment", Name: "NO_COLOR"}
	}
	if v := src.Getenv("CLICOLOR_FORCE"); v != "" && v != "0" && v != "false" {
		return "always", Origin{Kind: "environment", Name: "CLICOLOR_FORCE"}
	}
	return "", from
}

// beside returns the path that a file names: "~" is the user's folder, and
// others are relative to the folder of the file.
func beside(env Getenv, file string, value any) (string, error) {
	name, _ := value.(string)
	if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "~/"); ok {
		h, err := home(env)
		return filepath.Join(h, rest), err
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Join(filepath.Dir(file), name), nil
}

// check says what makes no sense together.
func (s *Settings) check() error {
	alpha, beta := s.value("retention.alpha"), s.value("retention.beta")
	if alpha.Value == ratio.Ratio(0) && beta.Value == ratio.Ratio(0) {
		return alpha.fail(errors.New("is 0, and so is retention.beta: nothing is left to score by"))
	}
	retain, evict := s.value("retention.retain"), s.value("retention.evict")
	r, e := get[ratio.Ratio](s, retain.Key), get[ratio.Ratio](s, evict.Key)
	switch {
	case r == 0:
		return retain.fail(errors.New("is 0: every block would be retained"))
	case e > r && evict.Origin.Kind != "built-in":
		return evict.fail(fmt.Errorf("%v is above retention.retain, %v", evict, retain))
	case e > r:
		return retain.fail(fmt.Errorf("%v is below retention.evict, %v", retain, evict))
	}
	return nil
}

func (s *Settings) value(name string) *Value {
	return &s.Values[slices.IndexFunc(s.Values, func(v Value) bool { return v.Key == name })]
}

// get returns the value of a key, or the zero value if it has another type or
// none.
func get[T any](s *Settings, name string) T {
	v, _ := s.value(name).Value.(T)
	return v
}

// Store returns the path of the store.
func (s *Settings) Store() (string, error) { return get[string](s, "store"), s.storeErr }

// Scope returns the scope of conversations.
func (s *Settings) Scope() governance.Scope { return get[governance.Scope](s, "scope") }

// Color returns when there are colors, one of [ColorWords].
func (s *Settings) Color() string { return get[string](s, "output.color") }

// Progress returns the form of progress, one of [ProgressWords].
func (s *Settings) Progress() string { return get[string](s, "output.progress") }

// Window returns the context window in tokens, or 0 for that of the model.
func (s *Settings) Window() token.Count { return get[token.Count](s, "budget.window") }

// Engine puts what the settings say about the engine into its options.
func (s *Settings) Engine(o *carrel.Options) {
	o.Weights = pager.Weights{Relevance: get[ratio.Ratio](s, "retention.alpha"), Recency: get[ratio.Ratio](s, "retention.beta")}
	o.Cuts = pager.Cuts{Retain: get[ratio.Ratio](s, "retention.retain"), Evict: get[ratio.Ratio](s, "retention.evict")}
	if o.KeepLast = get[int](s, "keep.last"); o.KeepLast == 0 {
		o.KeepLast = -1 // 0 is the default there
	}
	o.Window = s.Window()
}

// Request fills in what a request leaves open.
func (s *Settings) Request(r *carrel.CompressRequest) {
	if r.Target == 0 && r.Share == 0 {
		r.Target, r.Share = get[token.Count](s, "budget.target"), get[ratio.Ratio](s, "budget.target")
	}
}
