package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"
)

// A conn is a connection with its prepared statements, each prepared once. Only one goroutine
// uses it at a time.
type conn struct {
	*sql.Conn

	stmts map[string]*sql.Stmt
	open  bool // its transaction is still open, because the rollback failed
}

func newConn(c *sql.Conn) *conn { return &conn{Conn: c, stmts: make(map[string]*sql.Stmt)} }

// prepare returns the prepared statement for query.
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

// exec runs a statement without a context: interrupting it would roll back the changes of other
// callers in the same transaction.
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

// eachUntil does the same as each, but it ends if ctx ends before the first row is found. That
// costs a goroutine, so it is for statements that may take long to find the first row.
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

// forget closes the prepared statements.
func (c *conn) forget() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}

// Close closes the prepared statements and the connection.
func (c *conn) Close() error { return errors.Join(c.forget(), c.Conn.Close()) }

// A pool has the connections for reading. It opens as many as are used at the same time. When they
// are no longer used, it keeps some of them open: at most as many as the field most says. The
// method take returns the one that was used last.
type pool struct {
	db   *sql.DB
	most int // the number of free connections to keep

	mu      sync.Mutex
	free    []*conn
	unused  int         // free[:unused] has not been used since thin ran last
	thinner *time.Timer // runs thin, while any are free
	surplus int64       // how many connections put has closed
	closed  bool
}

// take returns a connection for the exclusive use of the caller.
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

// put returns a connection to the pool. It closes the connection if its transaction is still
// open, if the pool is closed, or if enough connections are free.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.open || p.closed || len(p.free) == p.most {
		p.surplus++
		_ = c.Close() // it only reads, so nothing is lost
		return
	}
	p.free = append(p.free, c)
	if p.thinner == nil {
		p.thinner = time.AfterFunc(idleReader, p.thin)
	}
}

// thin closes the connections that have not been used since it ran last.
func (p *pool) thin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeFirst(p.unused) // a closed pool has none left
	p.unused, p.thinner = len(p.free), nil
	if len(p.free) > 0 {
		p.thinner = time.AfterFunc(idleReader, p.thin)
	}
}

// closeFirst closes the first n free connections.
func (p *pool) closeFirst(n int) (errs []error) {
	for _, c := range p.free[:n] {
		errs = append(errs, c.Close())
	}
	p.free = slices.Delete(p.free, 0, n)
	return errs
}

// close closes all connections; a connection in use is closed when it is returned.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.thinner != nil {
		p.thinner.Stop()
	}
	return errors.Join(append(p.closeFirst(len(p.free)), p.db.Close())...)
}
