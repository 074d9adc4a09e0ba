package proxy

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/carrel-dev/carrel/internal/wire"
)

// A refusal is what the proxy says itself, in the words of a dialect, so that clients show
// it as they show what a provider says.
type refusal struct {
	status int
	kind   string // of the error, as both providers name kinds
	text   string
}

// write answers a request.
func (f *refusal) write(w http.ResponseWriter, d wire.Dialect) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(f.status)
	_, _ = w.Write(f.body(d)) // whoever does not wait for it has no use for it
}

type object = map[string]any

// body returns the error of a dialect. What is of none gets that of OpenAI.
func (f *refusal) body(d wire.Dialect) []byte {
	inner := object{"type": f.kind, "message": "carrel proxy: " + f.text}
	if d == wire.Anthropic {
		return encode(object{"type": "error", "error": inner})
	}
	inner["code"], inner["param"] = f.kind, nil
	return encode(object{"error": inner})
}

// event returns the error as an event of a stream that has begun.
func (f *refusal) event(d wire.Dialect) []byte {
	name, data := "event: error\n", f.body(d)
	if d == wire.Responses {
		data = encode(object{"type": "error", "code": f.kind, "message": "carrel proxy: " + f.text, "param": nil})
	}
	if d == wire.Chat {
		name = "" // its events have none
	}
	return slices.Concat([]byte(name), []byte("data: "), data, []byte("\n\n"))
}

func encode(o object) []byte {
	data, err := json.Marshal(o)
	if err != nil {
		return []byte("{}") // it has nothing but texts
	}
	return data
}

var (
	refusedUpgrade = &refusal{
		http.StatusUpgradeRequired, "invalid_request_error",
		"websockets do not pass, as nobody could read them: set supports_websockets = false for the provider in the settings of Codex, or start it with carrel run -- codex",
	}
	refusedPath = &refusal{
		http.StatusNotFound, "not_found_error",
		"nothing tells for which provider this is, and a key must not go to another: begin the path with " + PathAnthropic + " or " + PathOpenAI,
	}
	refusedIntent = &refusal{
		http.StatusServiceUnavailable, "api_error",
		"the call could not be recorded, and the setting proxy.audit wants that: nothing was sent",
	}
	refusedOutcome = &refusal{
		http.StatusServiceUnavailable, "api_error",
		"the outcome of the call could not be recorded, and the setting proxy.audit wants that",
	}
	refusedRound = &refusal{http.StatusBadGateway, "api_error", "the answer could not go on behind what was recalled"}
	refusedDial  = &refusal{http.StatusBadGateway, "api_error", "the provider did not answer"}
	refusedIdle  = &refusal{http.StatusGatewayTimeout, "timeout_error", "nothing came from the provider for too long"}
)
