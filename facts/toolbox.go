package facts

import (
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A toolbox has the properties of the tools of a conversation. It looks up each name once.
type toolbox struct {
	table *tool.Table
	known map[string]toolInfo
}

// A toolInfo has the folded name and the class of a tool. reads reports whether the name
// begins with a verb for reading.
type toolInfo struct {
	name  string
	class tool.Class
	reads bool
}

// of returns the toolInfo of a call. The class of an editing tool depends on the arguments:
// it reads if they ask for a file to be shown.
func (b *toolbox) of(c transcript.ToolCall) toolInfo {
	k := b.named(c.Name)
	if k.class == tool.Edit {
		k.class = b.table.Of(c)
	}
	return k
}

// named returns the toolInfo of a tool by its name alone.
func (b *toolbox) named(name string) toolInfo {
	k, ok := b.known[name]
	if !ok {
		folded := tool.Fold(name)
		k = toolInfo{folded, b.table.Class(name), readOnlyName(folded)}
		if b.known == nil {
			b.known = make(map[string]toolInfo)
		}
		b.known[name] = k
	}
	return k
}
