package contexts

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// An encoded context is its bytes.
type encoded struct {
	data   []byte
	spans  []transcript.Span // where the messages of the session are
	losses []transcript.Loss
}

// encode writes a context in its format, which the provider's rules must accept.
func encode(src *source, f *fitted) (*encoded, error) {
	if src.format == nil {
		return plain(f), nil
	}
	var system, head, tail []transcript.Part
	for i := range f.parts {
		list := &tail
		switch {
		case f.parts[i].kind == manifest.KindSystem:
			list = &system
		case f.inHead(i):
			list = &head
		}
		*list = append(*list, transcript.Text(f.parts[i].text))
	}
	message := func(role transcript.Role, parts []transcript.Part) []transcript.Entry {
		if len(parts) == 0 {
			return nil
		}
		return []transcript.Entry{{Message: transcript.Message{Role: role, Parts: parts}}}
	}
	at := start(src, f.window)
	out, err := hold.Encode(src.format, &transcript.Window{Session: f.window.Session, Entries: slices.Concat(
		message(transcript.RoleSystem, system), f.window.Entries[:at],
		message(transcript.RoleUser, head), f.window.Entries[at:], message(transcript.RoleUser, tail),
	)})
	if err != nil {
		return nil, err
	}
	return &encoded{data: out.Data, spans: out.Spans, losses: slices.Concat(f.losses, out.Losses)}, nil
}

// start returns how many entries of the window stand before what a context begins
// with: its system text and, if the provider made a compaction, all up to that, because
// the provider reads nothing that stands before it.
func start(src *source, w *transcript.Window) int {
	at := 0
	for at < len(w.Entries) && w.Entries[at].Role == transcript.RoleSystem {
		at++
	}
	if src.held == nil {
		return at
	}
	last := transcript.BlockID("")
	for i := range src.held.Blocks {
		if b := &src.held.Blocks[i]; pager.Compaction(src.held.Session.Messages, b) {
			last = b.ID
		}
	}
	for i := range w.Entries {
		if last != "" && w.Entries[i].Block == last {
			at = i + 1
		}
	}
	return at
}

// inHead reports whether part i stands before the window: pins do, and the
// notice before them.
func (f *fitted) inHead(i int) bool {
	return f.parts[i].kind == manifest.KindPin ||
		f.parts[i].kind == manifest.KindNotice && i+1 < len(f.parts) && f.parts[i+1].kind == manifest.KindPin
}

// plain writes a context as text.
func plain(f *fitted) *encoded {
	var b bytes.Buffer
	out := &encoded{losses: f.losses}
	at := 0
	for at < len(f.parts) && (f.parts[at].kind == manifest.KindSystem || f.inHead(at)) {
		b.WriteString(f.parts[at].text)
		at++
	}
	for i := range f.window.Entries {
		from := b.Len()
		b.WriteString(assembly.Plain(&f.window.Entries[i]))
		out.spans = append(out.spans, transcript.Span{Block: f.window.Entries[i].Block, Start: from, End: b.Len()})
	}
	for ; at < len(f.parts); at++ {
		b.WriteString(f.parts[at].text)
	}
	out.data = b.Bytes()
	return out
}
