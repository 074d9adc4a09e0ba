package contexts

import (
	"bytes"
	"fmt"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A piece describes the content of a stretch, before the stretch has a cell.
type piece struct {
	segment manifest.Segment
	sources []store.CellID
}

// A stretch is a piece with its position in the context.
type stretch = assembly.Stretch[piece]

// tile divides a context into stretches: parts, blocks of the session, and bytes that the format
// adds.
func tile(src *source, f *fitted, out *encoded) ([]stretch, error) {
	list := messages(src, f, out)
	at := 0
	for i := range f.parts {
		p := &f.parts[i]
		text := []byte(p.text)
		if src.format != nil {
			text = rawjson.AppendString(nil, p.text)
		}
		from := at
		if p.kind == manifest.KindSystem {
			from = 0 // the field may come after the messages
		}
		found := bytes.Index(out.data[from:], text)
		if found < 0 {
			return nil, fmt.Errorf("internal error, please report it: part %d of the context, %s, is not in its bytes", i, p.kind)
		}
		s := stretch{Start: from + found, End: from + found + len(text), Of: piece{segment: p.segment(), sources: p.sources}}
		if p.kind != manifest.KindSystem {
			at = s.End
		}
		list = append(list, s)
	}
	frame := piece{segment: manifest.Segment{Kind: manifest.KindFrame, Reason: manifest.ReasonFrame}}
	if src.held != nil {
		frame.sources = frameCells(src.held)
	}
	return assembly.Tile(list, len(out.data), frame), nil
}

// segment returns the segment that describes a part in a manifest.
func (p *part) segment() manifest.Segment {
	s := manifest.Segment{Kind: p.kind, Reason: p.reason, Tokens: p.tokens, Neutralized: p.marks}
	if p.pick != nil {
		row := &p.pick.page.Row
		s.Ref, s.Row, s.Version = string(row.ID), int64(p.pick.Row+1), int64(row.Version)
		s.Class, s.Form, s.Score, s.Fetched = row.Class, p.form, p.pick.score(), p.pick.fetched()
	}
	return s
}

// messages returns the stretches of the blocks of the session.
func messages(src *source, f *fitted, out *encoded) []stretch {
	h := src.held
	if h == nil {
		return nil
	}
	tokens := make(map[transcript.BlockID]token.Count)
	for i := range f.window.Entries {
		tokens[f.window.Entries[i].Block] += src.entry(&f.window.Entries[i])
	}
	var list []stretch
	seen, places := make(map[string]int), h.IndexByID()
	for _, sp := range out.spans {
		if sp.Block == "" {
			continue
		}
		p := piece{segment: manifest.Segment{Kind: manifest.KindMessage, Reason: manifest.ReasonWindow, Ref: string(sp.Block), Tokens: tokens[sp.Block]}}
		if h.Summary != nil && sp.Block == h.Summary.ID {
			p.segment.Kind, p.sources = manifest.KindStub, []store.CellID{h.Head.Summary}
			list = append(list, stretch{Start: sp.Start, End: sp.End, Of: p})
			continue
		}
		if n := len(list); n > 0 && list[n-1].Of.segment.Ref == p.segment.Ref {
			list[n-1].End = sp.End
			continue
		}
		row := &h.Rows[places[sp.Block]]
		p.sources = row.Cells
		if pager.Form(row.Form) != pager.Whole {
			p.segment.Kind = manifest.KindStub
		}
		if n := seen[p.segment.Ref]; n > 0 { // the block continues behind another one
			p.segment.Ref, p.segment.Tokens = fmt.Sprintf("%s:%d", p.segment.Ref, n+1), 0
		}
		seen[string(sp.Block)]++
		list = append(list, stretch{Start: sp.Start, End: sp.End, Of: p})
	}
	return list
}

// frameCells returns the cells of a session that belong to no block, such as those with the fields
// of a request body beside its messages.
func frameCells(h *hold.Snapshot) []store.CellID {
	blocks := make(map[store.CellID]bool)
	for i := range h.Rows {
		for _, c := range h.Rows[i].Cells {
			blocks[c] = true
		}
	}
	var cells []store.CellID
	for _, c := range h.Items {
		if !blocks[c] {
			cells = append(cells, c)
		}
	}
	return cells
}
