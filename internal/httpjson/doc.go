// Package httpjson posts JSON to one server and reads what comes back, as a whole
// or as a stream of events. It is what the drivers of models have in common.
//
// # What is sent, and where
//
// A request goes to the URL that it is for and nowhere else: no redirect is
// followed and no proxy is taken from the environment, so that a key and a text
// reach only who they are meant for.
//
// # What is read
//
// Replies are read up to a number of bytes and for a limited time, and a stream
// that says nothing more for a while ends. Whatever else a server says, in errors
// above all, is dropped: it may repeat a text or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, if the server says that it
// is overloaded (429) or broken (5xx), or drops the connection before it has
// answered. The pauses double, are shortened at random, and follow the server's
// Retry-After; if that asks for more patience than there is, the request fails at
// once. What has begun to answer in a stream is never asked again: each answer
// may cost.
//
// # Errors and concurrency
//
// An error wraps one of those in [Errors], which the caller brings along, or is
// that of the context, if it is done. A Client is safe for concurrent use.
package httpjson
