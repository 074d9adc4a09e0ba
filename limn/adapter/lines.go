package adapter

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/carrel-dev/carrel/limn"
)

// openLines opens a source of the lines of the input. A reader cannot be interrupted, so a
// goroutine reads and may keep waiting, while the source itself ends in time.
func openLines(p *limn.Pack, o *Options) source {
	input, limit := o.Input, o.MaxBytes
	return func(ctx context.Context, emit func(limn.LiveValue) bool) {
		if input == nil {
			return
		}
		lines := make(chan limn.LiveValue)
		send := func(u limn.LiveValue) bool {
			select {
			case lines <- u:
				return true
			case <-ctx.Done():
				return false
			}
		}
		go func() {
			defer close(lines)
			if err := readLines(input, limit, send); err != nil {
				fail(p, err, send)
			}
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case u, ok := <-lines:
				if !ok || !emit(u) {
					return
				}
			}
		}
	}
}

// readLines emits the lines of a reader as text.
func readLines(r io.Reader, limit int, emit func(limn.LiveValue) bool) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, limit+len("\r\n")+1) // room for the line end, which is no part of the line
	for s.Scan() {
		if len(s.Bytes()) > limit {
			return fmt.Errorf("reading lines: %w", bufio.ErrTooLong)
		}
		text := strings.ToValidUTF8(s.Text(), "\uFFFD")
		if !emit(limn.LiveValue{Name: "line", Value: limn.String(text)}) {
			return nil
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("reading lines: %w", err)
	}
	return nil
}
