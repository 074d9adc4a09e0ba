package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A quitter stands in for the *testing.T that package postgres wants: it collects the
// cleanups and the errors.
type quitter struct {
	cleanups []func()
	errs     []error
}

func (q *quitter) Helper()                           {}
func (q *quitter) Cleanup(f func())                  { q.cleanups = append(q.cleanups, f) }
func (q *quitter) Skip(args ...any)                  { panic(errors.New(fmt.Sprint(args...))) }
func (q *quitter) Error(args ...any)                 { q.errs = append(q.errs, errors.New(fmt.Sprint(args...))) }
func (q *quitter) Fatal(args ...any)                 { panic(errors.New(fmt.Sprint(args...))) }
func (q *quitter) Fatalf(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

// end runs the cleanups, the last first, and returns the errors.
func (q *quitter) end() error {
	for len(q.cleanups) > 0 {
		last := len(q.cleanups) - 1
		f := q.cleanups[last]
		q.cleanups = q.cleanups[:last]
		f()
	}
	return errors.Join(q.errs...)
}

// try calls f, and returns the error with which f ended through a quitter, or nil.
func try(f func()) (err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	f()
	return nil
}

// build builds the program of this module.
func build(ctx context.Context, q *quitter) (string, error) {
	dir, err := os.MkdirTemp("", "carrel-scale-")
	if err != nil {
		return "", err
	}
	q.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "carrel")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/carrel").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build carrel (run this command from the root of the module): %w: %s", err, out)
	}
	return program, nil
}

// A meter forwards the connections between nodes and the database, and counts the round
// trips.
type meter struct {
	target string // path of the server's socket
	trips  atomic.Int64
}

// between returns a meter in front of the database at address, and the address by which
// nodes reach the database through the meter.
func between(q *quitter, address string) (*meter, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return nil, "", err
	}
	const socket = ".s.PGSQL.5432"
	m := &meter{target: filepath.Join(u.Query().Get("host"), socket)}
	l, err := net.Listen("unix", filepath.Join(dir, socket)) //nolint:noctx // it begins at once
	if err != nil {
		return nil, "", err
	}
	q.Cleanup(func() { _ = errors.Join(l.Close(), os.RemoveAll(dir)) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go m.pass(conn)
		}
	}()
	u.RawQuery = url.Values{"host": {dir}}.Encode()
	return m, u.String(), nil
}

// pass forwards a connection in both directions.
func (m *meter) pass(node net.Conn) {
	database, err := net.Dial("unix", m.target) //nolint:noctx // it ends with the node
	if err != nil {
		_ = node.Close()
		return
	}
	var waits atomic.Bool // the node has sent, and received nothing since
	forward := func(from, to net.Conn, heard func()) {
		defer func() { _ = errors.Join(from.Close(), to.Close()) }()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				heard()
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	go forward(node, database, func() {
		if !waits.Swap(true) {
			m.trips.Add(1)
		}
	})
	forward(database, node, func() { waits.Store(false) })
}

// A node is a running process of carrel serve.
type node struct {
	pid int
	url string
}

// serve starts a node. A cleanup of q ends it.
func serve(q *quitter, program string, env []string) (*node, error) {
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--json") //nolint:noctx // q ends it
	cmd.Env, cmd.Stderr = env, new(bytes.Buffer)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	q.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var record struct{ URL string }
	if err == nil {
		err = json.Unmarshal(line, &record)
	}
	if err != nil {
		return nil, fmt.Errorf("read the address that a node prints: %w: %s", err, cmd.Stderr)
	}
	return &node{cmd.Process.Pid, record.URL}, nil
}

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// spent returns the processor time of processes so far, including their ended children.
func spent(pids ...int) (time.Duration, error) {
	sum := 0
	for _, pid := range pids {
		fields, err := stat(pid)
		if err != nil {
			return 0, err
		}
		for _, f := range fields[11:15] { // utime, stime, cutime, cstime
			n, err := strconv.Atoi(f)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return time.Duration(sum) * tick, nil
}

// stat returns the fields of /proc/pid/stat after the name of the program.
func stat(pid int) ([]string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields, too few to read the times from", pid, len(fields))
	}
	return fields, nil
}

// family returns a process and its children.
func family(parent int) ([]int, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	pids := []int{parent}
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		if fields, err := stat(pid); err == nil && fields[1] == strconv.Itoa(parent) { // without those that have just ended
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
