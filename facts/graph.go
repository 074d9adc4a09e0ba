package facts

import "github.com/carrel-dev/carrel/transcript"

// A Position is a block of a conversation or, if CallID is not empty, one
// call in it with its result.
type Position struct {
	Block  int    // index
	CallID string // empty for a message
}

// A Validity says whether the result of a call still holds at the end of a
// conversation. It is stored as its text.
type Validity string

// The validities.
const (
	StateCurrent    Validity = "current"    // nothing superseded it
	StateStale      Validity = "stale"      // its file was written later
	StateRedundant  Validity = "redundant"  // the same was read or run again later
	StateResolved   Validity = "resolved"   // it failed, and the same succeeded later
	StateSuperseded Validity = "superseded" // its task list was stated anew
)

// A CallStanding is the validity of a call, with the later call that
// superseded it.
type CallStanding struct {
	State Validity
	By    Position // the superseding call; zero if the call is current
	About string   // the file, command or to-do of both calls; empty if the call is current
	Part  bool     // only a part is superseded: some lines of the file, or one of several files or commands
}

// A NodeKind is the kind of a thing in a [Graph]. It is stored as its text:
// file, command, error, todo or name.
type NodeKind string

// The kinds of things.
const (
	NodeFile    NodeKind = "file"    // by its path
	NodeCommand NodeKind = "command" // by its line
	nodeError   NodeKind = "error"   // by the line that reports it
	nodeTodo    NodeKind = "todo"    // by its wording
	nodeName    NodeKind = "name"    // an identifier in the arguments of a call
)

// An Act is the way in which a call uses a thing. It is stored as its text:
// read, write, run, fail, resolve (an error, by a later success), state (an
// entry of a task list) or name (an identifier in its arguments).
type Act string

// The acts.
const (
	ActRead    Act = "read"    // a file
	ActWrite   Act = "write"   // a file: created, changed, moved or deleted
	ActRun     Act = "run"     // a command
	ActFail    Act = "fail"    // with an error
	actResolve Act = "resolve" // an error, by a success of the same
	actState   Act = "state"   // an entry of a list of things to do
	actName    Act = "name"    // an identifier, in the arguments
)

// A Use is one use of a thing by a call.
type Use struct {
	Position

	Act Act
}

// A Node is a thing in a conversation, with its origin, its uses and its
// state.
type Node struct {
	Kind   NodeKind
	Name   string
	Form   Kind       // of an identifier
	Status FactStatus // of a command, an error or a to-do; of a file, that of its last write; or empty
	From   Position   // first occurrence: in a message or a result, or else in the call that introduced it
	Uses   []Use      // in order, each pair of call and act once
}

// A Graph records for the things in a conversation their origins and the
// calls that use them, and for each call whether a later call superseded its
// result. Only a call with a result that did not fail supersedes others, and
// only earlier ones; the first such call is named.
//
//   - A write of a file makes its earlier reads and writes stale, in part unless
//     the whole file was written, moved or deleted.
//   - A read makes an earlier read of the same file redundant if it covers the same
//     lines, unless the file was written between them: then the earlier read is
//     stale. A tool that answers "unchanged" makes nothing redundant.
//   - A command line makes an equal earlier one in the same directory redundant;
//     white space, comments before it and 2>&1 are ignored. A line that made a
//     commit is never redundant. A call of a read-only tool does the same if its
//     arguments are equal.
//   - A failure is resolved when the same succeeds: a read or an edit of the file,
//     a command with the same words and any options, all tests if some failed, or
//     another call of an unknown tool.
//   - A task list supersedes the earlier lists of the tools that state the whole
//     list. The update of one entry supersedes earlier updates of that entry.
//
// A file has one node for its absolute path and its path relative to the
// project. Without a project, a relative path with a slash is the only
// absolute path that ends in it.
//
// A graph depends on the conversation alone. Appending to the conversation
// changes a standing only from current to another.
type Graph struct {
	nodes []Node
	index map[nodeKey]int
	calls []graphCall
	byID  map[string]int
}

type nodeKey struct {
	kind NodeKind
	name string
}

type graphCall struct {
	ref      Position
	standing CallStanding
	several  bool // it uses more than one file or command
}

// NewGraph returns the graph of a conversation, in one pass. It uses
// opts.Tools and opts.Project.
func NewGraph(msgs []transcript.Message, blocks []transcript.Block, opts *Options) *Graph {
	w := newGraphBuilder(msgs, blocks, opts)
	for i := range blocks {
		w.block(i)
	}
	return w.g
}

// Nodes returns all things in the order of their first use. The graph owns
// the list.
func (g *Graph) Nodes() []Node { return g.nodes }

// Call returns the standing of a call. A call that is missing or whose id is
// not unique is current.
func (g *Graph) Call(id string) CallStanding {
	if i, ok := g.byID[id]; ok && i >= 0 {
		return g.calls[i].standing
	}
	return CallStanding{State: StateCurrent}
}

// addCall adds a call and returns its index. An id that occurs twice identifies no call.
func (g *Graph) addCall(ref Position) int {
	k := len(g.calls)
	g.calls = append(g.calls, graphCall{ref: ref, standing: CallStanding{State: StateCurrent}})
	if _, taken := g.byID[ref.CallID]; taken || ref.CallID == "" {
		g.byID[ref.CallID] = -1
	} else {
		g.byID[ref.CallID] = k
	}
	return k
}

// supersede records that the call with the index by superseded the earlier call k. It changes
// nothing if another call has already superseded k.
func (g *Graph) supersede(k, by int, state Validity, about string, part bool) {
	c := &g.calls[k]
	if k >= by || c.standing.State != StateCurrent {
		return
	}
	c.standing = CallStanding{State: state, By: g.calls[by].ref, About: about, Part: part}
}

// node returns the index of the node of a thing. It adds the node if there is none.
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

// use records that call k uses a thing. Equal uses are recorded once.
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
