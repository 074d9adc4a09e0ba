package chat

import (
	"cmp"
	"fmt"

	"github.com/carrel-dev/carrel/transcript"
)

// Violations collects the reasons for which a provider would refuse a body.
type Violations struct {
	List  string // key of the list of messages; "messages" if it is empty
	Found []transcript.Violation
}

// Report adds a violation of a rule by the message with the index message, or by the whole body if
// message is -1.
func (v *Violations) Report(rule string, message int, format string, args ...any) {
	one := transcript.Violation{Rule: rule, Message: message, Text: fmt.Sprintf(format, args...)}
	if message >= 0 {
		one.Field = fmt.Sprintf("%s.%d", cmp.Or(v.List, "messages"), message)
	}
	v.Found = append(v.Found, one)
}
