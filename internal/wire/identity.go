package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A hasher computes the digests of a request. It is reused, so that a message costs no
// allocation. It hashes the kind and the length of each piece before its bytes, so that two
// different lists of pieces never give the same input.
type hasher struct {
	h     hash.Hash
	small []byte
}

func (s *hasher) begin() {
	if s.h == nil {
		s.h, s.small = sha256.New(), make([]byte, 0, 2*digest.Size)
	}
}

// The kinds of pieces.
const (
	pieceForm   = 'F' // a part of the frame follows
	pieceMember = 'K' // a key; its value follows
	pieceValue  = 'V' // a value as it was written
	pieceBlocks = 'L' // a list of blocks follows
	pieceText   = 'T' // a block that has only a text
	pieceBlock  = 'B' // any other block; its members follow
	pieceEnd    = 'E' // end of a list or a block
)

func (s *hasher) piece(kind byte, data []byte) {
	s.small = append(s.small[:0], kind)
	s.small = binary.AppendUvarint(s.small, uint64(len(data)))
	s.h.Write(s.small)
	s.h.Write(data)
}

func (s *hasher) sum() (d digest.Digest) {
	s.small = s.h.Sum(s.small[:0])
	copy(d[:], s.small)
	s.h.Reset()
	return d
}

// message returns the identity of a message.
func (s *hasher) message(dialect Dialect, d *rawjson.Document, n rawjson.Node, role Role) digest.Digest {
	plain := textType(dialect, role)
	if d.Kind(n) == rawjson.String { // the whole input is one text
		s.piece(pieceMember, []byte("role"))
		s.piece(pieceValue, []byte(`"user"`))
		s.piece(pieceMember, []byte("content"))
		s.oneText(d.Raw(n))
		return s.sum()
	}
	for m := range d.Children(n) {
		key := d.Key(m)
		if IsMark(key) || dialect == Responses && string(key) == "type" && string(d.Raw(m)) == `"message"` {
			continue
		}
		s.piece(pieceMember, key)
		switch {
		case string(key) != "content":
			s.piece(pieceValue, d.Raw(m))
		case d.Kind(m) == rawjson.String:
			s.oneText(d.Raw(m))
		default:
			s.blocks(d, m, plain)
		}
	}
	return s.sum()
}

// oneText hashes a text as if it were a list of one text block.
func (s *hasher) oneText(raw []byte) {
	s.piece(pieceBlocks, nil)
	s.piece(pieceText, raw)
	s.piece(pieceEnd, nil)
}

// textType returns the JSON of the type that a block has if it is equivalent to a
// plain text.
func textType(dialect Dialect, role Role) string {
	switch {
	case dialect != Responses:
		return `"text"`
	case role == RoleAssistant:
		return `"output_text"`
	}
	return `"input_text"`
}

// IsMark reports whether a key is that of a cache mark. Clients set such marks to
// control the provider's cache; the model does not see them.
func IsMark(key []byte) bool {
	return string(key) == "cache_control" || string(key) == "prompt_cache_breakpoint"
}

// blocks hashes a list of objects without their cache marks. It hashes any other
// value as it is written. The argument plain is the type of blocks that are hashed
// like a plain text.
func (s *hasher) blocks(d *rawjson.Document, list rawjson.Node, plain string) {
	if d.Kind(list) != rawjson.Array {
		s.piece(pieceValue, d.Raw(list))
		return
	}
	s.piece(pieceBlocks, nil)
	for b := range d.Children(list) {
		s.block(d, b, plain)
	}
	s.piece(pieceEnd, nil)
}

func (s *hasher) block(d *rawjson.Document, b rawjson.Node, plain string) {
	if d.Kind(b) != rawjson.Object {
		s.piece(pieceValue, d.Raw(b))
		return
	}
	var text rawjson.Node
	kind, others := false, false
	for m := range d.Children(b) {
		switch key := d.Key(m); {
		case IsMark(key):
		case string(key) == "type" && string(d.Raw(m)) == plain:
			kind = true
		case string(key) == "text" && d.Kind(m) == rawjson.String:
			text = m
		default:
			others = true
		}
	}
	if kind && text != rawjson.NoNode && !others {
		s.piece(pieceText, d.Raw(text))
		return
	}
	s.piece(pieceBlock, nil)
	for m := range d.Children(b) {
		if key := d.Key(m); !IsMark(key) {
			s.piece(pieceMember, key)
			s.piece(pieceValue, d.Raw(m))
		}
	}
	s.piece(pieceEnd, nil)
}

// Extend returns the chain of a history that is one message longer. The argument before is
// the chain of the history so far, and id is the identity of the new message. The chain of
// an empty history is zero.
func Extend(dialect Dialect, before, id digest.Digest) digest.Digest {
	var room [4 * digest.Size]byte
	text := append(append(room[:0], dialect...), 0)
	return digest.Of(append(append(text, before[:]...), id[:]...))
}

// billing is the beginning of the first system block of Claude Code. That block differs between
// calls, and the provider does not cache it.
var billing = []byte(`"x-anthropic-billing-header:`)

// IsBilling reports whether a system block is Claude Code's billing line, which differs between
// calls and is not cached.
func IsBilling(d *rawjson.Document, block rawjson.Node) bool {
	return bytes.HasPrefix(d.Raw(d.Member(block, "text")), billing)
}

// frame sets q.Frame to the digest of system and tools.
func (q *Request) frame() {
	s, d := &q.sum, q.Doc
	s.piece(pieceForm, []byte("frame"))
	switch {
	case q.System == rawjson.NoNode:
	case d.Kind(q.System) == rawjson.String:
		s.oneText(d.Raw(q.System))
	case d.Kind(q.System) == rawjson.Array:
		s.piece(pieceBlocks, nil)
		for b := range d.Children(q.System) {
			if !IsBilling(d, b) {
				s.block(d, b, textType(q.Dialect, RoleSystem))
			}
		}
		s.piece(pieceEnd, nil)
	default:
		s.piece(pieceValue, d.Raw(q.System))
	}
	s.piece(pieceForm, []byte("tools"))
	if q.Tools != rawjson.NoNode {
		s.blocks(d, q.Tools, "")
	}
	q.Frame = s.sum()
}
