package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/transcript"
)

// grow returns up to n states of a growing conversation. The first has one n-th of the blocks, and
// each further one has one more n-th. The last state is the whole conversation.
func grow(name string, data []byte, n int) ([][]byte, error) {
	f, err := carrel.Detect(data)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode(name, data)
	if err != nil {
		return nil, err
	}
	blocks := transcript.Group(s.ID, 0, s.Messages)
	var parts [][]byte
	for k := 1; k < n; k++ {
		b := len(blocks) * k / n
		if b == 0 {
			continue
		}
		var part []byte
		if s.Format == "claudecode" {
			part = untilLine(s, blocks[:b])
		} else if part, err = untilMessage(data, blocks[:b]); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return append(parts, data), nil
}

// messagesOf returns the indexes of the messages of blocks.
func messagesOf(blocks []transcript.Block) []int {
	var all []int
	for i := range blocks {
		all = append(all, blocks[i].Messages...)
	}
	return all
}

// untilLine returns the lines of a session file up to the last line of blocks.
func untilLine(s *transcript.Session, blocks []transcript.Block) []byte {
	last := 0
	for _, m := range messagesOf(blocks) {
		for _, item := range s.Messages[m].Items {
			last = max(last, item)
		}
	}
	var b bytes.Buffer
	for _, it := range s.Items[:last+1] {
		b.Write(it.Raw)
	}
	return b.Bytes()
}

// untilMessage returns a request with only the messages of blocks.
func untilMessage(data []byte, blocks []transcript.Block) ([]byte, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, err
	}
	var msgs []json.RawMessage
	if err := json.Unmarshal(body["messages"], &msgs); err != nil {
		return nil, err
	}
	last := slices.Max(messagesOf(blocks))
	if last >= len(msgs) {
		return nil, fmt.Errorf("the blocks end with message %d, but the request has only %d", last, len(msgs))
	}
	raw, err := json.Marshal(msgs[:last+1])
	if err != nil {
		return nil, err
	}
	body["messages"] = raw
	return json.Marshal(body)
}

// failed prints the given results, which are of probes that the window does not answer.
func (t *trial) failed(results []probe.Result) {
	for i := range results {
		r := &results[i]
		t.tell("  %s: %s %s: missing %q", r.Place, r.Probe.Type, r.Probe.About, r.Missing)
	}
}
