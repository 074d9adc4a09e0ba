package api

// The headers of requests and responses.
const (
	HeaderScope       = "Carrel-Scope"    // whose context it is
	HeaderSession     = "Carrel-Session"  // of MCP: the session that the agent is in
	HeaderIdempotency = "Idempotency-Key" // the same key means the same write, which is made once
	HeaderRequest     = "Carrel-Request"  // id of the request, in logs and spans, too
)

// Prefix is what all paths of operations begin with.
const Prefix = "/v1"
