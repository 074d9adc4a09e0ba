package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/storetest"
)

// noWall turns off row-level security for all tables of a database.
func noWall(t *testing.T, address string) {
	t.Helper()
	postgres.One(t).SQL(t, address, `
		DO $$
		DECLARE name text;
		BEGIN
			FOR name IN SELECT tablename FROM pg_policies LOOP
				EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
			END LOOP;
		END $$`)
}

// nameOf returns the name of the database at an address.
func nameOf(address string) string {
	name, _, _ := strings.Cut(address[strings.LastIndex(address[:strings.Index(address, "?")], "/")+1:], "?")
	return name
}

// The condition on the scope and row-level security each separate scopes without the other: queries
// in one scope find nothing of another. As a control, the same queries find it without both.
func TestEachWallHoldsAlone(t *testing.T) {
	for _, tt := range []struct {
		name           string
		filter, policy bool
		leaks          bool
	}{
		{"both walls", true, true, false},
		{"the filter alone", true, false, false},
		{"row-level security alone", false, true, false},
		{"neither", false, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := postgres.One(t).Database(t)
			s := openStore(t, address)
			storetest.Fill(t, s, "theirs")
			if !tt.policy {
				noWall(t, address)
			}
			if !tt.filter {
				s.unfiltered()
			}
			leaks := storetest.Leaks(t, s, "theirs", "mine")
			if tt.leaks != (len(leaks) > 0) {
				t.Errorf("queries that found records of another scope: %q; want some: %v", leaks, tt.leaks)
			}
			if tt.leaks && len(leaks) < 15 {
				t.Errorf("without any wall only %q found records of another scope: the queries prove nothing", leaks)
			}
		})
	}
}

// Every statement on a table with a column scope has the condition on the scope in the form that
// filter matches, so that unfiltered removes it from all of them.
func TestEveryStatementSaysItsScope(t *testing.T) {
	scopeless := regexp.MustCompile(`\b(FROM|UPDATE|INTO|JOIN) (token|migration|scope|pg_\w+|unnest|made|information_schema)\b`)
	aboutRows := regexp.MustCompile(`\b(FROM|UPDATE|JOIN) [a-z_]+`)
	literals := regexp.MustCompile("(?s)`[^`]*`")
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range literals.FindAllString(string(text), -1) {
			if !aboutRows.MatchString(sql) || strings.HasSuffix(strings.TrimSpace(strings.Trim(sql, "`")), "FROM session") ||
				strings.HasSuffix(strings.Trim(sql, "`"), "FROM block") || scopeless.MatchString(sql) && !strings.Contains(sql, "scope") {
				continue
			}
			seen++
			if !filter.MatchString(sql) && !scopeless.MatchString(sql) {
				t.Errorf("%s: a statement without a scope: %s", f.Name(), sql)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d statements were seen", seen)
	}
}

// A transaction without a scope fails when it reads or writes a table with a column scope.
func TestNoScopeIsAnError(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	storetest.Fill(t, s, "theirs")
	for _, sql := range []string{`SELECT count(*) FROM cell`, `DELETE FROM statement`, `INSERT INTO version VALUES ('x', 1, 1)`} {
		err := s.transact(t.Context(), noScope, writing, func(t *tx) error {
			t.do("", sql)
			return t.flush()
		})
		if err == nil {
			t.Errorf("%s without a scope succeeds", sql)
		}
	}
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("afterwards: %q, %v", problems, err)
	}
}

// A transaction of one scope cannot write rows of another scope.
func TestWritesStayInTheirScope(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	err := s.transact(t.Context(), in("mine"), writing, func(t *tx) error {
		t.do("", `INSERT INTO version (scope, version, seq) VALUES ($1, 1, 1)`, raw(governance.Scope("theirs")))
		return t.flush()
	})
	if codeOf(err) != codeNoPrivilege {
		t.Errorf("a row of another scope: %v, want it refused", err)
	}
}

func TestPreflight(t *testing.T) {
	c := postgres.One(t)
	address := c.Database(t)
	openStore(t, address)
	name := nameOf(address)
	for _, tt := range []struct{ name, spoil, mend, want string }{
		{"acknowledging early", "ALTER DATABASE %s SET synchronous_commit = off", "ALTER DATABASE %s RESET synchronous_commit", "synchronous_commit is off"},
		{"a table without the wall", "ALTER TABLE cell DISABLE ROW LEVEL SECURITY", "ALTER TABLE cell ENABLE ROW LEVEL SECURITY", "row-level security of table cell is off"},
		{"an owner whom row-level security does not bind", "ALTER TABLE block NO FORCE ROW LEVEL SECURITY", "ALTER TABLE block FORCE ROW LEVEL SECURITY", "does not bind the owner of table block"},
		{"another policy beside it", "CREATE POLICY all_of_them ON call USING (true)", "DROP POLICY all_of_them ON call", "row-level security of table call is off, or has other policies"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			do := func(sql string) {
				if strings.Contains(sql, "%s") {
					sql = fmt.Sprintf(sql, name)
				}
				c.SQL(t, address, sql)
			}
			do(tt.spoil)
			refused(t, address, tt.want)
			do(tt.mend)
			openStore(t, address)
		})
	}
	t.Run("a superuser", func(t *testing.T) { refused(t, c.Superuser(t, address), "postgres is a superuser") })
	t.Run("a role that it does not bind", func(t *testing.T) {
		c.SQL(t, "postgres", "CREATE ROLE free LOGIN BYPASSRLS")
		refused(t, c.Address("free", name), "ALTER ROLE free NOBYPASSRLS")
	})
	t.Run("a server that does not wait for its disk", func(t *testing.T) {
		refused(t, postgres.Start(t, "fsync=off").Database(t), "fsync is off")
	})
}

// refused checks that a store cannot be opened, and that the error says why.
func refused(t *testing.T, address, want string) {
	t.Helper()
	s, err := Open(t.Context(), address, nil)
	if err == nil {
		_ = s.Close() // the test fails below
	}
	if unsafe := (*UnsafeError)(nil); !errors.As(err, &unsafe) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want an UnsafeError with %q", err, want)
	}
}

func TestUnsafe(t *testing.T) {
	off, on := new("off"), new("on")
	sound := facts{version: 150_014, fsync: on, fullPageWrites: on, synchronous: on, role: "carrel"}
	for _, tt := range []struct {
		name   string
		change func(*facts)
		want   string // part of the problem; empty for none
	}{
		{"a sound server", func(*facts) {}, ""},
		{"a future version", func(f *facts) { f.version = 190_000 }, ""},
		{"a server without these settings", func(f *facts) { f.fsync, f.fullPageWrites, f.synchronous = nil, nil, nil }, ""},
		{"one that waits for its standby", func(f *facts) { f.synchronous = new("remote_apply") }, ""},
		{"one that is too old", func(f *facts) { f.version = 130_022 }, "PostgreSQL 13.22 is too old"},
		{"one that leaks", func(f *facts) { f.version = 150_013 }, "upgrade it to 15.14"},
		{"no fsync", func(f *facts) { f.fsync = off }, "fsync is off"},
		{"torn pages", func(f *facts) { f.fullPageWrites = off }, "full_page_writes is off"},
		{"early acknowledgment", func(f *facts) { f.synchronous = off }, "ALTER ROLE carrel SET synchronous_commit = on"},
		{"a superuser", func(f *facts) { f.super = true }, "is a superuser"},
		{"a role that is not bound", func(f *facts) { f.bypass = true }, "NOBYPASSRLS"},
	} {
		f := sound
		tt.change(&f)
		if got := f.unsafe(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A role that owns no table, but can read and write rows, can open a store with the newest schema.
func TestRoleWithGrants(t *testing.T) {
	c := postgres.One(t)
	address := c.Database(t)
	openStore(t, address)
	name := nameOf(address)
	c.SQL(t, address, `CREATE ROLE worker LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO worker`)
	t.Cleanup(func() { c.SQL(t, address, `DROP OWNED BY worker; DROP ROLE worker`) })
	s := openStore(t, c.Address("worker", name))
	storetest.Fill(t, s, "mine")
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
}

// Neither errors about an address nor Info contain the password.
func TestPasswordsAreNotShown(t *testing.T) {
	const password = "Hx7-open-sesame"
	c := postgres.One(t)
	address := strings.Replace(c.Database(t), "carrel@", "carrel:"+password+"@", 1)
	s := openStore(t, address)
	info, err := s.Info(t.Context())
	if err != nil || strings.Contains(info.Path, password) || !strings.HasPrefix(info.Path, "postgres://carrel@") {
		t.Errorf("Info: %+v, %v", info, err)
	}
	for _, address := range []string{
		"postgres://u:" + password + "@/%zz", "postgres://u:" + password + "/x@h/d", "postgres://u:" + password + "@h:port/d",
		"postgres://u:" + password + "@/d?host=/nowhere", "postgres://u@/d?host=/nowhere&password=" + password,
		"postgres://u:" + password + "@/d?host=/nowhere&sslmode=perhaps", "host=/nowhere password=" + password,
	} {
		s, err := Open(t.Context(), address, &Options{Patience: 1})
		if err == nil {
			t.Fatalf("%s is opened: %v", address, s.Close())
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("the error of %s shows the password: %v", address, err)
		}
	}
}

// Errors distinguish an unreachable server, a missing database, a missing role, a newer schema and a
// read-only database, and say what to do.
func TestTroubles(t *testing.T) {
	c := postgres.One(t)
	quick := &Options{Patience: 1}
	for _, tt := range []struct {
		name, address string
		want          error
		next          string
	}{
		{"no server", "postgres://carrel@/d?host=/nowhere", store.ErrUnreachable, nextReach},
		{"no database", c.Address("carrel", "none"), store.ErrUnreadable, nextDatabase},
		{"no role", c.Address("nobody", "postgres"), store.ErrUnreadable, nextLogin},
	} {
		_, err := Open(t.Context(), tt.address, quick)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.next) {
			t.Errorf("%s: %v, want %v, and %q", tt.name, err, tt.want, tt.next)
		}
	}
	address := c.Database(t)
	s := openStore(t, address)
	c.SQL(t, address, `INSERT INTO migration VALUES (1000, 'later.sql')`)
	_, err := Open(t.Context(), address, quick)
	if newer, ok := errors.AsType[*store.SchemaError](err); !ok || newer.Have != 1000 {
		t.Errorf("a newer schema: %v, want a SchemaError", err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
	name := nameOf(address)
	c.SQL(t, address, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	s.pool.Reset()
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Ready of a read-only database: %v, want ErrReadOnly", err)
	}
}

// A check that cannot look at row-level security fails: it does not pass for one without problems.
func TestCheckWithoutALookAtTheWalls(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.rewrite = func(statement string) string {
		if statement == selectWalls {
			return `SELECT 1/0`
		}
		return statement
	}
	if problems, err := s.Check(t.Context()); err == nil {
		t.Errorf("Check without the tables: %q, want an error", problems)
	}
}

// An error is told as what it means, and repeated where that may help.
func TestWhatErrorsMean(t *testing.T) {
	s := &database{address: "postgres://h/d"}
	for code, want := range map[string]error{
		codeNoLock: store.ErrBusy, codeSerialization: store.ErrBusy, codeDeadlock: store.ErrBusy, codeReadOnly: store.ErrReadOnly,
		codeNoPassword: store.ErrUnreadable, codeNoSuchRole: store.ErrUnreadable, codeNoDatabase: store.ErrUnreadable, codeNoPrivilege: store.ErrUnreadable,
		codeDiskFull: store.ErrFull, codeIO: store.ErrFailing, codeDamaged: store.ErrCorrupt, codeDamagedIndex: store.ErrCorrupt,
		codeShutdown: store.ErrUnreachable, codeCrash: store.ErrUnreachable, codeStarting: store.ErrUnreachable,
		codeIdleTooLong: store.ErrUnreachable, codeManyConns: store.ErrUnreachable, "08006": store.ErrUnreachable,
	} {
		err := fmt.Errorf("it fails: %w", &pgconn.PgError{Code: code})
		if got := s.explain(err); !errors.Is(got, want) || codeOf(got) != code {
			t.Errorf("code %s: %v, want %v", code, got, want)
		}
		if lost, conflict := isLost(err), isConflict(err); lost != errors.Is(want, store.ErrUnreachable) || conflict != (code == codeSerialization || code == codeDeadlock) {
			t.Errorf("code %s: the connection is lost: %t, another transaction was first: %t", code, lost, conflict)
		}
	}
	for _, err := range []error{nil, context.Canceled, &pgconn.PgError{Code: codeTooLong}, &troubleError{Kind: store.ErrFull}} {
		if got := s.explain(err); got != err { //nolint:errorlint // the very error
			t.Errorf("%v is told as %v", err, got)
		}
	}
	if err := s.explain(puddle.ErrClosedPool); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed pool is told as %v", err)
	}
	if err := s.explain(&lostError{context.Canceled}); !errors.Is(err, context.Canceled) || err.Error() != "the connection is lost: context canceled" {
		t.Errorf("what a caller ended is told as %v", err)
	}
	if got := withoutPassword("postgres://" + "u:secret@/%zz"); got != "postgres" {
		t.Errorf("an address that cannot be parsed is shown as %q", got)
	}
	if got := reason(errors.New("secret")); got != "it cannot be parsed as a URL" {
		t.Errorf("an unknown error of an address is shown as %q", got)
	}
}

// A call is the same only if all that recording it writes is the same.
func TestSameCall(t *testing.T) {
	begun := store.Call{ID: "c", State: store.CallIntent, Session: "s", Begun: time.UnixMilli(1), Intent: []byte("{}")}
	done := store.Call{ID: "c", State: store.CallDone, Ended: time.UnixMilli(2), Outcome: []byte("{}")}
	there := begun
	there.State, there.Ended, there.Outcome = done.State, done.Ended, done.Outcome
	for name, tt := range map[string]struct {
		call   store.Call
		change func(c *store.Call)
		want   bool
	}{
		"a beginning":       {begun, func(*store.Call) {}, true},
		"another session":   {begun, func(c *store.Call) { c.Session = "t" }, false},
		"another beginning": {begun, func(c *store.Call) { c.Begun = time.UnixMilli(9) }, false},
		"another intent":    {begun, func(c *store.Call) { c.Intent = []byte("[]") }, false},
		"an end":            {done, func(*store.Call) {}, true},
		"another state":     {done, func(c *store.Call) { c.State = store.CallFailed }, false},
		"another end":       {done, func(c *store.Call) { c.Ended = time.UnixMilli(9) }, false},
		"another outcome":   {done, func(c *store.Call) { c.Outcome = []byte("[]") }, false},
	} {
		tt.change(&tt.call)
		if got := sameCall(&tt.call, &there); got != tt.want {
			t.Errorf("%s: the same: %t, want %t", name, got, tt.want)
		}
	}
}

// A row of a cell that is damaged is told to be so, and its body is not read.
func TestCellsThatAreDamaged(t *testing.T) {
	s, full, short := &database{address: "postgres://h/d"}, make([]byte, digest.Size), make([]byte, 3)
	for name, tt := range map[string]struct {
		row  *cellRow
		want error
	}{
		"no row":                         {nil, store.ErrNotFound},
		"a purged cell":                  {&cellRow{state: cellPurged, commitment: full}, store.ErrGone},
		"a purged one, a commitment cut": {&cellRow{state: cellPurged, commitment: short}, store.ErrCorrupt},
		"a commitment cut":               {&cellRow{commitment: short, salt: full}, store.ErrCorrupt},
		"a salt cut":                     {&cellRow{commitment: full, salt: short}, store.ErrCorrupt},
		"another body":                   {&cellRow{commitment: full, salt: full, body: short}, store.ErrCorrupt},
		"another body, and a blob":       {&cellRow{commitment: full, salt: full, body: short, blob: "3-x"}, store.ErrCorrupt},
		"a blob":                         {&cellRow{commitment: full, salt: full, blob: "3-x"}, store.ErrUnreadable},
	} {
		if _, err := s.cell(map[store.CellID]*cellRow{"c": tt.row}, "c"); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	for n, want := range map[int]int{longWord: longWord, longWord + 1: 1 + digest.Size} {
		if got := len(wordOf(strings.Repeat("a", n))); got != want {
			t.Errorf("a word of %d bytes has %d in the index, want %d", n, got, want)
		}
	}
}
