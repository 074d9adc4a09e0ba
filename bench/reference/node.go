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
	"path/filepath"
	"time"
)

//go:embed package.json reference.cjs
var files embed.FS

// A node is one process of Node that has the npm package tiktoken loaded.
type node struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	dir     string
}

// startNode installs the package in a temporary directory and starts the process.
func startNode(ctx context.Context) (n *node, err error) {
	dir, err := os.MkdirTemp("", "carrel-reference-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	for _, name := range []string{"package.json", "reference.cjs"} {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm install: %w: %s", err, out)
	}
	n = &node{process: exec.CommandContext(ctx, "node", "reference.cjs"), dir: dir}
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
	return errors.Join(n.in.Close(), n.process.Wait(), os.RemoveAll(n.dir))
}

// What a request asks for.
const (
	askTokens = 0
	askNumber = 1
)

// ask sends a text, and returns its tokens or their number, and the processor time that
// the encoding of it took.
func (n *node) ask(what, encoding byte, text string) (tokens []uint32, number int, took time.Duration, err error) {
	head := binary.LittleEndian.AppendUint32([]byte{what, encoding}, uint32(len(text)))
	if _, err := n.in.Write(append(head, text...)); err != nil {
		return nil, 0, 0, err
	}
	var answer [2]uint32
	if err := binary.Read(n.out, binary.LittleEndian, &answer); err != nil {
		return nil, 0, 0, fmt.Errorf("the answer of node: %w", err)
	}
	if what == askTokens {
		tokens = make([]uint32, answer[1])
		err = binary.Read(n.out, binary.LittleEndian, tokens)
	}
	return tokens, int(answer[1]), time.Duration(answer[0]) * time.Microsecond, err
}
