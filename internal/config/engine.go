package config

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact/origin"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/remote"
	"github.com/carrel-dev/carrel/llm/static"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// checkArtifacts returns an error if settings of artifacts contradict each other.
func (s *Settings) checkArtifacts() error {
	for _, pair := range [...]struct{ low, high string }{
		{"tiers.full", "tiers.summarized"}, {"tiers.summarized", "tiers.core"}, {"triage.yellow", "triage.red"},
	} {
		if err := ordered[ratio.Ratio](s, pair.low, pair.high); err != nil {
			return err
		}
	}
	if err := ordered[int](s, "triage.deep", "triage.admit"); err != nil {
		return err
	}
	for _, v := range s.mcp() {
		command := serverOf(v.Key) + ".command"
		if v.key.name == mcpURL && v.Value != "" && slices.ContainsFunc(s.Values, func(o Value) bool { return o.Key == command }) {
			return v.fail(fmt.Errorf("%s is set, too: use only one", command))
		}
	}
	url, dir := s.value("embed.url"), s.value("embed.static")
	switch {
	case url.Value != "" && dir.Value != "":
		return dir.fail(errors.New("embed.url is set, too: use only one"))
	case url.Value != "" && get[string](s, "embed.model") == "":
		return url.fail(errors.New("wants embed.model, too: the name of a model of this server"))
	}
	if err := s.checkGenerator(); err != nil {
		return err
	}
	return s.policy().Validate() // cannot fail: each value has been checked with its position
}

// ordered compares the settings whose names are in low and high. It returns an error if the first
// has a larger value than the second.
func ordered[T int | ratio.Ratio](s *Settings, low, high string) error {
	l, h := s.value(low), s.value(high)
	switch {
	case get[T](s, low) <= get[T](s, high):
		return nil
	case l.Origin.Kind != "built-in":
		return l.fail(fmt.Errorf("%v is above %s, %v", l, high, h))
	}
	return h.fail(fmt.Errorf("%v is below %s, %v", h, low, l))
}

// mcp returns the settings of MCP servers.
func (s *Settings) mcp() []Value {
	return slices.DeleteFunc(slices.Clone(s.Values), func(v Value) bool { return v.key.name != mcpCommand && v.key.name != mcpURL })
}

// serverOf returns the name of a setting without its last part. This is the common prefix of the
// settings of one MCP server or model.
func serverOf(key string) string { return key[:strings.LastIndexByte(key, '.')] }

// policy returns the policy of triage.
func (s *Settings) policy() *triage.Policy {
	p := triage.DefaultPolicy()
	p.Admit, p.Deep = get[int](s, "triage.admit"), get[int](s, "triage.deep")
	p.Trust, p.Floor = get[ratio.Ratio](s, "triage.trust"), get[ratio.Ratio](s, "triage.floor")
	p.Red, p.Yellow = get[ratio.Ratio](s, "triage.red"), get[ratio.Ratio](s, "triage.yellow")
	p.Curve = triage.Curve(get[string](s, "triage.curve"))
	for _, c := range provenance.Classes() {
		r, w := p.Classes[c], get[shares](s, "triage.weights."+string(c))
		r.Recency, r.Provenance, r.Semantic = w[0], w[1], w[2]
		r.HalfLife = time.Duration(get[Duration](s, "triage.half_life."+string(c)))
		p.Classes[c] = r
	}
	return p
}

// Offline reports whether connections are forbidden.
func (s *Settings) Offline() bool { return get[bool](s, "offline") }

// Engine sets the options of the engine by the settings. It returns a function that closes the
// connections which the engine opens; call it after the last job.
func (s *Settings) Engine(o *carrel.Options) (release func() error, err error) {
	o.Weights = pager.Weights{Relevance: get[ratio.Ratio](s, "retention.alpha"), Recency: get[ratio.Ratio](s, "retention.beta")}
	o.Cuts = pager.Cuts{Retain: get[ratio.Ratio](s, "retention.retain"), Evict: get[ratio.Ratio](s, "retention.evict")}
	if o.Tools, err = s.tools(); err != nil {
		return nil, err
	}
	if o.Prices, err = s.prices(); err != nil {
		return nil, err
	}
	if o.KeepLast = get[int](s, "keep.last"); o.KeepLast == 0 {
		o.KeepLast = -1 // 0 would mean the default
	}
	o.Window = s.Window()
	o.Strategy, o.Trigger = s.strategy(), *s.Trigger()
	edge := func(name string) int { return int(get[ratio.Ratio](s, name) / percent) }
	o.Ladder = tier.Ladder{Summarized: edge("tiers.full"), Core: edge("tiers.summarized"), Minimal: edge("tiers.core")}
	o.Page = token.Count(get[int](s, "assemble.page"))
	o.Confidence = get[ratio.Ratio](s, "gate.confidence")
	o.Triage = s.policy()
	o.Redact = get[bool](s, "redact.personal")
	if o.Resident = int64(get[Size](s, "resident.bytes")); o.Resident == 0 {
		o.Resident = -1 // 0 would mean the default
	}
	if o.Embedder, err = s.embedder(); err != nil {
		return nil, err
	}
	if o.Generator, err = s.generator(o.Logger); err != nil {
		return nil, err
	}
	router := origin.New(s.origins())
	o.Sources = router
	return router.Close, nil
}

// origins returns which sources may be fetched. All others fail with an error that names the
// setting that would allow them.
func (s *Settings) origins() *origin.Options {
	o := &origin.Options{
		Files: get[[]string](s, origin.SettingFiles), Hosts: get[[]string](s, origin.SettingHosts),
		Servers:      make(map[string]origin.Server),
		AllowPrivate: get[bool](s, origin.SettingPrivate), Allow: get[[]netip.Prefix](s, origin.SettingAllow),
		Limit: int64(get[Size](s, origin.SettingLimit)), Timeout: time.Duration(get[Duration](s, "sources.timeout")),
		Offline: s.Offline(),
	}
	for _, v := range s.mcp() {
		name := strings.TrimPrefix(serverOf(v.Key), origin.SettingMCP+".")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain // the name without the quotes that dotted added
		}
		switch x := v.Value.(type) {
		case []string:
			o.Servers[name] = origin.Server{Command: x}
		case string:
			if x != "" {
				o.Servers[name] = origin.Server{URL: x}
			}
		}
	}
	return o
}

// embedder returns the embedder of the settings, or nil if there is none. If connections are
// forbidden, it returns nil in place of an embedder at a URL.
func (s *Settings) embedder() (llm.Embedder, error) {
	url, dir := s.value("embed.url"), s.value("embed.static")
	switch {
	case dir.Value != "":
		path := get[string](s, dir.Key)
		for _, name := range [...]string{"model.safetensors", "tokenizer.json"} {
			if _, err := os.Stat(filepath.Join(path, name)); err != nil {
				return nil, dir.fail(err)
			}
		}
		return &staticEmbedder{load: sync.OnceValues(func() (llm.Embedder, error) {
			return static.Load(os.DirFS(path), nil)
		})}, nil
	case url.Value == "" || s.Offline():
		return nil, nil
	}
	key, err := s.key("embed")
	if err != nil {
		return nil, err
	}
	c, err := remote.NewEmbedder(get[string](s, url.Key), get[string](s, "embed.model"), &remote.EmbedderOptions{
		Options:    remote.Options{Key: key, Timeout: time.Duration(get[Duration](s, "embed.timeout"))},
		Dimensions: get[int](s, "embed.dimensions"), Batch: get[int](s, "embed.batch"),
	})
	if err != nil {
		return nil, url.fail(err)
	}
	return c, nil
}

// key returns the key for the model of a table of settings: from the environment, or else from
// the key file.
func (s *Settings) key(table string) (llm.Secret, error) {
	if key := get[llm.Secret](s, table+".key"); !key.IsZero() {
		return key, nil
	}
	file := s.value(table + ".key_file")
	if file.Value == "" {
		return llm.Secret{}, nil
	}
	data, err := os.ReadFile(get[string](s, file.Key))
	if err != nil {
		return llm.Secret{}, file.fail(err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return llm.Secret{}, file.fail(errors.New("the file must have exactly one line, the key"))
	}
	return llm.NewSecret(text), nil
}

// A staticEmbedder loads its files at the first use, because most commands embed nothing.
type staticEmbedder struct {
	load func() (llm.Embedder, error)
}

// Embed implements [llm.Embedder].
func (e *staticEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m, err := e.load()
	if err != nil {
		return nil, fmt.Errorf("embed.static: %w", err)
	}
	return m.Embed(ctx, texts)
}

// Name implements [llm.Embedder].
func (e *staticEmbedder) Name() string {
	m, err := e.load()
	if err != nil {
		return "static" // nothing is embedded under this name
	}
	return m.Name()
}
