package weave

import (
	"errors"
	"testing"

	"github.com/carrel-dev/carrel/internal/wire"
)

// A reply waits if it has calls of the proxy's tool alone, and the model stopped for them.
func TestRepliesThatWait(t *testing.T) {
	one := []Call{{ID: "1"}}
	for _, tt := range []struct {
		r    Round
		want bool
	}{
		{Round{Calls: one, Stop: "tool_use"}, true},
		{Round{Calls: one, Stop: "tool_calls"}, true},
		{Round{Calls: one, Stop: "completed"}, true},
		{Round{Calls: one, Stop: "stop"}, true},
		{Round{Calls: one, Stop: "max_tokens"}, false},
		{Round{Calls: one}, false},
		{Round{Stop: "tool_use"}, false},
		{Round{Calls: one, Own: []string{"2"}, Stop: "tool_use"}, false},
	} {
		if got := tt.r.Waits(); got != tt.want {
			t.Errorf("%+v waits: %v, want %v", tt.r, got, tt.want)
		}
	}
}

// A reply with a part that is not known is not sent back, in no dialect.
func TestUnknownPartsAreNotSentBack(t *testing.T) {
	for _, d := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
		r := &Round{dialect: d, unsure: true, message: []byte("{}")}
		if got, err := r.Messages(nil); got != nil || !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %s, %v, want ErrUnknown", d, got, err)
		}
		r.unsure = false
		if _, err := r.Messages(nil); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
	if _, err := (&Round{dialect: "other"}).Messages(nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("another dialect: %v, want ErrUnknown", err)
	}
}
