package agents

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/opencode"
)

// openCodeSchema has the columns of OpenCode 1.18.33 that Carrel reads, without constraints.
const openCodeSchema = `
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, workspace_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, path TEXT, title TEXT, version TEXT,
	share_url TEXT, summary_additions INTEGER, summary_deletions INTEGER, summary_files INTEGER, summary_diffs TEXT, metadata TEXT,
	cost REAL DEFAULT 0 NOT NULL, tokens_input INTEGER, tokens_output INTEGER, tokens_reasoning INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER,
	revert TEXT, permission TEXT, agent TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, time_compacting INTEGER, time_archived INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);`

// keep stores an export in a database as OpenCode does, and returns the id of the session.
func keep(t *testing.T, db *sql.DB, export []byte) string {
	t.Helper()
	var e struct {
		Info     map[string]any `json:"info"`
		Messages []struct {
			Info  map[string]any   `json:"info"`
			Parts []map[string]any `json:"parts"`
		} `json:"messages"`
	}
	read := json.NewDecoder(bytes.NewReader(export))
	read.UseNumber()
	if err := read.Decode(&e); err != nil {
		t.Fatal(err)
	}
	at := func(o map[string]any, path ...string) any {
		var v any = o
		for _, key := range path {
			o, _ = v.(map[string]any)
			v = o[key]
		}
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				return i
			}
			f, _ := n.Float64()
			return f
		}
		return v
	}
	exec := func(query string, args ...any) {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	i := e.Info
	exec(`INSERT INTO session (id, project_id, slug, directory, path, title, version, summary_additions, summary_deletions, summary_files, cost,
		tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, permission, agent, model, time_created, time_updated)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at(i, "id"), at(i, "projectID"), at(i, "slug"), at(i, "directory"), at(i, "path"), at(i, "title"), at(i, "version"),
		at(i, "summary", "additions"), at(i, "summary", "deletions"), at(i, "summary", "files"), at(i, "cost"),
		at(i, "tokens", "input"), at(i, "tokens", "output"), at(i, "tokens", "reasoning"), at(i, "tokens", "cache", "read"), at(i, "tokens", "cache", "write"),
		within(t, export, "info", "permission"), at(i, "agent"), within(t, export, "info", "model"), at(i, "time", "created"), at(i, "time", "updated"))
	raw := parsed(t, export)
	for k, m := range e.Messages {
		when := at(m.Info, "time", "created")
		exec(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, at(m.Info, "id"), at(i, "id"), when, when, without(t, raw.Messages[k].Info, "id", "sessionID"))
		for n, p := range m.Parts {
			exec(`INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, at(p, "id"), at(m.Info, "id"), at(i, "id"), when, when, without(t, raw.Messages[k].Parts[n], "id", "sessionID", "messageID"))
		}
	}
	return at(i, "id").(string)
}

type rawExport struct {
	Info     map[string]json.RawMessage `json:"info"`
	Messages []struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"messages"`
}

func parsed(t *testing.T, export []byte) (e rawExport) {
	t.Helper()
	if err := json.Unmarshal(export, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func within(t *testing.T, export []byte, _, key string) string {
	t.Helper()
	return compacted(t, parsed(t, export).Info[key])
}

func compacted(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// without returns an object without its last members, which have the given keys.
func without(t *testing.T, raw []byte, keys ...string) string {
	t.Helper()
	s := compacted(t, raw)
	at := strings.LastIndex(s, `,"`+keys[0]+`":"`)
	if at < 0 {
		t.Fatalf("%s has no %s at its end", s, keys[0])
	}
	return s[:at] + "}"
}

// A session read from a database equals the export of OpenCode byte for byte, also while another
// program has the database open.
func TestOpenCodeDatabase(t *testing.T) {
	export, err := os.ReadFile("../../transcript/opencode/testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "opencode.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE other (id TEXT)`); err != nil {
		t.Fatal(err)
	}
	if found, err := OpenCode.Sessions(dir); err != nil || len(found) > 0 {
		t.Errorf("a database without tables has %v, %v", found, err)
	}
	if _, err := db.Exec(openCodeSchema); err != nil {
		t.Fatal(err)
	}
	id := keep(t, db, export)
	check := func(how, at string) {
		t.Helper()
		found, err := OpenCode.Sessions(at)
		if err != nil || len(found) != 1 || found[0].Name != path+"#"+id || !found[0].Changed.Equal(time.UnixMilli(1795456060815)) {
			t.Fatalf("%s: %+v, %v", how, found, err)
		}
		data, err := found[0].Read()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if diff := cmp.Diff(string(export), string(data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", how, diff)
		}
	}
	check("while it is open", dir)
	check("after a write to its log", path+"-wal")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`DELETE FROM part`); err != nil {
		t.Fatal(err)
	}
	check("while it is written", path)
	if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the log is still there")
	}
	check("when nobody has it open", path)
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading has made a log")
	}
	for _, name := range []string{path, path + "#" + id} {
		if found, ok, err := Held(name); err != nil || !ok || len(found) != 1 || found[0].Name != path+"#"+id {
			t.Errorf("%s holds %+v, %t, %v", name, found, ok, err)
		}
	}
	if _, ok, err := Held(path + "#ses_none"); !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session that is not there: %t, %v", ok, err)
	}
	if _, ok, _ := Held(filepath.Join(dir, "x.json")); ok {
		t.Error("a file of one session holds several")
	}
	r, n, err := Open(path + "#" + id)
	if err != nil || n != int64(len(export)) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	defer r.Close()
	short, ok, err := Ends(path+"#"+id, 2000)
	if err != nil || !ok || len(short) > 12_000 {
		t.Errorf("%d bytes of %d, %v, %v", len(short), len(export), ok, err)
	}
	s := formattest.Decode(t, opencode.Format, string(short))
	if first, last := s.Messages[1].Text(), s.Messages[len(s.Messages)-1].Text(); first != "Mend the pool, heron." || last != "Nothing more to do." {
		t.Errorf("the ends are %q and %q", first, last)
	}
	if _, _, err := Open(path + "#ses_none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session that is not there: %v", err)
	}
}

// The ends of a session are its first message, its newest, and as many before that as fit.
func TestEndsOfOpenCode(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(openCodeSchema); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for session, n := range map[string]int{"one": 1, "two": 2, "five": 5} {
		for i := range n {
			id := fmt.Sprint(session, i)
			if _, err := tx.Exec(`INSERT INTO message (id, session_id, time_created, data) VALUES (?, ?, ?, '{}')`, id, session, i); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(`INSERT INTO part (id, message_id, data) VALUES (?, ?, ?)`, id, id, strings.Repeat("z", 100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		session string
		bound   int64
		want    []string
	}{
		{"five", 0, []string{"five0", "five1", "five2", "five3", "five4"}},
		{"five", 500, []string{"five0", "five1", "five2", "five3", "five4"}},
		{"five", 399, []string{"five0", "five2", "five3", "five4"}},
		{"five", 300, []string{"five0", "five2", "five3", "five4"}},
		{"five", 299, []string{"five0", "five3", "five4"}},
		{"five", 199, []string{"five0", "five4"}},
		{"five", 1, []string{"five0", "five4"}},
		{"two", 1, []string{"two0", "two1"}},
		{"one", 1, []string{"one0"}},
		{"none", 1, nil},
	} {
		got, err := openCodeWanted(t.Context(), tx, tt.session, tt.bound)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%d bytes of session %s are of %q, %v, want %q", tt.bound, tt.session, got, err, tt.want)
		}
	}
}

// An invalid database is reported; databases of other programs are ignored.
func TestOpenCodeFiles(t *testing.T) {
	dir := fill(t, "opencode.db", "log/x.log", "auth.json")
	if err := os.WriteFile(filepath.Join(dir, "opencode.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCode.Sessions(dir); err == nil || !strings.Contains(err.Error(), "opencode.db: ") {
		t.Errorf("a broken database: %v", err)
	}
	if _, ok, err := Held(filepath.Join(dir, "opencode.db#ses_1")); !ok || err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session of a broken database: %v, %v", ok, err)
	}
	for _, name := range []string{"log/x.log", "auth.json", "nowhere"} {
		if found, err := OpenCode.Sessions(filepath.Join(dir, name)); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestDatabasesOfOpenCode(t *testing.T) {
	for path, want := range map[string]string{
		"/a/opencode.db": "/a/opencode.db", "/a/opencode.db-wal": "/a/opencode.db", "/a/opencode.db-shm": "/a/opencode.db", "/a/opencode-dev.db": "/a/opencode-dev.db",
		"/a/other.db": "", "/a/opencode.json": "", "/a/opencode.db-x": "",
	} {
		if got, ok := isOpenCode(path); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %v, want %q", path, got, ok, want)
		}
	}
}

// Members are added to any object, and to nothing else. A file beside a database is no database.
func TestExtendedObjects(t *testing.T) {
	for object, want := range map[string]string{`{}`: `{"id":1}`, " { } ": `{ "id":1}`, `{"a":2}`: `{"a":2,"id":1}`, `[]`: "", `{`: ""} {
		var b bytes.Buffer
		if err := extended(&b, object, []byte(`"id":1`)); (err != nil) != (want == "") || b.String() != want {
			t.Errorf("%s becomes %s, %v, want %s", object, &b, err, want)
		}
	}
	if _, ok, err := Held("opencode.db-wal"); ok || err != nil {
		t.Errorf("a log of a database is one: %t, %v", ok, err)
	}
}

// Texts of a session are written as JavaScript writes them, also those that look like escapes.
func TestTextsOfOpenCode(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `""`,
		"a <b> & \"c\"\n\b\x01":      `"a <b> & \"c\"\n\b\u0001"`,
		"a line\u2028 and\u2029 two": "\"a line\u2028 and\u2029 two\"",
		`JSON writes \u2028`:         `"JSON writes \\u2028"`,
		`as \\u2029`:                 `"as \\\\u2029"`,
		"both: \\u2028, \\\u2028":    "\"both: \\\\u2028, \\\\\u2028\"",
	} {
		got := quoted(text)
		if string(got) != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != text {
			t.Errorf("%s is read as %q, %v, want %q", got, back, err, text)
		}
	}
}

// An object of a session has what its columns have: a summary or a share if any of their columns is
// set, numbers as they are, and no JSON that cannot be read.
func TestRowsOfOpenCode(t *testing.T) {
	for _, tt := range []struct {
		column     string
		value      any
		want, none string // what the object has, and what it has not
	}{
		{"summary_additions", int64(1), `"summary":{"additions":1,"deletions":0,"files":0}`, `"share"`},
		{"summary_deletions", int64(1), `"summary":{"additions":0,"deletions":1,"files":0}`, `"share"`},
		{"summary_files", int64(1), `"summary":{"additions":0,"deletions":0,"files":1}`, `"share"`},
		{"share_url", "u", `"share":{"url":"u"}`, `"summary"`},
		{"cost", 0.5, `"cost":0.5`, `"archived"`},
		{"time_archived", int64(7), `"archived":7`, `"compacting"`},
		{"metadata", "null", `"cost":0`, `"metadata"`},
		{"metadata", "{", `"cost":0`, `"metadata"`},
	} {
		got := string(row{tt.column: tt.value}.info())
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.none) || !json.Valid([]byte(got)) {
			t.Errorf("%s %v: %s, want %s and no %s", tt.column, tt.value, got, tt.want, tt.none)
		}
	}
	for object, want := range map[string]string{`{}`: `{"id":"m"}`, ` {"a":1} `: `{"a":1,"id":"m"}`, `[1]`: "", `{`: ""} {
		var b bytes.Buffer
		if err := extended(&b, object, member("id", quoted("m"))); b.String() != want || (err == nil) != (want != "") {
			t.Errorf("%s becomes %s, %v, want %s", object, &b, err, want)
		}
	}
}
