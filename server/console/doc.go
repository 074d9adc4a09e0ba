// Package console shows what is in a store as pages that a browser reads: sessions and their
// windows, why each block is where it is, calls, contexts, cost, memories that wait for a person.
//
// Pages are made by the server. Style and keys come from the server, too, and nothing comes from
// elsewhere: the pages work without script, and with a Content-Security-Policy that allows no
// inline script and no foreign address. Whatever a conversation says is text.
//
// Each page has a URL that stays, a twin as JSON (the same URL with format=json) which is the
// result of the engine's method, and the command that shows the same.
//
// # Who may look
//
// A [Console] is behind a door of package auth of its own, which finds the credential of a
// request by its cookie. The page for signing in sets that, given a credential. Host and origin
// are checked. What is shown, and what may be changed, is what the grant of the credential
// allows, and nothing can be changed unless [Options.AllowWrite] is set.
package console
