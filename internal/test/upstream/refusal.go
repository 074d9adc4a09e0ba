package upstream

import (
	"fmt"
	"net/http"
)

// A Refusal is why a request got no reply.
type Refusal struct {
	Rule    string // A0 to A17, O0 to O7, K1 to K4; empty where no rule of the conversation is broken
	Status  int
	Type    string // of the error, as the service names it
	Message string
}

// String returns it on one line.
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
