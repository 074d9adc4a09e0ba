package demo

import (
	"bytes"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// The worked example passes its own checks: seed 002, and what it promises.
func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Assemble(t.Context(), &out, dir, "carrel"); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	told(t, "assemble.txt", out.String())
}

// The artifacts of the support desk were made within the year before the clock of the
// demonstration, and each has an id of its own.
func TestDesk(t *testing.T) {
	ids := make(map[store.ArtifactID]bool)
	for _, a := range desk(clock()) {
		if age := clock().Sub(a.Created); age <= 0 || age > 365*24*time.Hour {
			t.Errorf("%s, %q, has the age %v", a.ID, a.Title, age)
		}
		ids[a.ID] = true
	}
	if len(ids) != deskArtifact {
		t.Errorf("there are %d artifacts, want %d", len(ids), deskArtifact)
	}
}
