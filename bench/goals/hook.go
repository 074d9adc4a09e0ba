package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var hookGoals = []goal{
	{name: "hook-start", says: "carrel hook about a result that stays as it is, against an empty Go program", bound: within(2.8), setup: startOfAHook},
	{name: "hook-alone", says: "carrel hook about a result of 80 kB in a session that has just begun, against the earlier build", bound: faster(8), before: true, setup: hookBeside(20 << 10)},
	{name: "hook", says: "carrel hook about a result of 80 kB in a session of 3.6 MB, against the earlier build", bound: faster(8), before: true, setup: hookBeside(3600 << 10)},
	{name: "hook-long", says: "carrel hook about a result of 80 kB in a session of 35 MB, against the earlier build", bound: faster(8), before: true, setup: hookBeside(35 << 20)},
}

// startOfAHook compares a hook that does nothing with an empty program.
func startOfAHook(ctx context.Context, b *bench, dir string) (sides, error) {
	ours, empty, err := b.besideEmpty(ctx, dir)
	if err != nil {
		return sides{}, err
	}
	event, err := toolEvent("", "ok\n")
	if err != nil {
		return sides{}, err
	}
	hook, err := hookSide(ours, filepath.Join(dir, "ours"), func() ([]byte, error) { return event, nil })
	return sides{ours: repeated(20, hook), other: repeated(20, command(empty, nil))}, err
}

// hookBeside compares the hooks of both builds in an invented session of size bytes. Each call of a
// hook gets another tool result of 80 kB.
func hookBeside(size int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		transcript, err := claudeFile(dir, size)
		if err != nil {
			return sides{}, err
		}
		return b.eachWay(ctx, func(program, name string) (side, error) {
			return hookSide(program, filepath.Join(dir, name), results(transcript))
		})
	}
}

// results returns a function that returns a new event at each call: a tool result of 80 kB,
// never the same twice.
func results(transcript string) func() ([]byte, error) {
	n := uint64(0)
	return func() ([]byte, error) {
		n++
		return toolEvent(transcript, toolOutput(n, 80_000))
	}
}

// hookSide returns a side that runs a program as the hook for the next event, with a store of its
// own. Its cost is the duration in seconds.
func hookSide(program, store string, event func() ([]byte, error)) (side, error) {
	settings := store + ".toml"
	if err := os.WriteFile(settings, []byte("[hook]\nlimit = \"1m\"\n"), 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (float64, error) {
		input, err := event()
		if err != nil {
			return 0, err
		}
		c := exec.CommandContext(ctx, program, "hook", "claude", "PostToolUse", "--strict")
		c.Env = append(os.Environ(), "CARREL_STORE="+filepath.Join(store, "carrel.db"), "CARREL_CONFIG="+settings)
		c.Stdin = bytes.NewReader(input)
		start := time.Now()
		if out, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s hook: %w: %s", filepath.Base(program), err, out)
		}
		return time.Since(start).Seconds(), nil
	}, nil
}

// claudeFile writes an invented session of size bytes to the path that Claude Code would use,
// and returns the path.
func claudeFile(dir string, size int) (string, error) {
	file, err := sessionFile(dir, size)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	var row struct {
		Session string `json:"sessionId"`
	}
	if err := json.Unmarshal(first, &row); err != nil {
		return "", err
	}
	path := filepath.Join(dir, row.Session+".jsonl")
	return path, os.Rename(file, path)
}

// toolEvent returns the event that Claude Code sends after a command with output.
func toolEvent(transcript, printed string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"session_id": strings.TrimSuffix(filepath.Base(transcript), filepath.Ext(transcript)), "transcript_path": transcript,
		"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": "go test ./..."},
		"tool_response": map[string]any{"stdout": printed, "stderr": "", "interrupted": false, "isImage": false},
	})
}

// toolOutput returns an invented output of a test run, of about size bytes.
func toolOutput(seed uint64, size int) string {
	rng := rand.New(rand.NewPCG(seed, 0x400c)) //nolint:gosec // it need not be hard to guess
	words := strings.Fields("the error handler returned an unexpected value in module parser while reading config at line with status connection refused retry build package passed failed warning deprecated call stack goroutine running buffer index out of range nil pointer")
	word := func() string { return words[rng.IntN(len(words))] }
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "--- PASS: Test_%s_%s (0.%02ds)\n", word(), word(), rng.IntN(100))
		case 1:
			fmt.Fprintf(&b, "\tinternal/%s/%s.go:%d: %s %s\n", word(), word(), rng.IntN(900), word(), word())
		default:
			for range 12 {
				b.WriteString(word() + " ")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
