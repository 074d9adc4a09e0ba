// Package httpjson posts JSON to one server and reads the reply, whole or as a stream of events.
// The drivers of models use it.
//
// # Requests
//
// A request goes only to its URL: the client follows no redirect and uses no proxy of the
// environment, so that the key and the texts reach no other server.
//
// # Replies
//
// The length of a reply and the time for reading it are limited, and an idle stream is ended. The
// texts of a server's errors are dropped, because they may quote a text or the key.
//
// # Trying again
//
// A request is sent again, a bounded number of times, after status 429 or 5xx, or if the server
// drops the connection before it has answered. The pauses double, are shortened at random, and
// are at least the server's Retry-After; if that is longer than the longest pause, the request
// fails at once. A request whose stream has begun is never sent again, because each answer may
// cost money.
//
// # Errors and concurrency
//
// An error wraps one of the caller's [Errors], or is that of the context. A Client is safe for
// concurrent use.
package httpjson
