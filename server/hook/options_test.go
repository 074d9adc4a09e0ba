package hook

import (
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// What is set holds, field by field, and nothing else than what is not set gets its
// default.
func TestOptionsComplete(t *testing.T) {
	def := (&Options{}).complete()
	if def.Scope != governance.DefaultScope || def.Large != 25_000 || def.Limit != 5*time.Second || def.Pointer != 0 || def.Brief != 0 || def.Note == nil || def.Secrets {
		t.Errorf("defaults are %+v", def)
	}
	noted := false
	set := (&Options{Scope: "team/app/agent", Large: 1, Limit: time.Hour, Pointer: 2, Brief: 3, Secrets: true, Note: func(error) { noted = true }}).complete()
	if set.Note(nil); !noted {
		t.Error("notes go to somewhere else")
	}
	if set.Scope != "team/app/agent" || set.Large != 1 || set.Limit != time.Hour || set.Pointer != 2 || set.Brief != 3 || !set.Secrets {
		t.Errorf("got %+v, want what was set", set)
	}
	if part := (&Options{Large: 1}).complete(); part.Scope != governance.DefaultScope || part.Large != 1 || part.Limit != DefaultLimit {
		t.Errorf("got %+v, want one field as it was set", part)
	}
}
