package hook

import (
	"errors"
	"testing"
)

// Every agent's reader says whether the input that is no event was empty.
func TestInputThatIsNoEvent(t *testing.T) {
	for name, tt := range map[string]struct {
		agent Dialect
		event string
	}{
		"claude":   {claude{}, "UserPromptSubmit"},
		"codex":    {codex{}, "UserPromptSubmit"},
		"gemini":   {geminiCLI{}, "BeforeAgent"},
		"opencode": {openCode{}, "session.idle"},
	} {
		for input, empty := range map[string]bool{"": true, "{": false} {
			_, err := tt.agent.read(tt.event, []byte(input), 1000)
			bad, ok := errors.AsType[*EventError](err)
			if !ok || bad.Empty != empty || bad.Event != tt.event {
				t.Errorf("%s of %q: %+v, want an EventError of %s with Empty %t", name, input, err, tt.event, empty)
			}
		}
	}
}
