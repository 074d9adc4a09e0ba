// Package weave combines several answers of a provider into one. A proxy that adds its own tool to
// a request, and answers the calls of the tool itself, gets an answer of the provider in each
// round. The client must see a single answer without the tool.
//
// A [Weaver] reads the answers of the rounds, whole or as streams of events, and returns the parts
// for the client: everything except the calls of the tool and the ends of all rounds but the last.
// It renumbers blocks and items, uses the ids of the first round, and adds up usage. An answer
// without calls of the tool passes byte for byte, except that in a stream of Chat Completions the
// chunk with the finish reason and all later ones are encoded again.
//
// A Weaver also keeps the provider's answer of each round. [Round.Messages] returns it with the
// results of the tool for the next round, and [Weaver.Reply] for later requests of the client.
//
// The package does no I/O. A Weaver is not safe for concurrent use.
package weave
