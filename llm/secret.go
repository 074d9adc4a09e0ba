package llm

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a text that must not be shown, such as a key. When a Secret, or a value that
// contains it, is formatted, logged or marshaled, the result has "[secret]" in place of the
// text. Only [Secret.Reveal] returns the text. The zero value means that there is no secret.
type Secret struct {
	// This is a pointer because package fmt prints unexported fields of fields without calling
	// their methods, but does not follow pointers.
	text *string
}

// NewSecret returns a secret text. For "" it returns the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text. Only the code that sends it calls Reveal.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

const masked = "[secret]"

// String returns "[secret]".
func (Secret) String() string { return masked }

// GoString returns "[secret]".
func (Secret) GoString() string { return masked }

// Format writes "[secret]", whatever the verb.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, masked) // package fmt ignores these results, too
}

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }
