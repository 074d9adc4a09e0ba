// Package abstractive drafts summaries with a model, and asks a model questions about a window.
//
// A [Summarizer] shows the model the new blocks, in chunks that fit its window. Every block is
// shown whole; a block that is too large for a chunk is cut at lines. For each chunk the model
// writes the new points as JSON, with the sections of a summary, within its part of [Input].Room.
// [summary.Summary.Merge] unites the drafts. The previous summary is shown beside each chunk so
// that the model does not repeat it. It is never summarized itself.
//
// # Conversations are data
//
// A conversation may contain instructions to the model. It stands between lines that begin with
// a marker, a word that occurs nowhere in it, and the prompt says that no instruction between
// them may be followed. That lowers the risk but proves nothing. So replies are checked: here
// for form and length, and by the engine with probes.
//
// # Replies
//
// If a reply is cut off or has no JSON with all sections, the chunk is asked for once more, with
// twice the tokens. A draft fails with [llm.ErrReply] if the second reply has such a fault, if a
// reply is a refusal or an error text or longer than its chunk, or if the drafts together have no
// content. The result is then the error alone, without a Record. Single entries that are a refusal,
// an error text or a part of the prompt are left out, at most one in four. Intent and state get a
// line for each sentence.
//
// # Determinism and concurrency
//
// Equal input gives equal prompts; replies depend on the model. The [Record] has the name of
// the model, the digest of all prompts and the tokens spent. All functions and methods may be
// called concurrently.
package abstractive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/summary"
)

// errWindow means that the window of the model is too small for a prompt.
var errWindow = errors.New("the window of the model is too small")

// defaultWindow is the assumed window of a generator that does not state its own, in tokens.
const defaultWindow = 8192

// A Summarizer drafts summaries. Generator must be set; the zero value of every
// other field is a sensible default.
type Summarizer struct {
	Generator llm.Generator

	// Window is the limit for prompt and reply together, in tokens. The default is the window
	// of the generator, or else 8192.
	Window int

	// MaxTokens is the limit for a reply. The second try has twice as many. The default is an
	// eighth of the window, but at most 4096, or twice [Input].Room if that is more.
	MaxTokens int

	// Counter counts tokens. It must not count too few. The default is [llm.Bound].
	Counter func(text string) int
}

// A Block is a block of a conversation, as shown to the model.
type Block struct {
	ID   string // short id
	Role string // shown as it is, such as "user"
	Text string
}

// Input has the blocks to summarize and the context that the model gets beside them.
type Input struct {
	Blocks   []Block          // new blocks, oldest first
	Previous *summary.Summary // summary so far, or nil
	Facts    []string         // facts to keep verbatim, such as a path or, with a label, "command: make ci"
	Room     int              // tokens that the draft should have at most; 0 for no such limit
}

// A Record describes the calls of a model and their cost.
type Record struct {
	Model       string // name of the model and its origin
	Calls       int
	Chunks      int // number of chunks, or of batches of questions
	Usage       llm.Usage
	InputDigest digest.Digest // digest of all prompts, in order
}

// Draft returns a summary of in.Blocks, without metadata. It does not contain in.Previous, which
// the caller merges with it; but if the blocks state no intent, it has that of in.Previous. It
// fails with [llm.ErrReply] if the replies cannot be used, with another error if the window is too
// small, and with the errors of the generator.
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

// A drafter makes one draft. It holds the parts of the prompts.
type drafter struct {
	*layout

	log    log
	chunks [][]piece
	texts  []string   // text of each chunk
	facts  [][]string // facts to show beside each chunk
	intent string     // intent of the previous summary
}

// begin checks the settings and lays out the prompts of a draft.
func (s *Summarizer) begin(in *Input) (*drafter, error) {
	if s.Generator == nil {
		return nil, errors.New("no generator: set Generator, the model that writes the draft")
	}
	if s.Window < 0 || s.MaxTokens < 0 {
		return nil, fmt.Errorf("the window is %d and the limit of a reply is %d tokens, want none below 0", s.Window, s.MaxTokens)
	}
	window := cmp.Or(s.Window, s.Generator.Window())
	if window <= 0 {
		window = defaultWindow
	}
	count := s.Counter
	if count == nil {
		count = llm.Bound
	}
	reply := cmp.Or(s.MaxTokens, min(window/8, max(4096, 2*in.Room)))
	l := newLayout(in, count, window, reply)
	chunks, err := l.chunk(in.Blocks)
	if err != nil {
		return nil, err
	}
	l.system = systemFor(min(in.Room/max(len(chunks), 1), reply*3/4)) // the form takes the rest of a reply
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

// draft asks for a draft of each chunk and unites them.
func (d *drafter) draft(ctx context.Context) (*summary.Summary, error) {
	whole := &summary.Summary{}
	size := 0 // tokens of all chunks
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
	whole, _ = whole.Without(nil) // a merge may leave sections without content
	return whole, nil
}

// part returns the draft of chunk i. It asks the model twice at most.
func (d *drafter) part(ctx context.Context, i int) (*summary.Summary, error) {
	var draft *summary.Summary
	err := d.log.ask(ctx, &llm.Prompt{System: d.system, Text: d.prompt(i), MaxTokens: d.reply}, func(r *llm.Reply) (err error) {
		draft, err = parseDraft(r.Text)
		return err
	})
	if err != nil {
		return nil, err
	}
	keepSources(draft, d.chunks[i])
	source := &summary.Original{Text: d.previous + d.texts[i], Prompt: d.system}
	problems := slices.DeleteFunc(summary.Check(draft, source), func(p summary.Problem) bool { return inPlace([]summary.Problem{p}) == nil })
	rest, gone := draft.Without(problems)
	if gone > len(draft.Entries())/mostBad || isNone(rest.Intent) && !isNone(draft.Intent) || isNone(rest.State) && !isNone(draft.State) {
		return nil, inPlace(problems)
	}
	return rest, d.fits(rest, d.size(d.chunks[i]))
}

// mostBad limits the entries of a draft that are a refusal, an error or a part of the prompt: one
// in four may be left out. If there are more, or the whole intent or state is one, the draft is
// refused.
const mostBad = 4

// minDraft is a number of tokens that every draft may have, even if its chunk is shorter. A draft
// with more tokens must not be longer than its chunk.
const minDraft = 64

// fits returns an error if a draft has more tokens than its chunk and more than minDraft. The chunk
// has the number of tokens in size.
func (d *drafter) fits(s *summary.Summary, size int) error {
	length := 0
	for _, e := range s.Entries() {
		length += d.count(e.Text)
	}
	if length > max(size, minDraft) {
		return badReply("the draft has %d tokens, more than the %d tokens of its source", length, size)
	}
	return nil
}

// keepSources removes sources that name no block of the chunk.
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

// A log calls a model and records the calls.
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

// ask calls the model and passes the reply to the function read. If that fails because of the
// reply's form, ask calls the model once more with twice the tokens.
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
			return badReply("cut off, twice, the second time at %d tokens: set a higher limit for replies", p.MaxTokens)
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
		return nil, badReply("the generator returned no reply")
	}
	l.usage = l.usage.Add(reply.Usage)
	return reply, nil
}
