// Package weave makes one answer of several. A proxy that adds a tool of its own to a request,
// and answers its calls itself, gets an answer of the provider in each round; the client is to
// see one, and nothing of that tool.
//
// A [Weaver] reads the answers of the rounds, whole or as streams of events, and says what of
// them the client gets: all but the calls of the tool and what ends a round that is not the
// last. Blocks and items are numbered anew, ids are those of the first round, and usage is
// added up. An answer in which the tool is not called passes byte for byte.
//
// Of each round it keeps what the provider said, so that it can be sent on, see
// [Round.Messages], and sent again when the client comes back, see [Weaver.Reply].
//
// Everything here is pure. A Weaver is for one goroutine.
package weave
