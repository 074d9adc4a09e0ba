package epoch

import (
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
)

// A Shadow reckons what managing would send of a conversation that goes as it came. It has
// the sizes and the chains of heads that nobody made, and no text. It takes the conversation
// to be managed from its first call on: each large result is a pointer, wherever it stands.
type Shadow struct {
	sizes   *Sizes
	large   int
	pointer token.Count
	heads   map[digest.Digest]Imagined
	newest  Imagined
	spared  map[digest.Digest]spared // by the identity of a message that has large results
}

// An Imagined is a head that would stand in place of the messages of a chain.
type Imagined struct {
	Chain  digest.Digest
	Epoch  int         // that it began, from 1
	Tokens token.Count // of it
}

// spared is what pointers in place of large results leave out of a message.
type spared struct {
	tokens  token.Count
	results int
}

// NewShadow returns a shadow without heads. Results of more than so many bytes would become
// a pointer of a size. The sizes are not used by anybody else.
func NewShadow(sizes *Sizes, large int, pointer token.Count) *Shadow {
	return &Shadow{sizes: sizes, large: large, pointer: pointer, heads: make(map[digest.Digest]Imagined), spared: make(map[digest.Digest]spared)}
}

// Add adds a head.
func (s *Shadow) Add(h Imagined) {
	s.heads[h.Chain] = h
	if h.Epoch >= s.newest.Epoch {
		s.newest = h
	}
}

// Newest returns the head of the newest epoch, or none.
func (s *Shadow) Newest() Imagined { return s.newest }

// An Image is what would be sent for a request.
type Image struct {
	Size

	Came    token.Count // bound of the request as it came
	Head    Imagined    // in front of what would be sent; its epoch is 0 if there is none
	Results int         // large ones of the newest messages, which would be shortened
}

// Of returns what would be sent for a request.
func (s *Shadow) Of(q *wire.Request) (m Image) {
	covered := 0
	for i := len(q.Messages) - 1; i >= 0 && covered == 0 && len(s.heads) > 0; i-- {
		if h, found := s.heads[q.Messages[i].Chain]; found {
			m.Head, covered = h, i+1
		}
	}
	m.Tools, m.Frame = s.sizes.frame(q)
	m.All, m.Came = m.Frame+m.Head.Tokens, m.Frame
	if covered > 0 {
		m.Made = m.All
	}
	covers, fresh := Covers(q), Fresh(q, func(digest.Digest) bool { return false })
	for i := range q.Messages {
		n := s.sizes.message(piece{i, q.Messages[i].Identity, q.Doc.Raw(q.Messages[i].Node)})
		m.Came += n
		if i < covered {
			continue
		}
		less := s.less(q, i)
		m.All += n - less.tokens
		if i >= covers {
			m.Fresh += n - less.tokens
		}
		if i >= fresh {
			m.Results += less.results
		}
	}
	return m
}

// less returns what pointers leave out of a message.
func (s *Shadow) less(q *wire.Request, i int) spared {
	m := &q.Messages[i]
	if len(q.Doc.Raw(m.Node)) <= s.large {
		return spared{}
	}
	known, found := s.spared[m.Identity]
	if found {
		return known
	}
	for _, o := range outputs(q, i, i+1, s.large) {
		if n := s.sizes.counter.Count(o.Text); n > s.pointer && !tool.Recalls(o.Call) {
			known.tokens += n - s.pointer
			known.results++
		}
	}
	s.spared[m.Identity] = known
	return known
}

// Cut begins an epoch: it adds the head that would be made for a request of which m is the
// image, for a size with system and tools. A head takes no more than what it stands for.
func (s *Shadow) Cut(q *wire.Request, m *Image, room token.Count) {
	n := Covers(q)
	if n == 0 {
		return
	}
	tokens := min(max(room-m.Frame, 0), m.All-m.Frame-m.Fresh)
	s.Add(Imagined{Chain: q.Messages[n-1].Chain, Epoch: s.newest.Epoch + 1, Tokens: tokens})
}
