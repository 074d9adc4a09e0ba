package api

// The headers of requests and responses. A write that the same actor repeats in the same scope and
// with the same HeaderIdempotency within 24 hours returns the first result and writes nothing; with
// another body, it fails with the status 422.
const (
	HeaderScope       = "Carrel-Scope"    // scope of the request
	HeaderSession     = "Carrel-Session"  // MCP only: the session of the agent
	HeaderIdempotency = "Idempotency-Key" // key of a write
	HeaderRequest     = "Carrel-Request"  // id of the request, also in logs and spans
)

// Prefix is the path prefix of all operations.
const Prefix = "/v1"
