package config

import (
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/token"
)

// Hook sets the options of hooks by the settings.
func (s *Settings) Hook(o *hook.Options) {
	o.Scope = s.Scope()
	o.Large = int(get[Size](s, "hook.large"))
	o.Pointer, o.Brief = get[token.Count](s, "hook.pointer"), get[token.Count](s, "hook.brief")
	o.Memory = get[token.Count](s, "hook.memory")
	o.Limit = time.Duration(get[Duration](s, "hook.limit"))
	o.Secrets = get[bool](s, "hook.secrets")
}

// readMemory reads the size of the memory of earlier sessions.
func readMemory(l literal) (any, error) {
	if n, ok := l.whole(0); ok && (n == 0 || token.Count(n) >= hook.LeastMemory) {
		return token.Count(n), nil
	}
	return nil, fmt.Errorf("wants 0 for none, or a number of tokens of at least %d", hook.LeastMemory)
}

// readTokensFrom returns a reader for a number of tokens that is equal to low or higher.
func readTokensFrom(low token.Count) func(literal) (any, error) {
	return func(l literal) (any, error) {
		if n, ok := l.whole(int64(low)); ok {
			return token.Count(n), nil
		}
		return nil, fmt.Errorf("wants a number of tokens of at least %d", low)
	}
}
