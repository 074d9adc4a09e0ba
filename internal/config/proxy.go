package config

import (
	"errors"
	"strings"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/token"
)

// A Proxy has the settings of the proxy.
type Proxy struct {
	Listen    string // host:port
	Manage    bool   // manage calls, not only observe them
	Upstreams proxy.Upstreams
	Required  bool        // refuse calls that cannot be recorded
	Budget    token.Count // compress a managed request above it; 0 means 90 % of the window
	Recall    bool        // give new managed conversations a tool to recall blocks
	Holdout   ratio.Ratio // share of sessions that are not managed, for comparison
}

// Values of proxy.mode, proxy.audit and proxy.compaction.
const (
	modeObserve   = "observe"
	modeManage    = "manage"
	auditOpen     = "open"
	auditRequired = "required"

	compactionPass   = "pass"
	compactionAnswer = "answer"
)

// ProxyModes returns the values of proxy.mode, the default first.
func ProxyModes() []string { return []string{modeObserve, modeManage} }

// proxyKeys returns the settings of the proxy. A project's file must not set them, because they
// decide where API keys are sent.
func proxyKeys() []key {
	keys := []key{
		{name: "proxy.listen", variable: "CARREL_PROXY_LISTEN", read: readAddress, builtIn: "127.0.0.1:8787"},
		{name: "proxy.mode", read: oneOf(ProxyModes()...), builtIn: modeObserve},
		{name: "proxy.upstream.anthropic", read: readBase, builtIn: proxy.DefaultAnthropic},
		{name: "proxy.upstream.openai", read: readBase, builtIn: proxy.DefaultOpenAI},
		{name: "proxy.audit", read: oneOf(auditOpen, auditRequired), builtIn: auditOpen},
		{name: "proxy.budget", read: readTokens, otherwise: "90% of the window"},
		{name: "proxy.compaction", read: oneOf(compactionPass, compactionAnswer), builtIn: compactionPass},
		{name: "proxy.recall", read: readSwitch, builtIn: false},
		{name: "proxy.holdout", read: readHoldout, builtIn: ratio.Ratio(0)},
	}
	for i := range keys {
		keys[i].own = true
	}
	return keys
}

// Proxy returns the settings of the proxy.
func (s *Settings) Proxy() Proxy {
	return Proxy{
		Listen: get[string](s, "proxy.listen"), Manage: get[string](s, "proxy.mode") == modeManage,
		Upstreams: proxy.Upstreams{Anthropic: get[string](s, "proxy.upstream.anthropic"), OpenAI: get[string](s, "proxy.upstream.openai")},
		Required:  get[string](s, "proxy.audit") == auditRequired, Budget: get[token.Count](s, "proxy.budget"),
		Holdout: get[ratio.Ratio](s, "proxy.holdout"), Recall: get[bool](s, "proxy.recall"),
	}
}

// Epochs sets the options for managing calls from the settings. A request that has more tokens than
// budget is compressed to half of that number; if budget is 0, it is 90 % of the window. Results
// are shortened as in hooks.
func (s *Settings) Epochs(budget token.Count, o *proxy.EpochOptions) (err error) {
	var h hook.Options
	s.Hook(&h)
	o.Scope, o.Window, o.Budget = s.Scope(), s.Window(), budget
	o.Large, o.Pointer, o.Brief, o.Secrets = h.Large, h.Pointer, h.Brief, h.Secrets
	o.Answer = get[string](s, "proxy.compaction") == compactionAnswer
	o.Prices, err = s.prices()
	return err
}

// readBase parses the base URL of a provider.
func readBase(l literal) (any, error) {
	v, err := readURL(l)
	switch {
	case err != nil:
		return nil, err
	case v == "":
		return nil, errors.New("wants a URL, such as https://gateway.example.org/v1")
	case strings.ContainsAny(l.text, "?#"):
		return nil, errors.New("wants a URL that ends with its path, such as https://gateway.example.org/v1")
	}
	return v, nil
}

// readHoldout parses a share of sessions.
func readHoldout(l literal) (any, error) {
	if l.isNumber() || strings.HasSuffix(l.text, "%") {
		if r, ok := l.ratio(); ok {
			return r, nil
		}
	}
	return nil, errors.New(`wants a share from 0 to 1, such as 0.1 or "10%"`)
}
