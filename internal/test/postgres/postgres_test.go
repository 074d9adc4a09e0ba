package postgres

import (
	"strconv"
	"strings"
	"testing"
)

// Each test has a database of its own, as a role that may do no more than it has to.
func TestDatabases(t *testing.T) {
	c := One(t)
	a, b := c.Database(t), c.Database(t)
	c.SQL(t, a, "CREATE TABLE x (y int)")
	if got := c.SQL(t, b, "SELECT count(*) FROM pg_tables WHERE tablename = 'x'"); got != "0" {
		t.Errorf("another database has %s tables of this one", got)
	}
	if got := c.SQL(t, a, "SELECT rolsuper OR rolbypassrls OR rolcreatedb FROM pg_roles WHERE rolname = 'carrel'"); got != "f" {
		t.Errorf("the role may do more than it has to: %s", got)
	}
	if !strings.HasPrefix(a, "postgres://carrel@/t") {
		t.Errorf("the address is %s", a)
	}
}

// A cluster with a setting has it, and is gone with its test.
func TestSettings(t *testing.T) {
	c := Start(t, "fsync=off")
	if got := c.SQL(t, "postgres", "SHOW fsync"); got != "off" {
		t.Errorf("fsync is %s", got)
	}
}

// A cluster that is stopped, or that crashes, is there again afterwards with what was committed.
func TestRestart(t *testing.T) {
	c := Start(t)
	c.SQL(t, "postgres", "CREATE TABLE kept (n int)")
	for i, mode := range []string{"fast", "immediate", "immediate"} {
		before := c.SQL(t, "postgres", "INSERT INTO kept VALUES (1); SELECT pg_postmaster_start_time()")
		c.Restart(t, mode)
		if after := c.SQL(t, "postgres", "SELECT pg_postmaster_start_time()"); after == before {
			t.Errorf("%s: the server was not started again", mode)
		}
		if got, want := c.SQL(t, "postgres", "SELECT count(*) FROM kept"), strconv.Itoa(i+1); got != want {
			t.Errorf("%s: %s rows, want %s", mode, got, want)
		}
	}
}
