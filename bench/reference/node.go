package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

//go:embed reference.cjs classes.mjs
var scripts embed.FS

// install creates a temporary directory with the scripts of this command and one npm
// package.
func install(ctx context.Context, pkg string) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "carrel-reference-"); err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	if err = os.CopyFS(dir, scripts); err == nil {
		npm := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", pkg)
		npm.Dir = dir
		var out []byte
		if out, err = npm.CombinedOutput(); err != nil {
			err = fmt.Errorf("npm install %s: %w: %s", pkg, err, out)
		}
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// A node is a process of Node with the npm package tiktoken.
type node struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	remove  func() error
}

// startNode installs the package and starts the process.
func startNode(ctx context.Context) (n *node, err error) {
	dir, remove, err := install(ctx, "tiktoken@1.0.22")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	n = &node{process: exec.CommandContext(ctx, "node", "reference.cjs"), remove: remove}
	n.process.Dir, n.process.Stderr = dir, os.Stderr
	if n.in, err = n.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := n.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.out = bufio.NewReaderSize(out, 1<<20)
	return n, n.process.Start()
}

func (n *node) close() error {
	return errors.Join(n.in.Close(), n.process.Wait(), n.remove())
}

// The kinds of requests.
const (
	askTokens = 0
	askNumber = 1
)

// ask sends a text and returns its tokens or only their number, as the byte in what requests. It
// also returns the processor time that the encoding took.
func (n *node) ask(what, encoding byte, text string) (tokens []uint32, number int, took time.Duration, err error) {
	head := binary.LittleEndian.AppendUint32([]byte{what, encoding}, uint32(len(text)))
	if _, err := n.in.Write(append(head, text...)); err != nil {
		return nil, 0, 0, err
	}
	var answer [2]uint32
	if err := binary.Read(n.out, binary.LittleEndian, &answer); err != nil {
		return nil, 0, 0, fmt.Errorf("read the answer of the Node process: %w", err)
	}
	if what == askTokens {
		tokens = make([]uint32, answer[1])
		err = binary.Read(n.out, binary.LittleEndian, tokens)
	}
	return tokens, int(answer[1]), time.Duration(answer[0]) * time.Microsecond, err
}
