package facts

import "github.com/carrel-dev/carrel/tool"

// A toolbox knows what the tools of a conversation do. It looks each name up once.
type toolbox struct {
	table *tool.Table
	known map[string]kit
}

// A kit is a tool: its folded name, its class and whether it only looks, by its
// name.
type kit struct {
	name  string
	class tool.Class
	reads bool
}

func (b *toolbox) of(name string) kit {
	k, ok := b.known[name]
	if !ok {
		folded := tool.Fold(name)
		k = kit{folded, b.table.Class(name), reads(folded)}
		if b.known == nil {
			b.known = make(map[string]kit)
		}
		b.known[name] = k
	}
	return k
}
