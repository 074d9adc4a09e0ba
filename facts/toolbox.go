package facts

import (
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A toolbox knows what the tools of a conversation do. It looks each name up once.
type toolbox struct {
	table *tool.Table
	known map[string]kit
}

// A kit is a tool in a call: its folded name, its class and whether it only looks, by
// its name.
type kit struct {
	name  string
	class tool.Class
	reads bool
}

// of returns the kit of a call. An editing tool that is told to show a file reads.
func (b *toolbox) of(c transcript.ToolCall) kit {
	k := b.named(c.Name)
	if k.class == tool.Edit {
		k.class = b.table.Of(c)
	}
	return k
}

// named returns the kit of a tool, whatever it is told.
func (b *toolbox) named(name string) kit {
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
