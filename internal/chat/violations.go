package chat

import (
	"cmp"
	"fmt"

	"github.com/carrel-dev/carrel/transcript"
)

// Violations collects for which reasons a provider would refuse a body.
type Violations struct {
	List  string // key of the list of messages; "messages" if it is empty
	Found []transcript.Violation
}

// Report notes one, of a message by its index, or of the body as a whole if that is -1.
func (v *Violations) Report(rule string, message int, format string, args ...any) {
	one := transcript.Violation{Rule: rule, Message: message, Text: fmt.Sprintf(format, args...)}
	if message >= 0 {
		one.Field = fmt.Sprintf("%s.%d", cmp.Or(v.List, "messages"), message)
	}
	v.Found = append(v.Found, one)
}
