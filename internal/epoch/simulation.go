package epoch

import (
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
)

// A Simulation is for a conversation that the proxy only passes on. It estimates the size of the
// requests that the proxy would send if it managed the conversation. It knows sizes and chains of
// the heads that there would be, and no text. It assumes that the conversation was managed from its
// first call on, so that pointers stand in place of all large results.
type Simulation struct {
	sizes   *Sizes
	large   int
	pointer token.Count
	heads   map[digest.Digest]EstimatedHead
	newest  EstimatedHead
	spared  map[digest.Digest]spared // by the identities of messages with large results
}

// An EstimatedHead is a head that the proxy would have made if it had managed the conversation.
type EstimatedHead struct {
	Chain  digest.Digest // chain of the messages that the head would replace
	Epoch  int           // the epoch that the head would begin, from 1
	Tokens token.Count   // size of the head
}

// spared is the saving by pointers in a message: tokens, and the number of replaced results.
type spared struct {
	tokens  token.Count
	results int
}

// NewSimulation returns a Simulation without heads. A result of more than large bytes counts as a
// pointer whose size is the argument pointer. The Simulation must be the only user of sizes.
func NewSimulation(sizes *Sizes, large int, pointer token.Count) *Simulation {
	return &Simulation{sizes: sizes, large: large, pointer: pointer, heads: make(map[digest.Digest]EstimatedHead), spared: make(map[digest.Digest]spared)}
}

// Add adds a head.
func (s *Simulation) Add(h EstimatedHead) {
	s.heads[h.Chain] = h
	if h.Epoch >= s.newest.Epoch {
		s.newest = h
	}
}

// Newest returns the head of the newest epoch, or a zero head.
func (s *Simulation) Newest() EstimatedHead { return s.newest }

// An Image is an estimate of the request that the proxy would send if it managed the conversation.
type Image struct {
	Size

	Came    token.Count   // upper bound of the client's request
	Head    EstimatedHead // the head that would be used; its epoch is 0 without a head
	Results int           // how many results in the messages that were never sent would become pointers
}

// Of returns the image of a request.
func (s *Simulation) Of(q *wire.Request) (m Image) {
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

// less returns the saving by pointers in the message at index i.
func (s *Simulation) less(q *wire.Request, i int) spared {
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

// Cut begins an epoch: it adds the head that would be made for request q, whose image is m. The
// size of the head is the argument room without the frame, but at most the size of the messages
// that the head replaces.
func (s *Simulation) Cut(q *wire.Request, m *Image, room token.Count) {
	n := Covers(q)
	if n == 0 {
		return
	}
	tokens := min(max(room-m.Frame, 0), m.All-m.Frame-m.Fresh)
	s.Add(EstimatedHead{Chain: q.Messages[n-1].Chain, Epoch: s.newest.Epoch + 1, Tokens: tokens})
}
