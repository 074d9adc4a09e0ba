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

// An encoded is a context as bytes.
type encoded struct {
	data   []byte
	spans  []transcript.Span // positions of the session's messages in data
	losses []transcript.Loss
}

// encode encodes a context in its format. It fails if the provider's validator rejects the
// result.
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

// start returns how many entries of the window come before the other parts of a context. These are
// the entries with system text. If the provider compacted the conversation, they are all entries up
// to the last compaction, because the provider reads nothing before a compaction.
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

// inHead reports whether part i stands before the window of the session. Pins do, and so does the
// notice before the first pin.
func (f *fitted) inHead(i int) bool {
	return f.parts[i].kind == manifest.KindPin ||
		f.parts[i].kind == manifest.KindNotice && i+1 < len(f.parts) && f.parts[i+1].kind == manifest.KindPin
}

// plain encodes the context f in the format "text".
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
