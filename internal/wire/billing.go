package wire

import (
	"bytes"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// IsBilling reports whether a block of system is the billing line that Claude Code puts
// first. It differs between calls, and is no part of what a conversation says.
func IsBilling(d *rawjson.Document, block rawjson.Node) bool {
	return bytes.HasPrefix(d.Raw(d.Member(block, "text")), billing)
}
