package upstream

import (
	"fmt"
	"net/http"
)

// A Refusal is the reason why a request got no reply.
type Refusal struct {
	Rule    string // A0 to A17, O0 to O7, R0 to R8, G0 to G9, K1 to K5, W; empty if no rule of the conversation is broken
	Status  int
	Type    string // type of the error, in the service's words
	Code    string // error code that OpenAI sends in addition to the type
	Message string
}

// String returns the refusal on one line.
func (r *Refusal) String() string {
	if r.Rule == "" {
		return fmt.Sprintf("%d %s: %s", r.Status, r.Type, r.Message)
	}
	return fmt.Sprintf("%s: %d %s: %s", r.Rule, r.Status, r.Type, r.Message)
}

// refuse returns a refusal for a rule, with status 400.
func refuse(rule, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// object returns the refusal as the error of a dialect.
func (r *Refusal) object(d Dialect, id string) object {
	if d == DialectGemini {
		return geminiError(r)
	}
	if d == DialectAnthropic {
		return object{"type": "error", "error": object{"type": r.Type, "message": r.Message}, "request_id": id}
	}
	var code any
	if r.Code != "" {
		code = r.Code
	}
	return object{"error": object{"message": r.Message, "type": r.Type, "param": nil, "code": code}}
}
