package api

// The headers of requests and responses.
const (
	HeaderScope       = "Carrel-Scope"    // scope of the request
	HeaderSession     = "Carrel-Session"  // MCP only: the session of the agent
	HeaderIdempotency = "Idempotency-Key" // requests with equal keys are one write
	HeaderRequest     = "Carrel-Request"  // id of the request, also in logs and spans
)

// Prefix is the path prefix of all operations.
const Prefix = "/v1"
