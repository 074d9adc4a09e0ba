// Package hook implements the hooks of agents: programs that an agent starts at an event, with
// the event as JSON on standard input, and whose standard output it follows.
//
// [Run] answers one event of one client. A [Dialect], one file for each client, decodes the event
// and encodes the answer. The work is the same for all clients:
//
//   - A large result of a tool goes into the stash before the model first sees it, and
//     a pointer takes its place: where all of it is, head, tail, and the lines most
//     likely to be needed.
//   - Before a compaction, if the client allows it, the prompt for the summary gets a brief of
//     the session, with the facts to keep word for word; after it, the agent gets the brief.
//   - When the conversation has grown, it is imported.
//   - A session that begins gets a greeting and, if it is set, what earlier sessions of its
//     project settled ([Options.Memory]).
//
// # How it fails
//
// A hook fails open, because an agent waits for it: it writes its answer whole or not at all. After
// an error or a timeout it writes nothing, and the agent goes on as without a hook. [Run] returns
// the error; its caller logs it and exits with 0. A result is replaced only after the original is
// durable in the store. The stash refuses a result that looks as if it had a credential, so such
// a result stays.
//
// # How it is fast
//
// The store is opened only for an event that needs it ([Options.Open]). Most do not: the length of
// the input shows that a result is small, and the greeting of a new session is a constant. A memory reads a
// bounded number of sessions of bounded size, in at most half of the time of the event.
//
// The time that an agent waits does not grow with its session. To make a pointer, only a fixed
// number of bytes of the beginning and the end of the conversation are read. While an agent
// waits, only a short conversation is imported; a long one is imported at events that the agent
// does not wait for, and at a compaction, which needs all of it.
//
// Imports do not read the whole conversation either: the store remembers how far it was read, and
// only the new part is read ([carrel.Engine.Follow]). All of it is read the first time, after a
// compaction, and when the person went back to an older message.
//
// # Determinism
//
// Equal events over equal stores give equal bytes: a stashed output keeps its id, and the pointer
// depends only on the output and the history. So an agent that repeats a request sends the same
// prefix.
package hook
