// Package binding finds out in which session a client is: the program of an agent,
// such as Claude Code, that runs hooks and starts servers.
//
// A server on standard input and output is not told who calls. Two agents may work in
// one folder, and one agent changes its session while it runs: it clears, resumes and
// forks. So neither the folder nor what was true when the server began will do. Two
// things hold:
//
//   - A hook is told the session, and the client starts hooks and servers alike. A
//     hook records a [Binding] of the client's process to the session; a server looks
//     for the binding of the process that started it. A process is known by its id and
//     its start, as ids are used again.
//   - A client may say itself in which session it is ([Hear]): Codex with each call, and
//     Claude Code to the servers that it starts. The latter is true until the session
//     changes, so the id that the client gives a call decides: the transcript in which it
//     stands is that of the session ([Wrote]).
//
// What a client says with a call counts first, then what a hook said, then what the client
// said to the server. How each client says it is in a file of its own.
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
