package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
)

// A BlockID names one block of one session. It is derived from the session's
// id and the provider's id of the message, or else the block's position,
// never from the text, so that it reveals nothing about an erased text.
type BlockID string

// Short returns the first 8 characters of the id, which people and stubs use.
func (id BlockID) Short() string { return string(id[:min(8, len(id))]) }

// A Block is the smallest part of a session that is kept, paged or evicted as
// a whole.
type Block struct {
	ID       BlockID
	Turn     int // position in its window, from 1
	Kind     Kind
	Messages []int // indexes in the list of messages that was grouped, ascending
}

// A Kind is the kind of a block. It is stored as its text.
type Kind string

// The kinds of blocks.
const (
	KindSystem    Kind = "system"
	KindUser      Kind = "user"
	KindAssistant Kind = "assistant" // a reply without tool calls
	KindTool      Kind = "tool"      // a reply with tool calls, and their results
	KindSummary   Kind = "summary"   // a compaction's summary of older messages
	KindOrphan    Kind = "orphan"    // results without their call
)

// Said yields the parts of the block with their texts: texts, calls with arguments, and results,
// without thinking. The argument must be the list that was grouped.
func (b *Block) Said(messages []Message) iter.Seq2[Part, string] {
	return func(yield func(Part, string) bool) {
		for _, i := range b.Messages {
			for _, p := range messages[i].Parts {
				var text string
				switch p := p.(type) {
				case Text:
					text = string(p)
				case ToolCall:
					text = p.Name + " " + string(p.Input)
				case ToolResult:
					text = p.Text()
				default:
					continue
				}
				if !yield(p, text) {
					return
				}
			}
		}
	}
}

// Text returns the texts of [Block.Said], each followed by a line feed, for the same list.
func (b *Block) Text(messages []Message) string {
	size := 0
	for _, said := range b.Said(messages) {
		size += len(said) + 1
	}
	var text strings.Builder
	text.Grow(size)
	for _, said := range b.Said(messages) {
		text.WriteString(said)
		text.WriteByte('\n')
	}
	return text.String()
}

// Blocks groups the messages of s into blocks: now has those of s.Messages, and earlier[i] those of
// s.Earlier[i]. IDs are of generation 0. Short ids are unique in the session.
func (s *Session) Blocks() (now []Block, earlier [][]Block) {
	names := naming{session: s.ID, taken: make(map[string]bool)}
	for _, msgs := range s.Earlier {
		blocks := group(msgs)
		names.give(blocks, msgs)
		earlier = append(earlier, blocks)
	}
	now = group(s.Messages)
	names.give(now, s.Messages)
	return now, earlier
}

// Group groups messages into blocks, in the order of their first messages. A
// result joins the block of its call even if other messages stand between.
// IDs are made by [NewBlockID] with the given generation.
func Group(session SessionID, generation int, messages []Message) []Block {
	blocks := group(messages)
	names := naming{session, generation, make(map[string]bool, len(blocks))}
	names.give(blocks, messages)
	return blocks
}

func group(messages []Message) []Block {
	blocks := make([]Block, 0, len(messages))
	owner := make(map[string]int) // call id → block
	for i := range messages {
		m := &messages[i]
		if m.Role == RoleTool {
			if b, ok := ownerOf(owner, m); ok {
				blocks[b].Messages = append(blocks[b].Messages, i)
				continue
			}
		}
		for _, c := range m.Calls() {
			owner[c.ID] = len(blocks)
		}
		blocks = append(blocks, Block{Turn: len(blocks) + 1, Kind: kindOf(m), Messages: []int{i}})
	}
	return blocks
}

// A naming gives ids to the blocks of a session.
type naming struct {
	session    SessionID
	generation int
	taken      map[string]bool // short forms of the ids given so far
}

func (n *naming) give(blocks []Block, messages []Message) {
	for i := range blocks {
		b := &blocks[i]
		for try := 0; ; try++ {
			b.ID = NewBlockID(n.session, n.generation, b.Turn, messages[b.Messages[0]].ID, try)
			if short := b.ID.Short(); !n.taken[short] {
				n.taken[short] = true
				break
			}
		}
	}
}

// ownerOf returns the index of the block of the first call that m answers. The map owner has the
// index of the block of each call, by call id.
func ownerOf(owner map[string]int, m *Message) (int, bool) {
	for _, r := range m.Results() {
		if b, ok := owner[r.CallID]; ok {
			return b, true
		}
	}
	return 0, false
}

func kindOf(m *Message) Kind {
	switch {
	case m.Summary:
		return KindSummary
	case m.Role == RoleSystem:
		return KindSystem
	case m.Role == RoleTool:
		return KindOrphan
	case m.Role == RoleAssistant && len(m.Calls()) > 0:
		return KindTool
	case m.Role == RoleAssistant:
		return KindAssistant
	default:
		return KindUser
	}
}

// NewBlockID returns the id of a block: the first 16 hexadecimal digits of a SHA-256 over the
// arguments. If providerID, the id of the block's first message, is not empty, turn is ignored, so
// the id does not depend on the position. The generation is 0 at the first import; it is greater
// for a block that a later import finds with other content under the same id. The number in try is
// 0, or more if another block of the session has the same short form.
func NewBlockID(session SessionID, generation, turn int, providerID string, try int) BlockID {
	if providerID != "" {
		turn = 0
	}
	h := sha256.Sum256(fmt.Appendf(nil, "block/v1\x00%s\x00%d\x00%d\x00%s\x00%d", session, generation, turn, providerID, try))
	return BlockID(hex.EncodeToString(h[:8]))
}
