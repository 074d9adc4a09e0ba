// Package abstractive lets a model write the draft of a summary, and answer
// questions about a window.
//
// A [Summarizer] gives the model the blocks that are new, in chunks that fit its
// window: all of every block, cut at lines where one is too large. It asks for
// what is new in them, as JSON of the summary's sections, and unites the drafts by
// [summary.Summary.Merge]. The summary that is there already is shown beside them,
// so that it is not repeated; it is never summarized itself.
//
// # Conversations are data
//
// What is in a conversation may order the model about. It stands between lines
// that begin with a marker which none of it contains, and the model is told to
// follow nothing in there. That lowers the odds and is no proof: what comes back
// is checked, here for its form and its length, by the engine with probes.
//
// # Replies
//
// A refusal, an error text, what is no JSON of all sections, says nothing, or is
// longer than what it is about is [llm.ErrReply]. What is cut off or malformed is
// asked for once more, with twice the room. So there are two calls a chunk at
// most. A draft that fails in any way gives an error and nothing else.
//
// # Determinism and concurrency
//
// Equal input gives equal prompts; the model is what it is. Its name, the digest
// of all that was sent and what it cost are in the [Record]. Everything here may
// be used by several goroutines at once.
package abstractive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/summary"
)

// errWindow means that the window of the model is too small for what it is asked.
var errWindow = errors.New("window of the model is too small")

// defaultWindow is the window that a generator is taken to have that does not say,
// in tokens.
const defaultWindow = 8192

// A Summarizer drafts summaries. Generator must be set; the zero value of every
// other field is a sensible default.
type Summarizer struct {
	Generator llm.Generator

	// Window is how many tokens prompt and reply may have together. The default is
	// that of the generator, or else 8192.
	Window int

	// MaxTokens is how long a reply may be; the second try has twice that. The
	// default is an eighth of the window, 4096 at most.
	MaxTokens int

	// Counter counts tokens, rather too many than too few. The default is
	// [llm.Bound].
	Counter func(text string) int
}

// A Block is a block of a conversation as the model is shown it.
type Block struct {
	ID   string // short
	Role string
	Text string
}

// Input is what a draft is made from.
type Input struct {
	Blocks   []Block          // that are new, oldest first
	Previous *summary.Summary // what is known already, or nil
	Facts    []string         // to keep verbatim: paths, commands, decisions; also as "command: make ci"
}

// A Record says what the model was asked, and what that cost.
type Record struct {
	Model       string // and where it is from
	Calls       int
	Chunks      int // or batches of questions
	Usage       llm.Usage
	InputDigest digest.Digest // of the prompts, in order
}

// Draft returns a summary of the blocks, without metadata. If they say nothing of
// the intent, it is that of the previous summary. It fails with
// [llm.ErrReply] if the replies cannot be used, with another error if the window is too
// small, and otherwise as the generator does.
func (s *Summarizer) Draft(ctx context.Context, in *Input) (*summary.Summary, *Record, error) {
	d, err := s.begin(in)
	if err != nil {
		return nil, nil, fmt.Errorf("draft a summary: %w", err)
	}
	draft, err := d.draft(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("draft a summary: %w", err)
	}
	return draft, d.log.record(len(d.chunks)), nil
}

// A drafter makes one draft.
type drafter struct {
	*layout

	log    log
	chunks [][]piece
	texts  []string   // of the chunks
	facts  [][]string // to show beside each
	intent string     // that is known already
}

// begin lays out a draft.
func (s *Summarizer) begin(in *Input) (*drafter, error) {
	if s.Generator == nil {
		return nil, errors.New("no generator")
	}
	if s.Window < 0 || s.MaxTokens < 0 {
		return nil, errors.New("negative number")
	}
	window := cmp.Or(s.Window, s.Generator.Window())
	if window <= 0 {
		window = defaultWindow
	}
	count := s.Counter
	if count == nil {
		count = llm.Bound
	}
	reply := cmp.Or(s.MaxTokens, min(window/8, 4096))
	l := newLayout(in, count, window, reply)
	chunks, err := l.chunk(in.Blocks)
	if err != nil {
		return nil, err
	}
	d := &drafter{layout: l, log: newLog(s.Generator), chunks: chunks}
	for _, chunk := range chunks {
		var text strings.Builder
		for _, p := range chunk {
			text.WriteString(p.text)
		}
		d.texts = append(d.texts, text.String())
	}
	d.facts = l.factsOf(d.texts)
	if in.Previous != nil {
		d.intent = in.Previous.Intent
	}
	return d, nil
}

// draft unites the drafts of all chunks.
func (d *drafter) draft(ctx context.Context) (*summary.Summary, error) {
	whole := &summary.Summary{}
	size := 0 // of what it is about, in tokens
	for i, chunk := range d.chunks {
		part, err := d.part(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("chunk %d of %d: %w", i+1, len(d.chunks), err)
		}
		whole, _ = whole.Merge(part)
		size += d.size(chunk)
	}
	if len(whole.Entries()) == 0 {
		return nil, badReply("says nothing")
	}
	if err := d.fits(whole, size); err != nil {
		return nil, err
	}
	whole.Meta = summary.Meta{}
	whole.Intent = cmp.Or(whole.Intent, d.intent)
	fillEmpty(whole)
	return whole, nil
}

// fillEmpty says so where there is nothing, of which a merge leaves out a part.
func fillEmpty(s *summary.Summary) {
	s.Intent, s.State = cmp.Or(s.Intent, summary.None), cmp.Or(s.State, summary.None)
	if len(s.Files) == 0 {
		s.Files = summary.Files{{Path: summary.None}}
	}
	if len(s.Decisions) == 0 {
		s.Decisions = []summary.Decision{{Decision: summary.None}}
	}
	if len(s.Errors) == 0 {
		s.Errors = []summary.Error{{Error: summary.None}}
	}
	for _, items := range [...]*[]summary.Item{&s.Blockers, &s.Next, &s.Context} {
		if len(*items) == 0 {
			*items = []summary.Item{{Text: summary.None}}
		}
	}
}

// part returns the draft of a chunk, for which the model is asked twice at most.
func (d *drafter) part(ctx context.Context, i int) (*summary.Summary, error) {
	var draft *summary.Summary
	err := d.log.ask(ctx, &llm.Prompt{System: system, Text: d.prompt(i), MaxTokens: d.reply}, func(r *llm.Reply) (err error) {
		draft, err = parseDraft(r.Text)
		return err
	})
	if err != nil {
		return nil, err
	}
	keepSources(draft, d.chunks[i])
	source := &summary.Original{Text: d.previous + d.texts[i], Prompt: system}
	if err := inPlace(summary.Check(draft, source)); err != nil {
		return nil, err
	}
	return draft, d.fits(draft, d.size(d.chunks[i]))
}

// slack is how many tokens a draft may have that is about next to nothing.
const slack = 64

// fits fails if a draft is longer than what it is about.
func (d *drafter) fits(s *summary.Summary, size int) error {
	length := 0
	for _, e := range s.Entries() {
		length += d.count(e.Text)
	}
	if length > max(size, slack) {
		return badReply("%d tokens about %d", length, size)
	}
	return nil
}

// keepSources removes sources that are no block of the chunk.
func keepSources(s *summary.Summary, chunk []piece) {
	ids := make(map[string]bool, len(chunk))
	for _, p := range chunk {
		ids[p.block.ID] = true
	}
	keep := func(source *string) {
		if !ids[*source] {
			*source = ""
		}
	}
	for i := range s.Files {
		for j := range s.Files[i].Changes {
			keep(&s.Files[i].Changes[j].Source)
		}
	}
	for i := range s.Decisions {
		keep(&s.Decisions[i].Source)
	}
	for i := range s.Errors {
		keep(&s.Errors[i].Source)
	}
	for _, items := range [...][]summary.Item{s.Blockers, s.Next, s.Context, s.Artifacts} {
		for i := range items {
			keep(&items[i].Source)
		}
	}
}

// A log asks a model and keeps account of it.
type log struct {
	generator llm.Generator
	calls     int
	usage     llm.Usage
	sent      hash.Hash
}

func newLog(g llm.Generator) log { return log{generator: g, sent: sha256.New()} }

func (l *log) record(chunks int) *Record {
	return &Record{Model: l.generator.Name(), Calls: l.calls, Chunks: chunks, Usage: l.usage, InputDigest: digest.Digest(l.sent.Sum(nil))}
}

// ask asks the model and hands over the reply; once more, with twice the room, if
// that cannot be read.
func (l *log) ask(ctx context.Context, p *llm.Prompt, read func(*llm.Reply) error) error {
	for try := 1; ; try++ {
		reply, err := l.generate(ctx, p)
		if err != nil {
			return err
		}
		if reply.Stop == llm.StopRefusal {
			return badReply("the model refuses")
		}
		err = read(reply)
		_, again := errors.AsType[*formError](err)
		switch {
		case !again:
			return err
		case try == 2 && reply.Stop == llm.StopLength:
			return badReply("cut off, twice")
		case try == 2:
			return err
		}
		wider := *p
		wider.MaxTokens *= 2
		p = &wider
	}
}

func (l *log) generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	l.calls++
	for _, text := range [...]string{p.System, p.Text} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		l.sent.Write(size[:])
		l.sent.Write([]byte(text))
	}
	reply, err := l.generator.Generate(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case reply == nil:
		return nil, badReply("there is none")
	}
	l.usage = l.usage.Add(reply.Usage)
	return reply, nil
}
