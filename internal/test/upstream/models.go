package upstream

import (
	"strings"
	"time"
)

// A Model has the rules that depend on the model.
type Model struct {
	// Name is the beginning of the model names: claude-opus-5 is also for
	// claude-opus-5-20260101. The longest matching name applies.
	Name string

	Prefill  bool // continues a reply that the request has begun (A12)
	Sampling bool // takes temperature, top_p and top_k (A13)
	Budget   bool // takes a thinking budget (A8, A13)
	System   bool // takes system messages inside the conversation (A15)
	Bound    bool // preserves thinking, which is bound to everything before it (A9)

	Window int // most tokens of a request
	Cache  CacheRule
	Price  Price
}

// A CacheRule describes the cache of a model.
type CacheRule struct {
	Automatic bool          // finds the longest prefix by itself; otherwise requests need marks
	Minimum   int           // tokens below which nothing is cached
	Step      int           // tokens read from an automatic cache are a multiple of this
	Life      time.Duration // lifetime of an entry of an automatic cache
	Writes    bool          // whether an automatic cache reports and bills written tokens
}

// A Price is the price of a token in billionths of a dollar, and of a cached token in
// thousandths of the price of input. The prices are invented, with the proportions of real
// ones.
type Price struct {
	Input, Output       int
	Read, Write, Write1 int // Write1 is for entries that live an hour
}

// models returns the models of Anthropic that a [Server] knows. A request for another model
// gets 404.
func models() []Model {
	old := Model{Prefill: true, Sampling: true, Budget: true}
	bound := Model{System: true, Bound: true}
	var table []Model
	add := func(m Model, names ...string) {
		for _, n := range names {
			m.Name, m.Window, m.Cache.Minimum = n, 200_000, 1024
			m.Price = Price{Input: 5000, Output: 25_000, Read: 100, Write: 1250, Write1: 2000}
			switch {
			case strings.Contains(n, "haiku"):
				m.Cache.Minimum = 4096
				m.Price.Input, m.Price.Output = 1000, 5000
			case strings.Contains(n, "sonnet"):
				m.Price.Input, m.Price.Output = 3000, 15_000
			}
			switch n {
			case "claude-opus-5-5", "claude-sonnet-5-5":
				m.Price.Read = 50
			case "claude-fable-5-1", "claude-fable-5-2":
				m.Price.Read, m.Cache.Minimum = 25, 512
			}
			table = append(table, m)
		}
	}
	add(old, "claude-3", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4")
	add(Model{Sampling: true, Budget: true}, "claude-opus-4-6", "claude-sonnet-4-6")
	add(Model{}, "claude-opus-4-7")
	add(Model{System: true}, "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5", "claude-fable-5", "claude-mythos-5")
	add(bound, "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5",
		"claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2")
	return table
}

// openAIModels returns the models for Chat Completions and Responses.
func openAIModels() []Model {
	m := Model{
		Window: 128_000, Cache: CacheRule{Automatic: true, Minimum: 1024, Step: 128, Life: 5 * time.Minute},
		Price: Price{Input: 2500, Output: 10_000, Read: 500, Write: 1000, Write1: 1000},
	}
	var table []Model
	add := func(names ...string) {
		for _, m.Name = range names {
			table = append(table, m)
		}
	}
	add("gpt-4", "gpt-4o", "gpt-4.1", "o3", "o4")
	m.Window, m.Price.Read = 400_000, 100
	add("gpt-5")
	m.Cache.Life, m.Cache.Writes, m.Price.Write = 30*time.Minute, true, 1250
	add("gpt-5.6", "gpt-5.7")
	m.Bound = true
	add("gpt-6")
	return table
}

// ModelNamed returns the model of Anthropic with a name, and whether a [Server] knows it.
func ModelNamed(name string) (Model, bool) { return longestName(models(), name, "-") }

// longestName returns the model of a table whose name is the longest that matches. A model's
// name matches if it equals the given name, or is the part of it before one of the separators.
func longestName(table []Model, name, separators string) (Model, bool) {
	var best Model
	for _, m := range table {
		rest, ok := strings.CutPrefix(name, m.Name)
		if ok && (rest == "" || strings.Contains(separators, rest[:1])) && len(m.Name) > len(best.Name) {
			best = m
		}
	}
	return best, best.Name != ""
}
