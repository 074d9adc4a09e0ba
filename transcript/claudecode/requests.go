package claudecode

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/transcript"
)

// Requests implements [transcript.Logged].
//
// The log has each text once, by its SHA-256. A row api-request-shape has system text and tools, a
// row api-request-blob has a message that the conversation does not have in the same form, and a
// row api-request lists the messages of a request. Its field "base" names an earlier request, and
// "keep" says how many of the first messages of that request come first. The messages in the field
// "tail" follow them. A message of the conversation is the content of all rows of a reply, or of
// adjoining rows of the user. A text counts only if it has the digest by which it is named.
func (format) Requests(s *transcript.Session) ([]transcript.Request, []transcript.Warning) {
	if s.Logged == 0 {
		return nil, nil
	}
	l := &requestLog{
		frames: make(map[digest.Digest]int), messages: make(map[digest.Digest]int),
		made: make(map[string]*prompt), next: make(map[step]*prompt),
		answers: make(map[string]*answer), replies: make(map[string]*answer),
	}
	var rows []int
	for i := range s.Items {
		if l.index(i+1, s.Items[i].Raw) {
			rows = append(rows, i)
		}
	}
	for _, i := range rows {
		l.request(i+1, s.Items[i].Raw)
	}
	for i := range l.all {
		l.answer(&l.all[i])
	}
	return l.all, l.warnings()
}

// A requestLog is a log while it is read.
type requestLog struct {
	frames   map[digest.Digest]int // sizes of the known system texts with tools
	messages map[digest.Digest]int // sizes of the known messages
	run      run

	made    map[string]*prompt // prompts by the id of the request; nil if the log lacks the request on which it is based
	next    map[step]*prompt
	before  *prompt            // prompt of the last request
	answers map[string]*answer // by the id of the request
	replies map[string]*answer // by the id of the reply
	all     []transcript.Request

	losses [lossKinds]loss
}

// A loss counts one kind of entries that a log lacks. The field line has the line of the first.
type loss struct{ count, line int }

// The kinds of losses.
const (
	lossRow = iota
	lossBase
	lossFrame
	lossMessage
	lossKinds
)

func (l *requestLog) lose(kind, line int) {
	if l.losses[kind].count++; l.losses[kind].count == 1 {
		l.losses[kind].line = line
	}
}

func (l *requestLog) warnings() (all []transcript.Warning) {
	for kind, text := range [lossKinds]string{
		lossRow:     "rows of the client's log of requests that cannot be read (kept)",
		lossBase:    "logged requests that continue a request which the log lacks",
		lossFrame:   "logged requests whose system text and tools the log lacks",
		lossMessage: "logged requests with messages that are neither in the log nor in the session",
	} {
		if n := l.losses[kind]; n.count > 0 {
			all = append(all, transcript.Warning{Line: n.line, Text: fmt.Sprintf("%d %s", n.count, text)})
		}
	}
	return all
}

// index reads a row that a request can refer to, and reports whether the row is a request.
func (l *requestLog) index(line int, raw []byte) bool {
	text := bytes.TrimSpace(raw)
	f := gjson.GetMany(view(text), "type", "subtype", "message.role", "message.id", "message.content", "requestRef")
	switch kind := f[0].Str; {
	case strings.HasPrefix(kind, "api-request") && !gjson.ValidBytes(text):
		l.lose(lossRow, line)
	case kind == "api-request":
		return true
	case kind == "user" || kind == "assistant":
		l.run.add(f[2].Str, f[3].Str, f[4].Raw, l.messages)
		if kind == "assistant" {
			l.reply(view(text), f[5].Str, f[3].Str)
		}
	case f[1].Str == "compact_boundary":
		l.run = run{}
	case kind == "api-request-shape":
		l.text(line, gjson.Get(view(text), "shape").Raw, l.frames)
	case kind == "api-request-blob":
		l.text(line, gjson.Get(view(text), "message").Raw, l.messages)
	case kind == "api-request-resumed":
		l.resumed(line, view(text))
	}
	return false
}

// text adds the text of a row to the known ones.
func (l *requestLog) text(line int, raw string, known map[digest.Digest]int) {
	c := newCanonical()
	if raw == "" || c.add(raw) != nil {
		l.lose(lossRow, line)
		return
	}
	sum, size := c.sum("")
	known[sum] = size
}

// mostKept is the most messages of an earlier request that a row may refer to.
const mostKept = 1 << 20

// request reads a row api-request.
func (l *requestLog) request(line int, raw []byte) {
	f := gjson.GetMany(view(bytes.TrimSpace(raw)), "id", "sessionId", "agentId", "timestamp", "params.model", "shapeHash", "base", "keep", "tail")
	id, base, keep := f[0].Str, f[6].Str, f[7].Int()
	if id == "" || !f[8].IsArray() || keep < 0 || keep > mostKept || (base == "" && keep > 0) {
		l.lose(lossRow, line)
		return
	}
	r := transcript.Request{ID: id, Client: f[1].Str, Model: f[4].Str}
	if f[2].Str != "" {
		r.Client += "/" + f[2].Str
	}
	r.Begun, _ = time.Parse(time.RFC3339, f[3].Str) // zero if the row has no time
	var tail []digest.Digest
	broken := false
	f[8].ForEach(func(_, v gjson.Result) bool {
		d, err := digest.Parse(v.Str)
		tail, broken = append(tail, d), err != nil
		return !broken
	})
	if broken {
		l.lose(lossRow, line)
		return
	}
	frame, _ := digest.Parse(f[5].Str) // the zero digest, of no text, if it is none
	if size, known := l.frames[frame]; known {
		r.Frame, r.FrameBytes = frame, size
	} else {
		l.lose(lossFrame, line)
	}
	l.list(line, &r, base, int(keep), tail)
	l.all = append(l.all, r)
}

// list sets the messages of a request.
func (l *requestLog) list(line int, r *transcript.Request, base string, keep int, tail []digest.Digest) {
	r.Messages = keep + len(tail)
	p := l.made[base].first(keep)
	if keep > 0 && p == nil {
		l.lose(lossBase, line)
		l.made[r.ID], l.before, r.Missing = nil, nil, r.Messages
		return
	}
	for _, d := range tail {
		p = l.add(p, d)
	}
	l.made[r.ID] = p
	if p != nil {
		r.Chain, r.Bytes, r.Missing = p.chain, p.bytes, p.missing
	}
	if r.Missing > 0 {
		l.lose(lossMessage, line)
	}
	if same := common(l.before, p); same != nil {
		r.Kept, r.KeptBytes = same.count, same.bytes
	}
	l.before = p
}

// add returns a prompt with one more message. For equal prompts it returns the same pointer.
func (l *requestLog) add(p *prompt, message digest.Digest) *prompt {
	at := step{p, message}
	if next := l.next[at]; next != nil {
		return next
	}
	next := &prompt{before: p, jump: p, count: 1}
	var chain [2 * digest.Size]byte
	if p != nil {
		copy(chain[:], p.chain[:])
		next.count, next.bytes, next.missing = p.count+1, p.bytes, p.missing
		if far := p.jump; far != nil && p.count-far.count == far.count-far.jump.size() {
			next.jump = far.jump
		}
	}
	copy(chain[digest.Size:], message[:])
	next.chain = digest.Of(chain[:])
	if size, known := l.messages[message]; known {
		next.bytes += size
	} else {
		next.missing++
	}
	l.next[at] = next
	return next
}

// An answer is what a session has about the reply to a request.
type answer struct {
	id, stop string
	when     time.Time
}

// reply reads the row of a reply to a request.
func (l *requestLog) reply(raw, request, id string) {
	if request == "" || id == "" {
		return
	}
	a := l.replies[id]
	if a == nil {
		a = &answer{id: id}
		l.replies[id] = a
	}
	l.answers[request] = a
	f := gjson.GetMany(raw, "timestamp", "message.stop_reason")
	if when, err := time.Parse(time.RFC3339, f[0].Str); err == nil && when.After(a.when) {
		a.when = when
	}
	if f[1].Str != "" {
		a.stop = f[1].Str
	}
}

// resumed reads a row that says which request went on with a paused reply.
func (l *requestLog) resumed(line int, raw string) {
	f := gjson.GetMany(raw, "messageId", "resumedRequestId")
	if f[0].Str == "" || f[1].Str == "" {
		l.lose(lossRow, line)
		return
	}
	if l.replies[f[0].Str] == nil {
		l.replies[f[0].Str] = &answer{id: f[0].Str}
	}
	if l.answers[f[1].Str] == nil {
		l.answers[f[1].Str] = l.replies[f[0].Str]
	}
}

// answer adds the reply to a request.
func (l *requestLog) answer(r *transcript.Request) {
	if a := l.answers[r.ID]; a != nil {
		r.Reply, r.Replied, r.Stop = a.id, a.when, a.stop
	}
}
