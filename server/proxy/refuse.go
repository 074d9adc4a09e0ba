package proxy

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/carrel-dev/carrel/internal/wire"
)

// A refusal is an error of the proxy itself. It is written in the error format of the client's
// dialect, so that clients show it like an error of the provider.
type refusal struct {
	status int
	kind   string // type of the error, in the providers' names
	text   string
}

// write answers a request with the refusal.
func (f *refusal) write(w http.ResponseWriter, d wire.Dialect) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(f.status)
	_, _ = w.Write(f.body(d)) // an error means that the client is gone
}

type object = map[string]any

// body returns the refusal in the error format of a dialect. Without a dialect the format is
// OpenAI's.
func (f *refusal) body(d wire.Dialect) []byte {
	inner := object{"type": f.kind, "message": "carrel proxy: " + f.text}
	if d == wire.Anthropic {
		return encode(object{"type": "error", "error": inner})
	}
	inner["code"], inner["param"] = f.kind, nil
	return encode(object{"error": inner})
}

// event returns the refusal as an event for a stream that has begun.
func (f *refusal) event(d wire.Dialect) []byte {
	name, data := "event: error\n", f.body(d)
	if d == wire.Responses {
		data = encode(object{"type": "error", "code": f.kind, "message": "carrel proxy: " + f.text, "param": nil})
	}
	if d == wire.Chat {
		name = "" // events of this dialect have no name
	}
	return slices.Concat([]byte(name), []byte("data: "), data, []byte("\n\n"))
}

func encode(o object) []byte {
	data, err := json.Marshal(o)
	if err != nil {
		return []byte("{}") // unreachable: the object has only strings and nil
	}
	return data
}

var (
	refusedUpgrade = &refusal{
		http.StatusUpgradeRequired, "invalid_request_error",
		"websockets do not pass, because the proxy cannot read them: set supports_websockets = false for the provider in the settings of Codex, or start it with carrel run -- codex",
	}
	refusedPath = &refusal{
		http.StatusNotFound, "not_found_error",
		"neither the path nor the headers tell the provider, and a key must not go to the wrong one: begin the path with " + PathAnthropic + " or " + PathOpenAI,
	}
	refusedIntent = &refusal{
		http.StatusServiceUnavailable, "api_error",
		"the call could not be recorded, as the setting proxy.audit requires: nothing was sent; check the store with carrel doctor",
	}
	refusedOutcome = &refusal{
		http.StatusServiceUnavailable, "api_error",
		"the outcome of the call could not be recorded, as the setting proxy.audit requires: check the store with carrel doctor",
	}
	refusedRound = &refusal{http.StatusBadGateway, "api_error", "send the request again, as the answer could not go on after a recall"}
	refusedDial  = &refusal{http.StatusBadGateway, "api_error", "the provider could not be reached or did not answer: check the network and the upstream in the settings of the proxy"}
	refusedIdle  = &refusal{http.StatusGatewayTimeout, "timeout_error", "the provider sent nothing for too long: send the request again"}
)
