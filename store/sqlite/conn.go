package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"
)

// A conn is a connection with the statements that it has prepared, each once. One
// goroutine uses it at a time.
type conn struct {
	*sql.Conn

	stmts map[string]*sql.Stmt
	open  bool // its transaction could not be ended
}

func newConn(c *sql.Conn) *conn { return &conn{Conn: c, stmts: make(map[string]*sql.Stmt)} }

// prepare returns a statement of the connection.
func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if stmt := c.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = stmt
	return stmt, nil
}

// exec runs a statement. It is not interrupted: to interrupt one would roll
// back the changes of others.
func (c *conn) exec(query string, args ...any) error {
	stmt, err := c.prepare(query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background(), args...)
	return err
}

// row runs a statement that returns one row, or fails with [sql.ErrNoRows].
func (c *conn) row(query string, args []any, dest ...any) error {
	stmt, err := c.prepare(query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(context.Background(), args...).Scan(dest...)
}

// each runs a statement and calls f for each row that it returns.
func (c *conn) each(f func(rows *sql.Rows) error, query string, args ...any) error {
	return c.eachUntil(context.Background(), f, query, args...)
}

// eachUntil is each, and is interrupted before the first row when ctx ends. That takes a
// goroutine, so it is for statements that may take long to find the first row.
func (c *conn) eachUntil(ctx context.Context, f func(rows *sql.Rows) error, query string, args ...any) error {
	stmt, err := c.prepare(query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}

// forget closes what is prepared.
func (c *conn) forget() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}

// Close closes what is prepared, and the connection.
func (c *conn) Close() error { return errors.Join(c.forget(), c.Conn.Close()) }

// A pool has the connections that read. There are as many as are needed at once; those
// that are free are kept, up to a number, and the one that was used last is used next.
type pool struct {
	db   *sql.DB
	most int // that are kept while nobody uses them

	mu      sync.Mutex
	free    []*conn
	unused  int         // how many of the first in free nobody has used since thin ran
	thinner *time.Timer // runs thin, while any are free
	surplus int64       // that were closed because there were enough
	closed  bool
}

// take returns a connection that nobody else uses.
func (p *pool) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	if n := len(p.free) - 1; n >= 0 {
		c := p.free[n]
		p.free = p.free[:n]
		p.unused = min(p.unused, n)
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}

// put gives a connection back. One whose transaction is open serves nobody else.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.open || p.closed || len(p.free) == p.most {
		p.surplus++
		_ = c.Close() // nothing was written
		return
	}
	p.free = append(p.free, c)
	if p.thinner == nil {
		p.thinner = time.AfterFunc(idleReader, p.thin)
	}
}

// thin closes the connections that nobody has used since it ran last.
func (p *pool) thin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeFirst(p.unused) // after which none is left if the pool was closed
	p.unused, p.thinner = len(p.free), nil
	if len(p.free) > 0 {
		p.thinner = time.AfterFunc(idleReader, p.thin)
	}
}

// closeFirst closes the first n connections that are free.
func (p *pool) closeFirst(n int) (errs []error) {
	for _, c := range p.free[:n] {
		errs = append(errs, c.Close())
	}
	p.free = slices.Delete(p.free, 0, n)
	return errs
}

// close closes all connections, those that are in use when they are given back.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.thinner != nil {
		p.thinner.Stop()
	}
	return errors.Join(append(p.closeFirst(len(p.free)), p.db.Close())...)
}
