// Package hook answers the hooks of agents: programs that an agent starts when
// something happens, with the event as JSON on standard input, and whose standard
// output it obeys.
//
// [Run] takes one event of one client. What the client says is read, and what it is
// told is written, by a [Dialect], one file each; what is done about it is the same
// for all of them:
//
//   - A large result of a tool goes into the stash before the model first sees it, and
//     a pointer takes its place: where all of it is, head, tail, and the lines most
//     likely to be needed.
//   - Whoever is about to summarize the conversation is told what to keep word for
//     word, and the agent that goes on from the summary is told it again.
//   - Whenever the conversation has grown, it is imported, so that everything else can
//     be asked about it.
//
// # How it fails
//
// A hook stands between an agent and its work, so it fails open: it writes its answer
// whole or not at all, and if anything goes wrong, or takes too long, it writes
// nothing, and the agent goes on as if there were no hook. [Run] returns the reason;
// its caller logs it and exits with 0. A result is replaced only once the original is
// in the store for good. What looks as if it held a credential is refused by the
// store, so it stays where it is.
//
// # How it is fast
//
// An agent waits for its hooks. The store is opened by the first event that needs it
// ([Options.Open]), and most do not: a result of ordinary size is told by the length
// of the input alone, and the greeting of a new session is a constant.
//
// What an agent waits for does not grow with its session. Of the conversation that a
// result is for, the beginning and the end are read, so many bytes each. It is imported
// meanwhile only while it is short; a long one is imported by the events that an agent
// does not wait for, and around a compaction, when the whole of it is needed.
//
// Nor do the other events: the store remembers how far the conversation was read, and
// what is new is read from there on ([carrel.Engine.Follow]). All of it is read the first
// time, after a compaction, and when the person went back to an older message.
//
// # Determinism
//
// Equal events over equal stores give equal bytes: an output that is in the stash
// keeps its id, and the pointer follows from it and from the history. So an agent that
// asks again sends its provider the same prefix.
package hook
