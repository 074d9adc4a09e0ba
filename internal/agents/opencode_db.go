package agents

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "modernc.org/sqlite" // the driver, too
	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/transcript"
)

// openCodeSessions returns the sessions of the OpenCode databases at a path: a folder, a
// database, or the log file of one.
func openCodeSessions(path string) ([]Source, error) {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.IsDir():
		if db, ok := isOpenCode(path); ok {
			return listOpenCode(db)
		}
		return nil, nil
	}
	names, err := fs.Glob(os.DirFS(path), "opencode*.db")
	if err != nil {
		return nil, err
	}
	var list []Source
	for _, name := range names {
		found, err := listOpenCode(filepath.Join(path, name))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// openCodeTables opens a database of OpenCode read-only, so that it never blocks OpenCode.
func openCodeTables(path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	options := "?mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		options += "&immutable=1" // no process has it open, and no log file may be created beside it
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String()+options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// tabled calls f in a read transaction on a database of OpenCode.
func tabled(path string, f func(ctx context.Context, tx *sql.Tx) error) (err error) {
	defer func() {
		if e, ok := errors.AsType[*engine.Error](err); ok && (e.Code()&0xff == codes.SQLITE_NOTADB || e.Code()&0xff == codes.SQLITE_CORRUPT) {
			err = &transcript.SyntaxError{Name: path, Text: "the database cannot be read: " + e.Error(), Hint: "nothing was imported; name a database of OpenCode, or a sound copy of this one"}
		} else if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	db, err := openCodeTables(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background() // the amount of data is bounded
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, tx), tx.Rollback())
}

// hasTables reports whether a database has the tables of sessions. The database of another
// program, or a new one of OpenCode, lacks them.
func hasTables(ctx context.Context, tx *sql.Tx) (bool, error) {
	n := 0
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part')`).Scan(&n)
	return n == 3, err
}

// listOpenCode returns the sessions of a database, sorted by id.
func listOpenCode(path string) (list []Source, err error) {
	err = tabled(path, func(ctx context.Context, tx *sql.Tx) error {
		ok, err := hasTables(ctx, tx)
		if err != nil || !ok {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT id, max(time_updated, coalesce((SELECT max(time_updated) FROM message WHERE session_id = session.id), 0))
			FROM session WHERE EXISTS (SELECT 1 FROM message WHERE session_id = session.id) ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			var changed int64
			if err := rows.Scan(&id, &changed); err != nil {
				return err
			}
			list = append(list, Source{
				Name: path + placeMark + id, Changed: time.UnixMilli(changed),
				Read: func() ([]byte, error) { return readOpenCode(path, id, 0) },
			})
		}
		return rows.Err()
	})
	return list, err
}

// readOpenCode returns a session in the format of "opencode export". If bound is above 0, it
// returns the first message and as many of the newest as fit in about bound bytes. It always
// returns the first and the newest message, however large they are.
func readOpenCode(path, id string, bound int64) ([]byte, error) {
	var b bytes.Buffer
	err := tabled(path, func(ctx context.Context, tx *sql.Tx) error {
		ok, err := hasTables(ctx, tx)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("session %s: %w", id, fs.ErrNotExist)
		}
		info, err := openCodeInfo(ctx, tx, id)
		if err != nil {
			return err
		}
		b.WriteString(`{"info":`)
		b.Write(info)
		b.WriteString(`,"messages":[`)
		if err := openCodeMessages(ctx, tx, id, bound, &b); err != nil {
			return err
		}
		b.WriteString("]}")
		return nil
	})
	if err != nil {
		return nil, err
	}
	var export bytes.Buffer
	if err := json.Indent(&export, b.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("%s: session %s: %w", path, id, err)
	}
	export.WriteByte('\n')
	return export.Bytes(), nil
}

// A row is a row of a table, by column name.
type row map[string]any

// openCodeInfo returns the session object of an export. A column that this version of OpenCode
// lacks counts as empty.
func openCodeInfo(ctx context.Context, tx *sql.Tx, id string) ([]byte, error) {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM session WHERE id = ?`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, cmp.Or(rows.Err(), fmt.Errorf("session %s: %w", id, fs.ErrNotExist))
	}
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	if err := rows.Scan(places...); err != nil {
		return nil, err
	}
	r := make(row, len(names))
	for i, name := range names {
		r[name] = values[i]
	}
	return r.info(), rows.Err()
}

// info returns the JSON value of the field "info" of an export, made from a row of the table of
// sessions.
func (r row) info() []byte {
	var summary []byte
	if r["summary_additions"] != nil || r["summary_deletions"] != nil || r["summary_files"] != nil {
		summary = joined(
			member("additions", r.number("summary_additions")), member("deletions", r.number("summary_deletions")),
			member("files", r.number("summary_files")), member("diffs", r.json("summary_diffs")),
		)
	}
	var share []byte
	if r["share_url"] != nil {
		share = joined(member("url", r.text("share_url")))
	}
	cache := joined(member("read", r.number("tokens_cache_read")), member("write", r.number("tokens_cache_write")))
	return joined(
		member("id", r.text("id")), member("slug", r.text("slug")), member("projectID", r.text("project_id")), member("workspaceID", r.text("workspace_id")),
		member("directory", r.text("directory")), member("path", r.text("path")), member("parentID", r.text("parent_id")), member("title", r.text("title")),
		member("agent", r.text("agent")), member("model", r.json("model")), member("version", r.text("version")), member("summary", summary),
		member("cost", r.number("cost")),
		member("tokens", joined(
			member("input", r.number("tokens_input")), member("output", r.number("tokens_output")),
			member("reasoning", r.number("tokens_reasoning")), member("cache", cache),
		)),
		member("share", share), member("metadata", r.json("metadata")), member("revert", r.json("revert")), member("permission", r.json("permission")),
		member("time", joined(
			member("created", r.number("time_created")), member("updated", r.number("time_updated")),
			member("compacting", r.there("time_compacting")), member("archived", r.there("time_archived")),
		)),
	)
}

// member returns a key with its value, or nil if value is nil.
func member(key string, value []byte) []byte {
	if value == nil {
		return nil
	}
	return slices.Concat([]byte(strconv.Quote(key)+":"), value)
}

// joined returns an object with the given members, skipping nil.
func joined(members ...[]byte) []byte {
	members = slices.DeleteFunc(members, func(m []byte) bool { return m == nil })
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

// text returns a text column as JSON, or nil if the column has no text. An empty text is "".
func (r row) text(name string) []byte {
	s, ok := r[name].(string)
	if !ok {
		return nil
	}
	return quoted(s)
}

// json returns a column that is JSON, or nil if it is not, or is null.
func (r row) json(name string) []byte {
	s, ok := r[name].(string)
	if !ok || !json.Valid([]byte(s)) || s == "null" {
		return nil
	}
	return []byte(s)
}

// number returns a number column as JSON, or 0 if it is not a number.
func (r row) number(name string) []byte {
	if b := r.there(name); b != nil {
		return b
	}
	return []byte("0")
}

// there returns a number column as JSON. Unlike number, it returns nil if the column is not a
// number.
func (r row) there(name string) []byte {
	switch n := r[name].(type) {
	case int64:
		return strconv.AppendInt(nil, n, 10)
	case float64:
		if b, err := json.Marshal(n); err == nil {
			return b
		}
	}
	return nil
}

// quoted encodes a text as JSON in the form of JavaScript's JSON.stringify.
func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !strings.ContainsAny(s, "\u2028\u2029") {
		return out
	}
	// An escaped backslash counts as a whole, so that a text about such an escape stays as it is.
	return []byte(strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(out)))
}

// openCodeMessages writes the messages of a session with their parts, in the order in which
// OpenCode reads them.
func openCodeMessages(ctx context.Context, tx *sql.Tx, session string, bound int64, b *bytes.Buffer) error {
	ids, err := openCodeWanted(ctx, tx, session, bound)
	if err != nil {
		return err
	}
	parts, err := tx.PrepareContext(ctx, `SELECT id, data FROM part WHERE message_id = ? ORDER BY id`)
	if err != nil {
		return err
	}
	defer parts.Close()
	for i, id := range ids {
		var data string
		if err := tx.QueryRowContext(ctx, `SELECT data FROM message WHERE id = ?`, id).Scan(&data); err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"info":`)
		if err := extended(b, data, member("id", quoted(id)), member("sessionID", quoted(session))); err != nil {
			return fmt.Errorf("read message %s: %w", id, err)
		}
		b.WriteString(`,"parts":[`)
		if err := openCodeParts(ctx, parts, session, id, b); err != nil {
			return err
		}
		b.WriteString("]}")
		if b.Len() > mostUnpacked {
			return fmt.Errorf("session %s has more than %d bytes", session, mostUnpacked)
		}
	}
	return nil
}

func openCodeParts(ctx context.Context, parts *sql.Stmt, session, message string, b *bytes.Buffer) error {
	rows, err := parts.QueryContext(ctx, message)
	if err != nil {
		return err
	}
	defer rows.Close()
	for first := true; rows.Next(); first = false {
		var id, data string
		if err := rows.Scan(&id, &data); err != nil {
			return err
		}
		if !first {
			b.WriteByte(',')
		}
		if err := extended(b, data, member("id", quoted(id)), member("sessionID", quoted(session)), member("messageID", quoted(message))); err != nil {
			return fmt.Errorf("read part %s: %w", id, err)
		}
	}
	return rows.Err()
}

// extended writes an object with more members added.
func extended(b *bytes.Buffer, object string, members ...[]byte) error {
	object = strings.TrimSpace(object)
	if !json.Valid([]byte(object)) || object[0] != '{' {
		return errors.New("the column data has no JSON object")
	}
	b.WriteString(object[:len(object)-1])
	if strings.TrimSpace(object[1:len(object)-1]) != "" {
		b.WriteByte(',')
	}
	b.Write(bytes.Join(members, []byte(",")))
	b.WriteByte('}')
	return nil
}

// openCodeWanted returns the ids of the messages of a session in order. If bound is above 0 and the
// parts of the messages have more characters, it returns the first message and the newest that fit.
// The newest message is always among them.
func openCodeWanted(ctx context.Context, tx *sql.Tx, session string, bound int64) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil || bound <= 0 || len(ids) == 0 {
		return ids, err
	}
	size := func(id string) (n int64, err error) {
		err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(length(data)), 0) FROM part WHERE message_id = ?`, id).Scan(&n)
		return n, err
	}
	left := bound
	for i, id := range slices.Backward(ids) {
		n, err := size(id)
		if err != nil {
			return nil, err
		}
		if left -= n; left < 0 && i > 0 {
			return append([]string{ids[0]}, ids[min(i+1, len(ids)-1):]...), nil
		}
	}
	return ids, nil
}
