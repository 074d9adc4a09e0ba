package llm

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a text that must not be shown, such as a key. However it is
// formatted, logged or marshaled, it gives "[secret]", also as a field of
// another value; only [Secret.Reveal] has the text. The zero value is no
// secret.
type Secret struct {
	// A pointer: package fmt prints the fields of a field that is not
	// exported without asking its methods, but follows no pointer.
	text *string
}

// NewSecret returns a secret text. That of "" is the zero value.
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
	_, _ = io.WriteString(f, masked) // like package fmt, which drops it too
}

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }
