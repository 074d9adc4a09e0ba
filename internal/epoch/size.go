package epoch

import (
	"encoding/json"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

// Sizes counts the tokens of requests for one model. It remembers the counts of messages.
type Sizes struct {
	counter token.Counter
	framing token.Framing
	known   map[digest.Digest]token.Count
}

// mostKnown limits how many counts Sizes remembers. When it has as many, it forgets all of them.
const mostKnown = 20_000

// NewSizes returns Sizes for a model that is called in a dialect.
func NewSizes(dialect wire.Dialect, model string) *Sizes {
	provider := "openai"
	if dialect == wire.Anthropic {
		provider = "anthropic"
	}
	return &Sizes{counter: token.ForModel(model), framing: token.FramingOf(provider), known: make(map[digest.Digest]token.Count)}
}

// A Size has upper bounds of the parts of a request that is sent.
type Size struct {
	All   token.Count
	Fresh token.Count // messages that a new head would not replace, see [Covers]
	Frame token.Count // system and tools
	Tools token.Count // of these, tools
	Made  token.Count // frame and head, the size when the epoch began; 0 without a head
}

// Of returns the size of the request that a plan sends. A picture counts as many tokens as the
// largest picture can cost; signatures and encrypted reasoning count a token for each four bytes.
// A document that is text counts as its text. Another file counts a token for each 16 bytes, or as
// a picture if the request has only its address or id.
func (s *Sizes) Of(q *wire.Request, p *Plan) (z Size) {
	z.Tools, z.Frame = s.frame(q)
	z.All = z.Frame
	covers, n := Covers(q), 0
	for m := range p.pieces(q) {
		z.All += s.message(m)
		if n++; p.head != nil && n == len(p.head.spans) {
			z.Made = z.All
		}
		if m.at >= covers {
			z.Fresh += s.message(m)
		}
	}
	return z
}

// frame returns the size of the tools, and of tools and system text together.
func (s *Sizes) frame(q *wire.Request) (tools, all token.Count) {
	tools = s.once(q.Frame, func() token.Count {
		return s.framing.Request + s.framing.Tools + s.counter.Count(string(q.Doc.Raw(q.Tools)))
	})
	if q.System == rawjson.NoNode {
		return tools, tools
	}
	system := q.Doc.Raw(q.System)
	return tools, tools + s.once(digest.Of(system), func() token.Count { return s.value(system) })
}

func (s *Sizes) message(m piece) token.Count {
	return s.once(m.id, func() token.Count { return s.framing.Message + s.value(m.text) })
}

func (s *Sizes) once(id digest.Digest, count func() token.Count) token.Count {
	n, found := s.known[id]
	if !found {
		if len(s.known) >= mostKnown {
			clear(s.known)
		}
		n = count()
		s.known[id] = n
	}
	return n
}

// value counts the tokens of a JSON value without its syntax, which the model does not see.
func (s *Sizes) value(raw []byte) token.Count {
	n := token.Count(0)
	r := rawjson.NewReader(raw)
	r.Twins = true
	if err := s.walk(r, "", &n); err != nil {
		return s.counter.Count(string(raw)) // of nothing: the request was parsed before
	}
	return n
}

func (s *Sizes) walk(r *rawjson.Reader, key string, n *token.Count) error {
	switch r.Kind() {
	case rawjson.Array:
		return r.Array(func(int) error { return s.walk(r, key, n) })
	case rawjson.Object:
		return s.object(r, n)
	case rawjson.String:
		text, err := r.String()
		switch key {
		case "type", "role":
		case "signature", "data", "encrypted_content":
			*n += token.Count(len(text) / 4)
		default:
			*n += s.counter.Count(text)
		}
		return err
	case rawjson.None, rawjson.Number, rawjson.True, rawjson.False, rawjson.Null:
	}
	_, err := r.Skip()
	return err
}

// object counts the tokens of the members of an object.
func (s *Sizes) object(r *rawjson.Reader, n *token.Count) error {
	return r.Object(func(key string) error {
		switch key {
		case "input": // of a call
			span, err := r.Skip()
			*n += s.framing.Call + s.counter.Count(string(r.Of(span)))
			return err
		case "image_url":
			*n += token.ImageBound
			_, err := r.Skip()
			return err
		case "source": // of an image or a document
			span, err := r.Skip()
			*n += s.source(r.Of(span))
			return err
		case "file_data":
			span, err := r.Skip()
			*n += fileBound(span.End - span.Start)
			return err
		case "arguments":
			*n += s.framing.Call
		case "tool_use_id", "tool_call_id":
			*n += s.framing.Result
		case "cache_control", "prompt_cache_breakpoint":
			_, err := r.Skip()
			return err
		}
		return s.walk(r, key, n)
	})
}

// source counts the tokens of the source of an image or a document of Messages.
func (s *Sizes) source(raw []byte) token.Count {
	var source struct {
		Type    string          `json:"type"`
		Media   string          `json:"media_type"`
		Data    string          `json:"data"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &source) != nil {
		return token.ImageBound
	}
	switch {
	case source.Type == "text":
		return s.counter.Count(source.Data)
	case source.Type == "content":
		return s.value(source.Content)
	case source.Media != "" && !strings.HasPrefix(source.Media, "image/"):
		return fileBound(len(source.Data))
	}
	return token.ImageBound
}

// fileBound estimates the tokens of a file of so many encoded bytes, as package hold does.
func fileBound(size int) token.Count { return max(token.ImageBound, token.Count(size/16)) }
