package cli

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// A store that lacks rows has problems: lines for a person, entries of one problem document for a
// program, and never an "ok".
func TestCheckTellsDamage(t *testing.T) {
	s := newDesk(t)
	path := strings.TrimSpace(s.run(0, "store", "info", "--jq", ".path"))
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA foreign_keys = OFF; DELETE FROM block_cell"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.run(exitIntegrity, "store", "check"); got == "" || strings.Contains(got, "ok\n") {
		t.Errorf("a person reads %q", got)
	}
	got := s.run(exitIntegrity, "store", "check", "--json")
	var problem struct {
		Status   int
		Problems []string
	}
	if err := json.Unmarshal([]byte(got), &problem); err != nil || problem.Status != exitIntegrity || len(problem.Problems) == 0 {
		t.Errorf("a program reads %s, want one problem document (%v)", got, err)
	}
}
