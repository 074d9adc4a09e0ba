package upstream

import "strings"

// A Model says which rules depend on the model, and how.
type Model struct {
	// Name is the beginning of the names that it is about: claude-opus-5 stands
	// for claude-opus-5-20260101 too. The longest name that fits counts.
	Name string

	Prefill  bool // continues a reply that the request has begun (A12)
	Sampling bool // takes temperature, top_p and top_k (A13)
	Budget   bool // takes a thinking budget (A8, A13)
	System   bool // takes system messages inside the conversation (A15)
	Bound    bool // preserves thinking: it is bound to what stood before it (A9)
}

// models returns the models that a [Server] knows. A request for any other gets 404.
func models() []Model {
	old := Model{Prefill: true, Sampling: true, Budget: true}
	bound := Model{System: true, Bound: true}
	var table []Model
	add := func(m Model, names ...string) {
		for _, n := range names {
			m.Name = n
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

// ModelNamed returns what a model goes by, and whether a [Server] knows it.
func ModelNamed(name string) (Model, bool) {
	var best Model
	for _, m := range models() {
		if (name == m.Name || strings.HasPrefix(name, m.Name+"-")) && len(m.Name) > len(best.Name) {
			best = m
		}
	}
	return best, best.Name != ""
}
