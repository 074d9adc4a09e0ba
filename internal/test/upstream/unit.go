package upstream

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A unit is the smallest part of a request for the cache: a tool, a block of system text, the
// settings for the model, a block of a message (Messages), a message (Chat Completions), an
// item (Responses).
type unit struct {
	path   string
	sum    [sha256.Size]byte // digest of the unit and everything before it
	tokens int
	mark   time.Duration // lifetime of an entry that ends here; 0 without a mark
	loose  bool          // the unit is sent once and not cached; later units do not depend on it
}

// A chain is the units of a request, in the order in which the model reads them.
type chain []unit

// add appends a unit to the chain. The parts are the decoded JSON values that
// the unit consists of.
func (c *chain) add(path string, mark time.Duration, loose bool, parts ...any) {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("upstream: a JSON value cannot be written: %v", err)) // it was read from JSON
	}
	u := unit{path: path, tokens: tokens(len(data)), mark: mark, loose: loose}
	for _, part := range parts {
		bytes, pictures := mediaIn(part)
		u.tokens += pictures*mediaTokens - tokens(bytes)
	}
	var before [sha256.Size]byte
	if n := len(*c); n > 0 {
		before = (*c)[n-1].sum
	}
	u.sum = before
	if !loose {
		u.sum = sha256.Sum256(append(before[:], data...))
	}
	*c = append(*c, u)
}

// tokens returns the estimated tokens of size bytes: one for 3.5 bytes.
func tokens(size int) int { return (2*size + 6) / 7 }

// mediaTokens is the estimated size of a picture or a document.
const mediaTokens = 1500

// mediaIn looks for pictures and documents in a JSON value. It returns the number of bytes that
// they take in it, and how many there are.
func mediaIn(value any) (size, n int) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			s, k := mediaIn(v)
			size, n = size+s, n+k
		}
	case object:
		switch kind(value) {
		case "image", "document", "image_url", "input_image", "input_file":
			data, _ := json.Marshal(value) //nolint:errchkjson // it was read from JSON
			return len(data), 1
		}
		for _, v := range value {
			s, k := mediaIn(v)
			size, n = size+s, n+k
		}
	}
	return size, n
}

// total returns the tokens of the first n units.
func (c chain) total(n int) (sum int) {
	for _, u := range c[:n] {
		sum += u.tokens
	}
	return sum
}

// fixed returns the units that are not loose.
func (c chain) fixed() chain {
	return slices.DeleteFunc(slices.Clone(c), func(u unit) bool { return u.loose })
}

// chainOf returns the units of a request for a message.
func chainOf(b *body) chain {
	var c chain
	for i, t := range b.tools {
		later, _ := t["defer_loading"].(bool)
		if !later {
			c.add(fmt.Sprintf("tools.%d", i), markOf(t), false, without(t, "cache_control"))
		}
	}
	for i, s := range b.system {
		c.add(fmt.Sprintf("system.%d", i), markOf(s), false, plain(s))
	}
	c.add("settings", 0, false, b.all["tool_choice"], without(thinking(b), "block_binding"))
	for i, m := range b.messages {
		for k, block := range m.content {
			mark := markOf(block)
			for _, inner := range nested(block) {
				mark = max(mark, markOf(inner))
			}
			c.add(fmt.Sprintf("messages.%d.content.%d", i, k), mark, m.clears, m.role, plain(block))
		}
	}
	if mark := markOf(b.all); mark > 0 {
		c[len(c)-1].mark = max(mark, c[len(c)-1].mark)
	}
	return c
}

// markOf returns the lifetime that the cache mark of an object asks for, or 0
// if it has no mark.
func markOf(o object) time.Duration {
	m, ok := o["cache_control"].(object)
	switch {
	case !ok:
		return 0
	case text(m, "ttl") == "1h":
		return time.Hour
	}
	return 5 * time.Minute
}
