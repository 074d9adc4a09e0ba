package pagerjson

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of history files.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "pager" }

// Sniff implements [transcript.Format]: data is an object with the keys blocks
// and intent_ir. If data is cut off or broken, one of them is enough.
func (format) Sniff(data []byte) bool {
	r := newReader("", data)
	blocks, intent, err := r.sniff()
	if err != nil {
		return blocks || intent
	}
	return blocks && intent
}

// sniff looks for the two keys and stops when it has them.
func (r *reader) sniff() (blocks, intent bool, err error) {
	defer catch(&err)
	if r.peek() != '{' {
		return false, false, nil
	}
	r.at++
	for first := true; r.more(first, '}'); first = false {
		switch string(r.key()) {
		case "blocks":
			blocks = r.peek() == '[' || r.at == len(r.data)
		case "intent_ir":
			intent = true
		}
		if blocks && intent {
			break
		}
		r.skip(1)
	}
	return blocks, intent, nil
}

// Decode implements [transcript.Format]. Each block is a message with the
// block's id, and its object is the message's item. An unknown role
// becomes user. A tool's text becomes a result without a call.
//
// The session is named for the file, or for a hash of the data if the file has
// no name.
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	r := newReader(name, data)
	r.mark = true
	h, err := r.read()
	if err != nil {
		return nil, err
	}
	s := &transcript.Session{
		ID:       sessionID(name, data),
		Format:   f.Name(),
		Messages: make([]transcript.Message, len(h.Blocks)),
		Items:    make([]transcript.Item, 0, 2*len(h.Blocks)+1),
		Warnings: r.warnings,
	}
	at := 0
	for i, sp := range r.blocks {
		s.Items = append(s.Items,
			transcript.Item{Raw: data[at:sp.from:sp.from]},
			transcript.Item{Raw: data[sp.from:sp.to:sp.to]})
		s.Messages[i] = message(&h.Blocks[i], 2*i+1)
		at = sp.to
	}
	s.Items = append(s.Items, transcript.Item{Raw: data[at:]})
	return s, nil
}

// sessionID returns an id made from the file name, or from a hash of data.
func sessionID(name string, data []byte) transcript.SessionID {
	if name != "" {
		base := filepath.Base(filepath.ToSlash(name))
		return transcript.SessionID(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	h := sha256.Sum256(data)
	return transcript.SessionID("pager-" + hex.EncodeToString(h[:8]))
}

// message returns a block as a message.
func message(b *Block, item int) transcript.Message {
	m := transcript.Message{ID: b.ID, Role: transcript.Role(b.Role), Items: []int{item}}
	switch m.Role {
	case transcript.RoleTool:
		m.Parts = []transcript.Part{transcript.ToolResult{CallID: b.ID, Content: []transcript.Part{transcript.Text(string(b.Text))}}}
		return m
	case transcript.RoleSystem, transcript.RoleUser, transcript.RoleAssistant:
	default:
		m.Role = transcript.RoleUser
	}
	m.Parts = []transcript.Part{transcript.Text(string(b.Text))}
	return m
}

// Validate implements [transcript.Format]. The reasons are
//
//	P1  a key that must be there is missing
//	P2  a value has the wrong type or is out of range
//	P3  two blocks have the same id
//	P4  a block is newer than the current turn
//	P5  there are no blocks
//	P6  a key occurs twice
func (format) Validate(data []byte) ([]transcript.Violation, error) {
	r := newReader("", data)
	r.lenient = true
	h, err := r.read()
	if err != nil {
		return nil, err
	}
	if len(r.violations) > 0 {
		return r.violations, nil // further checks need a readable file
	}
	report := func(rule string, block int, key, format string, args ...any) {
		r.problem(rule, block, key, 0, "", format, args...)
	}
	if len(h.Blocks) == 0 {
		report(ruleEmpty, -1, "blocks", "there are no blocks")
	}
	first := make(map[string]int, len(h.Blocks))
	for i, b := range h.Blocks {
		if j, ok := first[b.ID]; ok {
			report(ruleDuplicate, i, "id", "%q is the id of block %d, too", b.ID, j)
		} else {
			first[b.ID] = i
		}
		if h.Current != nil && b.Turn.Value > h.Current.Value {
			report(ruleNewer, i, "turn", "turn %v is after the current turn %v", b.Turn, *h.Current)
		}
	}
	return r.violations, nil
}

// block reads the object of one block of a session that Decode returned.
func block(raw []byte) (Block, span, error) {
	r := newReader("", raw)
	var b Block
	err := func() (err error) {
		defer catch(&err)
		b = r.block(0)
		return nil
	}()
	if err != nil {
		return b, span{}, fmt.Errorf("block of a history: %w", err)
	}
	return b, r.text, nil
}
