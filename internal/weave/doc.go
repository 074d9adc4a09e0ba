// Package weave combines several answers of a provider into one. A proxy that adds its own tool to
// a request, and answers the calls of the tool itself, gets an answer of the provider in each
// round. The client must see a single answer without the tool.
package weave
