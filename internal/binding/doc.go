// Package binding finds the session that a client is in. A client is the program of an agent,
// such as Claude Code, that runs hooks and starts servers.
//
// A server on standard input and output is not told which session calls it. Two agents may work
// in one folder, and one agent changes its session while it runs, by clearing, resuming and
// forking. So neither the folder nor the session at the start of the server is reliable. Two
// sources are:
//
//   - A hook gets the session id, and the client starts both hooks and servers. So a hook
//     records a [Binding] of the client's process to the session, and a server looks up the
//     binding of the process that started it. A process is identified by its id and its start
//     time, because ids are reused.
//   - A client may name its session itself ([Detect]): Codex with each call, Claude Code to the
//     servers that it starts. The latter is valid until the session changes, so the id of the
//     call decides: it must be in the transcript of that session ([Wrote]).
//
// A session named with the call counts first, then one recorded by a hook, then one named when
// the server started. Each client has its own file in this package.
//
// # Which process is the client
//
// The client of a hook, or of a server, is its nearest ancestor that is no shell
// ([Client]). Nothing above counts: a terminal multiplexer or a test program is an
// ancestor of many clients, and an agent that another agent started is a client of its
// own, whether or not it has hooks.
//
// Where the system does not show processes there are no bindings, and the caller says
// that the session cannot be known.
package binding
