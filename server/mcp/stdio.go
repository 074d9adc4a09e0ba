package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// lines is the transport over standard input and output: one message per line. Unlike the
// transport of the SDK, it answers an invalid line with an error and goes on, and after the end
// of the input it still answers the requests before.
type lines struct {
	in  io.Reader
	out io.Writer
}

// Connect implements the SDK's Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{out: l.out, incoming: make(chan incoming), closed: make(chan struct{}), wrote: make(chan struct{}, 1), owed: make(map[jsonrpc.ID]bool)}
	go c.scan(bufio.NewReaderSize(l.in, 64<<10))
	return c, nil
}

// A lineConn is the only connection of the process. A read of standard input cannot be
// interrupted, so it runs in a goroutine that ends with the input.
type lineConn struct {
	incoming chan incoming
	once     sync.Once
	closed   chan struct{}
	wrote    chan struct{} // has a value if a message was written since the last receive

	mu    sync.Mutex
	out   io.Writer
	owed  map[jsonrpc.ID]bool // ids of the client's requests that are not answered yet
	asked int                 // number of requests to the client that it has not answered
}

type incoming struct {
	line []byte
	err  error
}

// errLong means that a line is longer than maxMessage.
var errLong = fmt.Errorf("the message has more than %d bytes", maxMessage)

func (c *lineConn) scan(r *bufio.Reader) {
	for {
		line, err := readLine(r)
		if len(line) > 0 || err != nil {
			select {
			case c.incoming <- incoming{line, err}:
			case <-c.closed:
				return
			}
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

// readLine returns the next line without its end. If a line is too long, readLine reads it to its
// end and fails with errLong. The last line may lack a line end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage+1; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return bytes.TrimSpace(line), nil // the next call returns the error again
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// Read returns the next message. It answers invalid lines with an error and skips them.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case in := <-c.incoming:
			if in.err != nil && !errors.Is(in.err, errLong) {
				return nil, c.settle(ctx, in.err)
			}
			msg, refused := decode(in)
			if refused == nil && c.received(msg) {
				return msg, nil
			}
			if refused == nil {
				refused = refusal(jsonrpc.CodeInvalidRequest, "a call with this id is not answered yet")
			}
			if err := c.write(refused); err != nil {
				return nil, err
			}
		}
	}
}

// settle waits, at the end of the input, until all requests are answered. Then it returns the
// error end. It does not wait for requests that need an answer of the client, because the client
// is gone.
func (c *lineConn) settle(ctx context.Context, end error) error {
	for {
		c.mu.Lock()
		settled := len(c.owed) == 0 || c.asked > 0
		c.mu.Unlock()
		if settled {
			return end
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closed:
			return end
		case <-c.wrote:
		}
	}
}

// received notes a request or an answer of the client. It returns false for a request that has
// the id of an earlier request without an answer.
func (c *lineConn) received(msg jsonrpc.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() && c.owed[m.ID] {
			return false
		}
		if m.IsCall() {
			c.owed[m.ID] = true
		}
	case *jsonrpc.Response:
		c.asked = max(c.asked-1, 0) // some clients answer requests that were not made
	}
	return true
}

// sent notes a request or an answer to the client.
func (c *lineConn) sent(msg jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			c.asked++
		}
	case *jsonrpc.Response:
		delete(c.owed, m.ID)
	}
}

// decode returns the message in a line, or the answer to an invalid line.
func decode(in incoming) (jsonrpc.Message, []byte) {
	switch {
	case in.err != nil:
		return nil, refusal(jsonrpc.CodeInvalidRequest, in.err.Error())
	case !utf8.Valid(in.line) || !rawjson.Valid(in.line):
		return nil, refusal(jsonrpc.CodeParseError, "the line is not JSON, or is nested too deeply")
	}
	msg, err := jsonrpc.DecodeMessage(in.line)
	if err != nil {
		return nil, refusal(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
	}
	return msg, nil
}

// refusal returns an error answer to a message whose id is unknown.
func refusal(code int64, text string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":`), strconv.FormatInt(code, 10)...)
	b = append(b, `,"message":`...)
	return append(rawjson.AppendString(b, text), "}}"...)
}

// Write writes a message as a line.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	c.sent(msg)
	return c.write(data)
}

func (c *lineConn) write(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	select {
	case c.wrote <- struct{}{}:
	default:
	}
	return err
}

// Close ends the connection. It may be called more than once.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "", because there is only one session.
func (c *lineConn) SessionID() string { return "" }
