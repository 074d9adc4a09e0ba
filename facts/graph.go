package facts

import "github.com/carrel-dev/carrel/transcript"

// A Position is a place in a conversation: a block and, where CallID is not empty, one
// call in it, with its arguments and its result.
type Position struct {
	Block  int    // index
	CallID string // or empty: it was said
}

// A Validity says what became of a call by the end of a conversation. It is stored
// as its text.
type Validity string

// The states.
const (
	StateCurrent    Validity = "current"    // nothing has superseded it
	StateStale      Validity = "stale"      // what it read or wrote was written since
	StateRedundant  Validity = "redundant"  // the same was read or run again since
	StateResolved   Validity = "resolved"   // it failed, and the same has succeeded since
	StateSuperseded Validity = "superseded" // the list of things to do that it states was stated anew
)

// A CallStanding is what became of a call, and by which later one.
type CallStanding struct {
	State Validity
	By    Position // the call that superseded it, zero if it is current
	About string   // the file, the command or the entry that both are about, empty if it is current
	Part  bool     // only a part is superseded: of the file was written, or of several files or commands one
}

// A NodeKind says what a thing in a [Graph] is. It is stored as its text: file, command,
// error, todo or name.
type NodeKind string

// The kinds of things.
const (
	NodeFile    NodeKind = "file"    // by its path
	NodeCommand NodeKind = "command" // by its line
	nodeError   NodeKind = "error"   // by the line that reports it
	nodeTodo    NodeKind = "todo"    // by its wording
	nodeName    NodeKind = "name"    // an identifier that was used in the arguments of a call
)

// An Act is what a call does with a thing. It is stored as its text: read, write, run,
// fail, resolve, state or name.
type Act string

// The acts.
const (
	ActRead    Act = "read"    // a file
	ActWrite   Act = "write"   // a file: created, changed, moved or deleted
	ActRun     Act = "run"     // a command
	ActFail    Act = "fail"    // with an error
	actResolve Act = "resolve" // an error: the same succeeds
	actState   Act = "state"   // an entry of a list of things to do
	actName    Act = "name"    // an identifier, in the arguments
)

// A Use is one use of a thing by a call.
type Use struct {
	Position

	Act Act
}

// A Node is a thing, where it came from, what used it and how it stands.
type Node struct {
	Kind   NodeKind
	Name   string
	Form   Kind       // of an identifier
	Status FactStatus // of a command, an error and an entry, and of a file how it was written last, or empty
	From   Position   // where it is first: in what a person or a tool said, or else in the call that made it up
	Uses   []Use      // in order, each call once for each act
}

// A Graph says of the things in a conversation where they came from, which calls
// used them, and of each call whether a later one has superseded what it says.
// Only calls that have a result and did not fail supersede others, and only
// earlier ones; the first that does is the one that is named.
//
//   - A write of a file makes its earlier reads and writes stale. Unless all of the
//     file was written, moved or deleted, it does so in part.
//   - A read makes an earlier one of the same file redundant if it covers the same
//     lines or all of the file, unless the file was written between them: then the
//     earlier one is stale already. A tool that answers that nothing has changed
//     makes nothing redundant.
//   - A command line makes an earlier one redundant if it is the same, in the same
//     directory, but for white space, comments before it and 2>&1. One that made a
//     commit is never redundant. A call of a tool that only looks, by the table of
//     tools or by its name, does so if its arguments are the same.
//   - What failed is resolved when the same succeeds: a read or an edit of the file,
//     a command with the same words, whatever its options are, all tests if it was
//     some of them, or another call of a tool that nobody knows.
//   - A list of things to do supersedes the earlier ones of the tools that state all
//     of it. The update of one entry supersedes the earlier updates of that entry.
//
// The same file has one node, whether its path is absolute or relative to the
// project. Without a project, a relative path with a slash is the one absolute
// path that ends in it.
//
// A graph depends on the conversation alone, and what is added at the end changes
// a standing only from current to another.
type Graph struct {
	nodes []Node
	index map[nodeKey]int
	calls []deed
	byID  map[string]int
}

type nodeKey struct {
	kind NodeKind
	name string
}

// A deed is a call in a graph.
type deed struct {
	ref      Position
	standing CallStanding
	several  bool // it is about more than one thing
}

// NewGraph returns the graph of a conversation. Of the options, those of tools and
// of the project count. It is one pass over the text.
func NewGraph(msgs []transcript.Message, blocks []transcript.Block, opts *Options) *Graph {
	w := newWeaver(msgs, blocks, opts)
	for i := range blocks {
		w.block(i)
	}
	return w.g
}

// Nodes returns all things, in the order in which the conversation uses them. It
// is the graph's own list.
func (g *Graph) Nodes() []Node { return g.nodes }

// Call returns the standing of a call. One that is not in the conversation, and
// one whose id another call has, too, is current.
func (g *Graph) Call(id string) CallStanding {
	if i, ok := g.byID[id]; ok && i >= 0 {
		return g.calls[i].standing
	}
	return CallStanding{State: StateCurrent}
}

// begin adds a call.
func (g *Graph) begin(ref Position) int {
	k := len(g.calls)
	g.calls = append(g.calls, deed{ref: ref, standing: CallStanding{State: StateCurrent}})
	if _, taken := g.byID[ref.CallID]; taken || ref.CallID == "" {
		g.byID[ref.CallID] = -1
	} else {
		g.byID[ref.CallID] = k
	}
	return k
}

// supersede says what became of call k by a later one, unless that is said.
func (g *Graph) supersede(k, by int, state Validity, about string, part bool) {
	c := &g.calls[k]
	if k >= by || c.standing.State != StateCurrent {
		return
	}
	c.standing = CallStanding{State: state, By: g.calls[by].ref, About: about, Part: part}
}

// node returns the index of a thing, which it adds if it is new.
func (g *Graph) node(kind NodeKind, name string, from Position) int {
	key := nodeKey{kind, name}
	i, ok := g.index[key]
	if !ok {
		i = len(g.nodes)
		g.index[key] = i
		g.nodes = append(g.nodes, Node{Kind: kind, Name: name, From: from})
	}
	return i
}

// use notes that call k uses a thing.
func (g *Graph) use(node, k int, act Act) {
	n := &g.nodes[node]
	ref := g.calls[k].ref
	for i := len(n.Uses) - 1; i >= 0 && n.Uses[i].Position == ref; i-- {
		if n.Uses[i].Act == act {
			return
		}
	}
	n.Uses = append(n.Uses, Use{ref, act})
}
