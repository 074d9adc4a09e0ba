// Package console shows the content of a store as web pages: sessions and their windows, the
// reason for the state of each block, calls, contexts, cost, and memories that wait for a review.
//
// The server renders the pages. They load style and script only from the server, work without
// script, and have a Content-Security-Policy that forbids inline script and other hosts. Content
// of conversations is always shown as text.
//
// Each page has a permanent URL, a JSON form (the same URL with format=json) with the same content,
// and shows the command for the same result.
//
// # Access
//
// A [Console] has its own [auth.Door], which finds the credential of a request by its cookie. The
// sign-in page sets the cookie for a valid credential. The door checks Host and origin. The grant
// of the credential decides what a person may see and change, and nothing can be changed unless
// [Options.AllowWrite] is set.
package console
