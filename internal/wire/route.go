package wire

import "strings"

// RouteOf returns the dialect and the kind of a request by its method and path. Both are empty
// if the request is of no known kind. The path must not include the base path of a gateway. In
// a path of OpenAI the leading /v1 may be missing, because clients have it in their base URL.
func RouteOf(method, path string) (Dialect, Kind) {
	if method != "POST" {
		return "", ""
	}
	switch path {
	case "/v1/messages":
		return Anthropic, KindCall
	case "/v1/messages/count_tokens":
		return Anthropic, KindCount
	}
	switch strings.TrimPrefix(path, "/v1") {
	case "/chat/completions":
		return Chat, KindCall
	case "/responses":
		return Responses, KindCall
	case "/responses/compact":
		return Responses, KindCompact
	case "/responses/input_tokens":
		return Responses, KindCount
	}
	return "", ""
}
