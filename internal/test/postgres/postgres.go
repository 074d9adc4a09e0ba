// Package postgres starts PostgreSQL for tests: a cluster in a temporary directory, on a socket
// in it, without port and password. Each test binary has one cluster, and each test a database
// in it.
//
// No test stops the cluster. A shell reads a pipe that the test binary holds open. When the
// binary ends in any way, the shell stops the cluster and removes the directory. PostgreSQL
// refuses to run as root, so a test that runs as root starts it as another user of the machine.
//
// Without PostgreSQL a test is skipped with the reason, or fails if CARREL_CI is set. The
// programs are in the directory CARREL_TEST_POSTGRES, or else the newest of Debian, or those in
// the PATH.
//
// The package is for tests only.
package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// superuser owns the cluster; tests use the role.
const (
	superuser = "postgres"
	role      = "carrel"
)

// A T is a running test: a *testing.T, or the test object of a property test.
//
//nolint:interfacebloat // it is what both have
type T interface {
	Helper()
	Cleanup(f func())
	Skip(args ...any)
	Error(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A Cluster is a running PostgreSQL.
type Cluster struct {
	bin   string // directory of its programs
	dir   string // directory of its data and its socket
	as    *user.User
	alive io.Closer // this end of the pipe to the script keep; the system closes it when the test binary ends
	last  atomic.Int64

	restarts sync.Mutex

	mu   sync.Mutex
	free []string // addresses of databases that no test uses
}

var shared = sync.OnceValues(func() (*Cluster, error) { return start() })

// New returns the address of a database for one test. Its tables, if it has any, are empty. Its
// owner is a role that may neither bypass row-level security nor create databases. After the
// test another test gets the database, because emptying tables is faster than creating them.
func New(t T) string {
	t.Helper()
	c := One(t)
	address, ok := c.takeFree()
	if !ok {
		address = c.create(t)
	}
	t.Cleanup(func() {
		c.SQL(t, address, empty)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.free = append(c.free, address)
	})
	return address
}

// empty deletes all rows of all tables, except the rows about the schema. It does not
// check foreign keys while it deletes.
const empty = `
SET session_replication_role = replica;
DO $$
DECLARE name text;
BEGIN
	FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration' LOOP
		EXECUTE format('DELETE FROM %I', name);
	END LOOP;
END $$`

func (c *Cluster) takeFree() (address string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.free) == 0 {
		return "", false
	}
	last := len(c.free) - 1
	address, c.free = c.free[last], c.free[:last]
	return address, true
}

// One returns the cluster of the test binary.
func One(t T) *Cluster {
	t.Helper()
	return must(t, shared)
}

// Start returns a cluster with settings such as "fsync=off", for one test.
func Start(t T, settings ...string) *Cluster {
	t.Helper()
	c := must(t, func() (*Cluster, error) { return start(settings...) })
	t.Cleanup(func() {
		if err := c.alive.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func must(t T, start func() (*Cluster, error)) *Cluster {
	t.Helper()
	c, err := start()
	if missing := (*missingError)(nil); errors.As(err, &missing) && os.Getenv("CARREL_CI") == "" {
		t.Skip("not tested on PostgreSQL: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Database returns the address of a new database of the cluster without tables. It is dropped
// after the test.
func (c *Cluster) Database(t T) string {
	t.Helper()
	address := c.create(t)
	t.Cleanup(func() { c.SQL(t, "postgres", "DROP DATABASE "+nameOf(t, address)+" WITH (FORCE)") })
	return address
}

func (c *Cluster) create(t T) (address string) {
	t.Helper()
	name := fmt.Sprintf("t%d", c.last.Add(1))
	c.SQL(t, "postgres", "CREATE DATABASE "+name+" OWNER "+role+" TEMPLATE template0")
	return c.Address(role, name)
}

// Address returns the address of a database for a role.
func (c *Cluster) Address(role, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: url.Values{"host": {c.dir}}.Encode()}
	return u.String()
}

// Superuser returns the address of the same database for the superuser.
func (c *Cluster) Superuser(t T, address string) string {
	t.Helper()
	return c.Address(superuser, nameOf(t, address))
}

// SQL runs statements as the superuser in a database, given by its name or its address, and
// returns their output, one row on each line.
func (c *Cluster) SQL(t T, database, statements string) string {
	t.Helper()
	if strings.Contains(database, "://") {
		database = nameOf(t, database)
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.bin, "psql"), "-XAtqv", "ON_ERROR_STOP=1", "-h", c.dir, "-U", superuser, "-d", database)
	cmd.Stdin = strings.NewReader(statements)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("psql: %v: %s", err, said.String())
	}
	return strings.TrimSpace(out.String())
}

func nameOf(t T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

// A missingError means that this machine lacks a part of PostgreSQL. The field
// what names the part.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

// keep is a shell script that runs the server and ends it when the test binary has ended: the
// script then reads the end of the pipe on its standard input. Its arguments are the program of
// the server, the directory of the cluster, and the arguments of the program. If the server
// ends while there is a file "again", the script starts it again.
//
// A shell gives background commands no standard input, so the script first copies the pipe to
// descriptor 3. A server that has only just started ignores SIGQUIT, so SIGKILL follows after
// two seconds.
const keep = `
program=$1 dir=$2
shift 2
exec 3<&0
serve() {
	"$program" "$@" </dev/null >>"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
	wait $!
}
(cat <&3 >/dev/null; : >"$dir/over"; kill -QUIT $(cat "$dir/pid"); sleep 2; kill -KILL $(cat "$dir/pid")) 2>/dev/null &
serve "$@"
while [ ! -e "$dir/over" ] && rm "$dir/again" 2>/dev/null; do serve "$@"; done
rm -rf "$dir"
`

// Restart ends the server and starts it again. The mode is that of pg_ctl: "fast" breaks
// connections and writes everything to its files; "immediate" is a crash, after which the server
// recovers from its log. It returns when the server takes connections again.
func (c *Cluster) Restart(t T, mode string) {
	t.Helper()
	c.restarts.Lock()
	defer c.restarts.Unlock()
	again := filepath.Join(c.dir, "again")
	if err := os.WriteFile(again, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := c.command("pg_ctl", "stop", "-W", "-D", filepath.Join(c.dir, "data"), "-m", mode).CombinedOutput(); err != nil {
		t.Fatalf("pg_ctl stop: %v: %s", err, out)
	}
	const pause = 10 * time.Millisecond
	for left := time.Minute; ; left -= pause { // until the shell has seen the end
		if _, err := os.Stat(again); err != nil {
			break
		}
		if left <= 0 {
			t.Fatalf("PostgreSQL did not stop in a minute (%s)", mode)
		}
		time.Sleep(pause)
	}
	if err := c.ask("SELECT 1"); err != nil {
		t.Fatal(err)
	}
}

func start(settings ...string) (_ *Cluster, err error) {
	c := &Cluster{}
	if c.bin, err = programs(); err != nil {
		return nil, err
	}
	if c.as, err = other(); err != nil {
		return nil, err
	}
	if c.dir, err = directory(c.as); err != nil {
		return nil, err
	}
	data := filepath.Join(c.dir, "data")
	initdb := c.command("initdb", "-D", data, "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--data-checksums")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(c.dir))
	}
	args := []string{"-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "max_connections=500", "-c", "shared_buffers=64MB", "-c", "max_wal_size=512MB"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	program := filepath.Join(c.bin, "postgres")
	server := c.commandOf("/bin/sh", append([]string{"-c", keep, "sh", program, c.dir}, args...)...)
	apart(server)
	pipe, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	c.alive = pipe
	if err := c.ask("CREATE ROLE " + role + " LOGIN"); err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	return c, nil
}

// ask runs a statement as soon as the cluster accepts connections.
func (c *Cluster) ask(statement string) error {
	var out []byte
	for range 600 {
		psql := c.command("psql", "-Xqh", c.dir, "-U", superuser, "-d", "postgres", "-c", statement)
		var err error
		if out, err = psql.CombinedOutput(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "log")) // without the log, the output of psql is still reported
	return fmt.Errorf("PostgreSQL does not take connections: %s\n%s", out, log)
}

// command returns a command that runs a program of PostgreSQL as the owner of the cluster.
func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	return c.commandOf(filepath.Join(c.bin, name), args...)
}

func (c *Cluster) commandOf(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + c.dir}
	become(cmd, c.as)
	return cmd
}

// programs returns the directory of PostgreSQL's programs.
func programs() (string, error) {
	if dir := os.Getenv("CARREL_TEST_POSTGRES"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			return "", fmt.Errorf("CARREL_TEST_POSTGRES: %w", err)
		}
		return dir, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", &missingError{"there is no initdb: install PostgreSQL, or name the directory of its programs in CARREL_TEST_POSTGRES"}
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(release(a), release(b)) })
	return filepath.Dir(newest), nil
}

// release returns the version number of PostgreSQL in the path of the program
// initdb on Debian, or 0 if the path has none.
func release(initdb string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return n
}

// other returns the user as whom PostgreSQL must run, or nil if the current
// user can run it.
func other() (*user.User, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // the current user
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u, nil
		}
	}
	return nil, &missingError{"PostgreSQL does not run as root, and there is neither a user postgres nor nobody"}
}

// directory creates a directory for a user, in memory if there is enough room.
func directory(as *user.User) (string, error) {
	parent := "/dev/shm"
	if fi, err := os.Stat(parent); err != nil || !fi.IsDir() {
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "carrel-postgres-")
	if err == nil && as != nil {
		err = give(dir, as)
	}
	return dir, err
}
