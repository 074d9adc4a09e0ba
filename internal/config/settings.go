package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact/origin"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/acme"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/triage"
)

// A key describes a setting.
type key struct {
	name           string // name in files; "*" stands for a name that the user chooses
	alias          string // another spelling of the name, or ""
	flag, variable string // "" if only files can set it
	read           func(literal) (any, error)
	builtIn        any    // default value; nil if it depends on something
	otherwise      string // describes what the default depends on

	secret bool // no file may contain it
	own    bool // a project's file must not set it, because the user may not have written that file
	place  bool // one or more paths; relative ones start in the project's folder
}

// defaultLast is the engine's default of [carrel.Options.KeepLast].
const defaultLast = 5

// defaultTimeout is the default timeout of sources and embedders.
const defaultTimeout = Duration(30 * time.Second)

// known are all settings, in the order in which they are printed.
var known = slices.Concat([]key{
	{name: "store", flag: "--store", variable: "CARREL_STORE", read: readStore, otherwise: "the user's"},
	{name: "scope", flag: "--scope", variable: "CARREL_SCOPE", read: readScope, builtIn: governance.DefaultScope},
	{name: "budget.window", read: readTokens, otherwise: "the model's"},
	{name: "budget.target", read: readTarget, otherwise: "half of the window"},
	{name: "budget.effective", variable: "CARREL_EFFECTIVE_CONTEXT", read: readEffective, otherwise: "80% of the window"},
	{name: "budget.floor", read: readTokens, otherwise: "30000, or 30% of the window"},
	{name: "budget.warn", read: readConfidence, builtIn: triggers.Warn},
	{name: "budget.compress", read: readConfidence, builtIn: triggers.Compress},
	{name: "budget.critical", read: readConfidence, builtIn: triggers.Critical},
	{name: "keep.last", read: readLast, builtIn: defaultLast},
	{name: "retention.alpha", read: readRatio, builtIn: pager.DefaultWeights.Relevance},
	{name: "retention.beta", read: readRatio, builtIn: pager.DefaultWeights.Recency},
	{name: "retention.retain", read: readRatio, builtIn: pager.DefaultCuts.Retain},
	{name: "retention.evict", read: readRatio, builtIn: pager.DefaultCuts.Evict},
	{name: toolClass, read: oneOf(classWords()...)},
	{name: priceInput, read: readRate},
	{name: priceOutput, read: readRate},
	{name: priceRead, read: readRate},
	{name: priceWrite5m, read: readRate},
	{name: priceWrite1h, read: readRate},
	{name: "compress.strategy", read: oneOf(StrategyWords()...), builtIn: string(carrel.StrategyAccount)},
	{name: "probes.accept", read: readRatio, builtIn: probe.DefaultPolicy().Overall},
	{name: "tiers.full", read: readEdge, builtIn: percents(tier.DefaultLadder.Summarized)},
	{name: "tiers.summarized", alias: "tiers.summarised", read: readEdge, builtIn: percents(tier.DefaultLadder.Core)},
	{name: "tiers.core", read: readEdge, builtIn: percents(tier.DefaultLadder.Minimal)},
	{name: "assemble.page", read: readCount, builtIn: carrel.DefaultPage},
	{name: "gate.confidence", read: readConfidence, builtIn: assembly.DefaultThreshold},
	{name: "redact.personal", read: readSwitch, builtIn: false, own: true},
}, triageKeys(), []key{
	{name: origin.SettingFiles, read: readList(`["docs"]`, anything), builtIn: []string{}, place: true},
	{name: origin.SettingHosts, read: readList(`["docs.example.org"]`, anything), builtIn: []string{}, own: true},
	{name: origin.SettingPrivate, read: readSwitch, builtIn: false, own: true},
	{name: origin.SettingAllow, read: readPrefixes, builtIn: []netip.Prefix{}, own: true},
	{name: origin.SettingLimit, read: readSize(1), builtIn: Size(origin.DefaultLimit)},
	{name: "sources.timeout", read: readDuration, builtIn: defaultTimeout},
	{name: mcpCommand, read: readCommand, own: true},
	{name: mcpURL, read: readURL, own: true},
	{name: "embed.url", read: readURL, builtIn: "", own: true},
	{name: "embed.model", read: readMaybe, builtIn: ""},
	{name: "embed.key", variable: "CARREL_EMBED_KEY", read: readSecret, otherwise: "none", secret: true},
	{name: "embed.key_file", read: readMaybe, builtIn: "", own: true, place: true},
	{name: "embed.dimensions", read: readCount, otherwise: "the model's"},
	{name: "embed.timeout", read: readDuration, builtIn: defaultTimeout},
	{name: "embed.batch", read: readCount, builtIn: 32},
	{name: "embed.static", read: readMaybe, builtIn: "", place: true},
	{name: "generate.api", read: oneOf(apiOpenAI, apiAnthropic), builtIn: apiOpenAI, own: true},
	{name: "generate.url", read: readURL, builtIn: "", own: true},
	{name: "generate.model", read: readMaybe, builtIn: "", own: true},
	{name: "generate.key", variable: "CARREL_GENERATE_KEY", read: readSecret, otherwise: "none", secret: true},
	{name: "generate.key_file", read: readMaybe, builtIn: "", own: true, place: true},
	{name: "generate.timeout", read: readDuration, builtIn: Duration(5 * time.Minute), own: true},
	{name: "generate.retries", read: readRetries, builtIn: 2, own: true},
	{name: "generate.max_tokens", read: readCount, builtIn: llm.DefaultReply, own: true},
	{name: "generate.window", read: readTokens, otherwise: "8192", own: true},
	{name: "generate.ceiling", read: readCeiling, builtIn: token.Count(0), own: true},
	{name: "generate.calls", read: readCount, builtIn: llm.DefaultCalls, own: true},
	{name: "server.listen", variable: "CARREL_LISTEN", read: readAddress, builtIn: "127.0.0.1:7717", own: true},
	{name: "server.remote", read: readSwitch, builtIn: false, own: true},
	{name: "server.hosts", read: readList(`["carrel.example.org"]`, anything), builtIn: []string{}, own: true},
	{name: "server.origins", read: readList(`["https://carrel.example.org"]`, anything), builtIn: []string{}, own: true},
	{name: "server.tls_cert", variable: "CARREL_TLS_CERT", read: readMaybe, builtIn: "", own: true, place: true},
	{name: "server.tls_key", variable: "CARREL_TLS_KEY", read: readMaybe, builtIn: "", own: true, place: true},
	{name: serverACME + "hosts", read: readList(`["carrel.example.org"]`, anything), builtIn: []string{}, own: true},
	{name: serverACME + "directory", read: readURL, builtIn: acme.LetsEncrypt, own: true},
	{name: serverACME + "email", read: readMaybe, builtIn: "", own: true},
	{name: serverACME + "folder", read: readMaybe, otherwise: "acme in Carrel's folder for data", own: true, place: true},
	{name: "server.grace", read: readDuration, builtIn: Duration(20 * time.Second), own: true},
	{name: serverLimits + auth.LimitCredentialRate, read: readBound, builtIn: doorLimits.CredentialRate, own: true},
	{name: serverLimits + auth.LimitCredentialRequests, read: readCount, builtIn: doorLimits.PerCredential, own: true},
	{name: serverLimits + auth.LimitAddressRate, read: readBound, builtIn: doorLimits.AddressRate, own: true},
	{name: serverLimits + auth.LimitAddressRequests, read: readCount, builtIn: doorLimits.PerAddress, own: true},
	{name: serverLimits + "large_jobs", read: readCount, otherwise: "one less than the processors", own: true},
	{name: "server.readers", read: readCount, builtIn: sqlite.DefaultReaders, own: true},
	{name: "telemetry.otlp", variable: "CARREL_OTLP", read: readURL, builtIn: "", own: true},
	{name: "hook.large", read: readSize(1024), builtIn: Size(hook.DefaultLarge)},
	{name: "hook.pointer", read: readTokensFrom(carrel.LeastStashTokens), builtIn: carrel.StashTokens},
	{name: "hook.brief", read: readTokensFrom(carrel.LeastBriefTokens), builtIn: carrel.BriefTokens},
	{name: "hook.memory", read: readMemory, builtIn: token.Count(0)},
	{name: "hook.limit", read: readDuration, builtIn: Duration(hook.DefaultLimit)},
	{name: "hook.secrets", read: readSwitch, builtIn: false, own: true},
	{name: credentialKeyFile, variable: "CARREL_CREDENTIAL_KEY_FILE", read: readMaybe, otherwise: "beside the store", own: true, place: true},
}, proxyKeys(), blobKeys(), []key{
	{name: "resident.bytes", read: readSize(0), builtIn: Size(256 << 20)},
	{name: "offline", flag: "--offline", variable: "CARREL_OFFLINE", read: readSwitch, builtIn: false},
	{name: "output.color", flag: "--color", variable: "CARREL_COLOR", read: oneOf(ColorWords()...), builtIn: "auto"},
	{name: "output.progress", flag: "--progress", variable: "CARREL_PROGRESS", read: oneOf(ProgressWords()...), builtIn: "auto"},
})

// triggers has the default thresholds of passes.
var triggers = (*pager.Trigger)(nil).Complete()

// doorLimits has the default limits of a server by credential and address.
var doorLimits = auth.DefaultDoorLimits()

// credentialKeyFile is the setting for the key file of credentials.
const credentialKeyFile = "credential.key_file"

// toolClass is the setting for the class of a tool. A project's file may set it, because it only
// changes which blocks rules keep.
const toolClass = "tools.*"

// classWords returns the classes of tools.
func classWords() []string {
	words := make([]string, 0, len(tool.Classes()))
	for _, c := range tool.Classes() {
		words = append(words, string(c))
	}
	return words
}

// The interfaces of servers of generators.
const (
	apiOpenAI    = "openai"
	apiAnthropic = "anthropic"
)

// The settings of each MCP server.
const (
	mcpCommand = origin.SettingMCP + ".*.command"
	mcpURL     = origin.SettingMCP + ".*.url"
)

// triageKeys returns the settings of triage, including those of each class.
func triageKeys() []key {
	p := triage.DefaultPolicy()
	keys := []key{
		{name: "triage.admit", read: readCount, builtIn: p.Admit},
		{name: "triage.deep", read: readCount, builtIn: p.Deep},
		{name: "triage.trust", read: readRatio, builtIn: p.Trust},
		{name: "triage.red", read: readRatio, builtIn: p.Red},
		{name: "triage.yellow", read: readRatio, builtIn: p.Yellow},
		{name: "triage.floor", read: readRatio, builtIn: p.Floor},
		{name: "triage.curve", read: oneOf(string(triage.CurveHalfLife), string(triage.CurveLog)), builtIn: string(p.Curve)},
	}
	for _, c := range provenance.Classes() {
		keys = append(keys, key{name: "triage.half_life." + string(c), read: readDuration, builtIn: Duration(p.Classes[c].HalfLife)})
	}
	for _, c := range provenance.Classes() {
		r := p.Classes[c]
		keys = append(keys, key{name: "triage.weights." + string(c), read: readShares, builtIn: shares{r.Recency, r.Provenance, r.Semantic}})
	}
	return keys
}

// percents returns n percent as a ratio.
func percents(n int) ratio.Ratio { return ratio.Ratio(n) * percent }

// fileKeys returns the names of the settings that files may contain.
func fileKeys() []string {
	var names []string
	for i := range known {
		if !known[i].secret {
			names = append(names, known[i].name)
		}
	}
	return names
}

// ColorWords returns the values of --color, the default first.
func ColorWords() []string { return []string{"auto", "always", "never"} }

// ProgressWords returns the values of --progress, the default first.
func ProgressWords() []string { return []string{"auto", "plain", "json", "none"} }

// An Origin is the source of a value.
type Origin struct {
	Kind    string `json:"kind"`              // "flag", "environment", "file", "folder" or "built-in"
	Name    string `json:"name,omitempty"`    // name of the flag or variable; path of the file or folder
	Line    int    `json:"line,omitempty"`    // in the file, from 1
	Profile string `json:"profile,omitempty"` // profile in the file, or ""
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

// A Value is a setting with its value and origin.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // nil if the default depends on something
	Origin Origin `json:"origin"`

	key       *key
	otherwise string
}

// String returns the value, or a description of the default.
func (v *Value) String() string {
	switch x := v.Value.(type) {
	case nil:
		return v.otherwise
	case ratio.Ratio:
		return plain(x)
	case string:
		return cmp.Or(x, "none")
	case []string:
		return cmp.Or(strings.Join(x, ", "), "none")
	case []netip.Prefix:
		return cmp.Or(strings.Trim(fmt.Sprint(x), "[]"), "none")
	default:
		return fmt.Sprint(x)
	}
}

// fail returns an error about the origin of a value.
func (v *Value) fail(err error) error {
	if v.Origin.Kind == "file" {
		return &FileError{File: v.Origin.Name, Line: v.Origin.Line, Key: v.Key, Err: err}
	}
	return &Error{cmp.Or(v.Origin.Name, v.Key), err}
}

// A File is a path at which a settings file may be.
type File struct {
	Kind  string `json:"kind"` // "named", "project" or "user"
	Path  string `json:"path"`
	Found bool   `json:"found"`

	origin string // flag or variable that named it
}

// Sources are the sources of settings.
type Sources struct {
	Getenv  Getenv
	Dir     string            // working directory, absolute
	Flags   map[string]string // by name, such as "--store"; "" means not given
	NoFiles bool              // use only flags and the environment
}

// given returns the value of a flag, or else of a variable, and its origin.
func (s *Sources) given(flag, variable string) (value string, from Origin) {
	if v := s.Flags[flag]; v != "" {
		return v, Origin{Kind: "flag", Name: flag}
	}
	return s.Getenv(variable), Origin{Kind: "environment", Name: variable}
}

// path returns the absolute path of a name in a flag or variable.
func (s *Sources) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Dir, name)
}

// Files returns the paths of settings files, the one with precedence first. The project's file is
// included only if the project has a settings folder.
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
	if dir, err := configDir(src.Getenv); err == nil { // without a home folder there is no user's file
		add("user", filepath.Join(dir, "carrel", "config.toml"), "")
	}
	return files
}

// Settings are the settings of flags, environment and files together.
type Settings struct {
	Profile  string   // the profile in use
	Profiles []string // all profiles
	Values   []Value  // values of all keys, in the order of known

	storeErr error // why the place of the store is unknown, or nil
}

// Load reads the settings. It fails with [*Error] or [*FileError].
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
		for _, name := range s.names(files, &known[i]) {
			v, err := s.find(src, files, name, &known[i])
			if err != nil {
				return nil, err
			}
			s.Values = append(s.Values, v)
		}
	}
	return s, s.check()
}

// names returns the names of the settings that k describes: the name of k itself or, if it has a
// "*", each name that a file gives in its place.
func (s *Settings) names(files []source, k *key) []string {
	if !strings.Contains(k.name, "*") {
		return []string{k.name}
	}
	names := make(map[string]bool)
	for _, f := range files {
		if f.document == nil {
			continue
		}
		for _, section := range []entries{f.base, f.profiles[s.Profile]} {
			for name, e := range section {
				if e.key == k {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// A source is a settings file, or a project's settings folder without a file.
type source struct {
	*document // nil if there is no file

	dir string // the project's settings folder, or ""
}

// folder returns the folder to which paths in the file are relative: the project, or the folder
// of the file.
func (f *source) folder() string {
	if f.dir != "" {
		return filepath.Dir(f.dir)
	}
	return filepath.Dir(f.path)
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

// find returns the value of a key under a name.
func (s *Settings) find(src *Sources, files []source, name string, k *key) (Value, error) {
	v := Value{Key: name, Value: k.builtIn, Origin: Origin{Kind: "built-in"}, key: k, otherwise: k.otherwise}
	if text, from := k.given(src); text != "" {
		read, err := k.read(literal{kind: unstable.String, text: text})
		if err != nil {
			return v, &Error{from.Name, err}
		}
		if k.name == "store" && !IsAddress(text) || k.place {
			read = src.path(text)
		}
		v.Value, v.Origin = read, from
		return v, nil
	}
	for i := range files {
		f := &files[i]
		if f.document != nil {
			if value, from, ok := f.lookup(name, s.Profile); ok {
				v.Value, v.Origin = value, from
				return v, v.settle(src.Getenv, f)
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

// settle converts a value from a file: relative paths become absolute. It refuses a value in a
// project's file that only the user may set, because the project's file comes with the project.
func (v *Value) settle(env Getenv, f *source) (err error) {
	switch x := v.Value.(type) {
	case string:
		if v.Key == "store" {
			v.Value, err = v.ofStore(env, f, x)
		} else if v.key.place && x != "" {
			v.Value, err = v.place(env, f, x)
		}
	case []string:
		if !v.key.place {
			break
		}
		paths := make([]string, len(x))
		for i := range x {
			if paths[i], err = v.place(env, f, x[i]); err != nil {
				return err
			}
		}
		v.Value = paths
	}
	if err == nil && v.key.own && f.dir != "" {
		err = v.fail(errors.New("cannot be set in the settings of a project, which others may have written: set it in your own settings"))
	}
	return err
}

// ofStore returns the place of the store that a file names. It refuses a server in a project's
// file, because a project must not choose which server receives the conversations.
func (v *Value) ofStore(env Getenv, f *source, name string) (string, error) {
	switch {
	case !IsAddress(name):
		return beside(env, filepath.Dir(f.path), name)
	case f.dir != "":
		return "", v.fail(errors.New("names a server, which the settings of a project cannot choose: set it in your own settings"))
	}
	return name, nil
}

// place returns the absolute path that a file names. It refuses a path outside of the project in
// a project's file.
func (v *Value) place(env Getenv, f *source, name string) (string, error) {
	path, err := beside(env, f.folder(), name)
	if err == nil && f.dir != "" && !v.key.own && !inside(path, f.folder()) {
		err = v.fail(fmt.Errorf("%q is outside of the project: name such a folder in your own file", name))
	}
	return path, err
}

// inside reports whether path is in dir, with symbolic links resolved as far as each of them exists.
func inside(path, dir string) bool {
	rel, _ := filepath.Rel(Resolved(dir), Resolved(path)) // "", which is not local, if path is on another volume
	return filepath.IsLocal(rel)
}

// Resolved returns a path with symbolic links resolved, as far as the path exists.
func Resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(Resolved(dir), filepath.Base(path))
}

// given returns the value of a key from a flag or variable. The setting of colors has two more
// variables, which are common to all programs.
func (k *key) given(src *Sources) (string, Origin) {
	if k.flag == "" && k.variable == "" {
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

// beside returns the absolute path of a name in a file. A name that begins with "~/" is below the
// user's home, and other relative names are relative to dir.
func beside(env Getenv, dir, name string) (string, error) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "~/"); ok {
		h, err := home(env)
		return filepath.Join(h, rest), err
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	return filepath.Join(dir, name), nil
}

// check returns an error if settings contradict each other.
func (s *Settings) check() error {
	alpha, beta := s.value("retention.alpha"), s.value("retention.beta")
	if alpha.Value == ratio.Ratio(0) && beta.Value == ratio.Ratio(0) {
		return alpha.fail(errors.New("is 0, and so is retention.beta: no score is left: set one of them above 0"))
	}
	retain, evict := s.value("retention.retain"), s.value("retention.evict")
	r, e := get[ratio.Ratio](s, retain.Key), get[ratio.Ratio](s, evict.Key)
	switch {
	case r == 0:
		return retain.fail(errors.New("is 0, so every block would be retained: set it above 0"))
	case e > r && evict.Origin.Kind != "built-in":
		return evict.fail(fmt.Errorf("%v is above retention.retain, %v", evict, retain))
	case e > r:
		return retain.fail(fmt.Errorf("%v is below retention.evict, %v", retain, evict))
	}
	for _, pair := range [...][2]string{{"budget.warn", "budget.compress"}, {"budget.compress", "budget.critical"}} {
		if err := ordered[ratio.Ratio](s, pair[0], pair[1]); err != nil {
			return err
		}
	}
	if _, err := s.tools(); err != nil {
		return err
	}
	if _, err := s.prices(); err != nil {
		return err
	}
	return s.checkArtifacts()
}

// tools returns the table of tools, or nil for the built-in one.
func (s *Settings) tools() (*tool.Table, error) {
	var table *tool.Table
	for i := range s.Values {
		v := &s.Values[i]
		if v.key.name != toolClass {
			continue
		}
		name := strings.TrimPrefix(v.Key, "tools.")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain // the name without the quotes that dotted added
		}
		var err error
		if table, err = table.With(map[string]tool.Class{name: tool.Class(get[string](s, v.Key))}); err != nil {
			return nil, v.fail(err)
		}
	}
	return table, nil
}

// Trigger returns the thresholds of passes, and the floor of a window.
func (s *Settings) Trigger() *pager.Trigger {
	return &pager.Trigger{
		Warn: get[ratio.Ratio](s, "budget.warn"), Compress: get[ratio.Ratio](s, "budget.compress"),
		Critical: get[ratio.Ratio](s, "budget.critical"), Effective: get[token.Count](s, "budget.effective"),
		Floor: get[token.Count](s, "budget.floor"),
	}
}

func (s *Settings) value(name string) *Value {
	return &s.Values[slices.IndexFunc(s.Values, func(v Value) bool { return v.Key == name })]
}

// get returns the value of a key, or the zero value if there is none of type T.
func get[T any](s *Settings, name string) T {
	v, _ := s.value(name).Value.(T)
	return v
}

// Store returns the place of the store: a path, or the URL of a database.
func (s *Settings) Store() (string, error) { return get[string](s, "store"), s.storeErr }

// Scope returns the scope of conversations.
func (s *Settings) Scope() governance.Scope { return get[governance.Scope](s, "scope") }

// Color returns when output has colors, one of [ColorWords].
func (s *Settings) Color() string { return get[string](s, "output.color") }

// Progress returns the form of progress, one of [ProgressWords].
func (s *Settings) Progress() string { return get[string](s, "output.progress") }

// Window returns the context window in tokens, or 0 for that of the model.
func (s *Settings) Window() token.Count { return get[token.Count](s, "budget.window") }
