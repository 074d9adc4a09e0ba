package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A layer is a set of packages that may import packages of lower layers and
// never one another.
type layer struct {
	name string

	// packages are patterns, as of path.Match, for paths relative to the
	// module. The root package is ".".
	packages []string

	// upTo is the highest layer that may be imported. It is empty where every
	// lower layer will do.
	upTo string
}

// layers is the table of ARCHITECTURE.md, from the bottom up. Every package
// belongs to exactly one layer: where a new one goes is a decision, not an
// accident.
var layers = []layer{
	{name: "floor", packages: []string{"doc/topic", "plugin", "internal/bins", "internal/bpe", "internal/lazy", "internal/postings", "internal/text", "internal/test/postgres"}},
	{name: "vocabulary", packages: []string{"digest", "ratio", "token", "transcript", "tier", "provenance", "internal/rawjson", "internal/jsonschema", "internal/shell", "limn"}},
	{name: "dialects", packages: []string{"internal/chat", "internal/httpjson", "internal/wire"}},
	{name: "documents", packages: []string{
		"transcript/anthropic", "transcript/claudecode", "transcript/formattest", "transcript/gemini", "transcript/openai", "transcript/opencode", "transcript/pagerjson", "transcript/responses",
		"contract", "governance", "limn/conform", "manifest", "tool",
	}},
	{name: "files of those", packages: []string{"transcript/codex", "transcript/geminicli", "transcript/trajectory"}},
	{name: "reading", packages: []string{"facts", "outcome", "secret", "retrieval", "intent"}},
	{name: "deciding", packages: []string{"pager", "pager/seed", "account", "triage", "assembly", "summary", "probe", "handoff", "economy", "internal/epoch", "internal/weave"}},
	{name: "for people", packages: []string{"transcript/markdown"}},
	{name: "ports", packages: []string{"store", "store/blob", "artifact", "llm"}, upTo: "documents"},
	{name: "moving", packages: []string{"internal/move"}, upTo: "ports"},
	{name: "decorators", packages: []string{"store/memory", "store/storetest", "store/guard", "store/offload", "store/blob/blobtest", "artifact/origin", "summary/extractive", "summary/abstractive", "llm/llmtest"}},
	{name: "api", packages: []string{"api"}},
	{name: "base", packages: []string{"internal/engine/base"}},
	{name: "stacks", packages: []string{"internal/engine/stacks"}},
	{name: "hold", packages: []string{"internal/engine/hold"}},
	{name: "record", packages: []string{"internal/engine/record"}},
	{name: "engine", packages: []string{
		"internal/engine/sessions", "internal/engine/windows", "internal/engine/artifacts", "internal/engine/contexts",
		"internal/engine/contracts", "internal/engine/handoffs", "internal/engine/calls", "internal/engine/audit",
	}},
	{name: "door", packages: []string{"."}},
	{name: "agents", packages: []string{"internal/agents"}},
	{name: "interface", packages: []string{"internal/ops", "internal/binding", "internal/telemetry"}},
	{name: "admission", packages: []string{"server/auth"}},
	{name: "surfaces", packages: []string{"server/rest", "server/mcp", "server/hook", "server/proxy", "server/console", "client"}},
	{name: "drivers", packages: []string{"store/sqlite", "store/postgres", "store/blob/file", "store/blob/s3", "internal/acme", "llm/remote", "llm/static", "limn/adapter"}, upTo: "ports"},
	{name: "wiring", packages: []string{"internal/config"}},
	{name: "scenario", packages: []string{"internal/demo", "internal/retention", "internal/test/enginetest", "internal/test/stores", "internal/test/upstream", "internal/test/fakesession"}},
	{name: "examination", packages: []string{"internal/exam"}},
	{name: "service", packages: []string{"internal/service"}},
	{name: "output", packages: []string{"internal/cli/out"}},
	{name: "command", packages: []string{"internal/cli/job"}},
	{name: "rooms", packages: []string{
		"internal/cli/session", "internal/cli/artifact", "internal/cli/contract", "internal/cli/limn", "internal/cli/server", "internal/cli/admin",
		"internal/test/clitest",
	}},
	{name: "command line", packages: []string{"internal/cli"}},
	{name: "program", packages: []string{"cmd/*", "bench/*", "internal/test/arch", "internal/test/e2e", "internal/test/judged"}},
}

func TestLayers(t *testing.T) {
	module, pkgs := listPackages(t)
	for _, v := range checkLayers(layers, module, pkgs) {
		t.Error(v)
	}
}

// What TestLayers checks is checked here, on modules that break each rule.
func TestLayersBites(t *testing.T) {
	small := []layer{
		{name: "low", packages: []string{"word", "name"}},
		{name: "middle", packages: []string{"word/*"}},
		{name: "port", packages: []string{"port"}, upTo: "low"},
		{name: "top", packages: []string{"."}},
	}
	sound := []pkg{
		{ImportPath: "m", Imports: []string{"m/port", "m/word/a", "m/word", "fmt"}},
		{ImportPath: "m/name"},
		{ImportPath: "m/port", Imports: []string{"m/word"}},
		{ImportPath: "m/word", Imports: []string{"fmt", "mm/word"}},
		{ImportPath: "m/word/a", Imports: []string{"m/word"}},
	}
	with := func(path string, imports ...string) []pkg {
		pkgs := slices.DeleteFunc(slices.Clone(sound), func(p pkg) bool { return p.ImportPath == path })
		return append(pkgs, pkg{ImportPath: path, Imports: imports})
	}
	for _, tt := range []struct {
		name   string
		layers []layer
		pkgs   []pkg
		want   []string
	}{
		{name: "a sound module", layers: small, pkgs: sound},
		{
			name:   "an import upward",
			layers: small,
			pkgs:   with("m/word", "m/port"),
			want:   []string{"word (low) imports port (port): only lower layers are open to it"},
		},
		{
			name:   "an import of the root package",
			layers: small,
			pkgs:   with("m/word", "m"),
			want:   []string{"word (low) imports . (top): only lower layers are open to it"},
		},
		{
			name:   "an import within a layer",
			layers: small,
			pkgs:   with("m/word", "m/name"),
			want:   []string{"word (low) imports name (low): only lower layers are open to it"},
		},
		{
			name:   "an import above the ceiling of a layer",
			layers: small,
			pkgs:   with("m/port", "m/word/a"),
			want:   []string{"port (port) imports word/a (middle): only layers up to low are open to it"},
		},
		{
			name:   "a package in no layer",
			layers: small,
			pkgs:   with("m/port/x", "m/word"),
			want:   []string{"port/x is in no layer: add it to one"},
		},
		{
			name:   "an import of a package in no layer",
			layers: small,
			pkgs:   with("m", "m/gone"),
			want:   []string{". (top) imports gone, which is in no layer"},
		},
		{
			name:   "a package in two layers",
			layers: append(slices.Clone(small), layer{name: "roof", packages: []string{"wor?"}}),
			pkgs:   sound,
			want:   []string{"word is in 2 layers, low and roof: leave it in one"},
		},
		{
			name:   "a pattern for a package that is gone",
			layers: small,
			pkgs:   slices.DeleteFunc(slices.Clone(sound), func(p pkg) bool { return p.ImportPath == "m/name" }),
			want:   []string{"layer low lists name, which matches no package"},
		},
		{
			name:   "a ceiling that is no lower layer",
			layers: append(slices.Clone(small), layer{name: "roof", upTo: "roof"}),
			pkgs:   sound,
			want:   []string{"layer roof may import up to roof, which is no lower layer"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := checkLayers(tt.layers, "m", tt.pkgs)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// checkLayers returns what in pkgs, the packages of a module, goes against the
// layers.
func checkLayers(layers []layer, module string, pkgs []pkg) []string {
	var violations []string
	report := func(format string, args ...any) {
		violations = append(violations, fmt.Sprintf(format, args...))
	}

	ceilings := make([]int, len(layers)) // the highest layer that each may import
	for i, l := range layers {
		ceilings[i] = i - 1
		if l.upTo == "" {
			continue
		}
		ceilings[i] = slices.IndexFunc(layers[:i], func(l2 layer) bool { return l2.name == l.upTo })
		if ceilings[i] < 0 {
			report("layer %s may import up to %s, which is no lower layer", l.name, l.upTo)
		}
	}

	home := make(map[string]int) // layer of each package, by relative path
	matched := make(map[string]bool)
	for _, p := range pkgs {
		rel, _ := relative(module, p.ImportPath)
		var names []string
		for i, l := range layers {
			for _, pattern := range l.packages {
				if ok, err := path.Match(pattern, rel); err != nil {
					report("layer %s: pattern %q: %v", l.name, pattern, err)
				} else if ok {
					matched[pattern] = true
					names = append(names, l.name)
					if len(names) == 1 {
						home[rel] = i
					}
				}
			}
		}
		switch {
		case len(names) == 0:
			report("%s is in no layer: add it to one", rel)
		case len(names) > 1:
			report("%s is in %d layers, %s: leave it in one", rel, len(names), strings.Join(names, " and "))
		}
	}
	for _, l := range layers {
		for _, pattern := range l.packages {
			if !matched[pattern] {
				report("layer %s lists %s, which matches no package", l.name, pattern)
			}
		}
	}

	for _, p := range pkgs {
		from, _ := relative(module, p.ImportPath)
		at, ok := home[from]
		if !ok {
			continue // reported above
		}
		for _, imp := range p.Imports {
			to, ours := relative(module, imp)
			if !ours {
				continue
			}
			switch target, ok := home[to]; {
			case !ok:
				report("%s (%s) imports %s, which is in no layer", from, layers[at].name, to)
			case target <= ceilings[at]:
			case layers[at].upTo != "":
				report("%s (%s) imports %s (%s): only layers up to %s are open to it",
					from, layers[at].name, to, layers[target].name, layers[at].upTo)
			default:
				report("%s (%s) imports %s (%s): only lower layers are open to it",
					from, layers[at].name, to, layers[target].name)
			}
		}
	}
	return violations
}

// relative returns an import path relative to the module, "." for the root
// package, and reports whether it lies in the module at all.
func relative(module, importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
