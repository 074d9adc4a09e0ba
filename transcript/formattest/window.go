package formattest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// drawWindow returns a random window of a session: each block is
// kept, left out, replaced by a stub, or kept without some content. The last block
// is always kept.
func drawWindow(t *rapid.T, s *transcript.Session) *transcript.Window {
	blocks := transcript.Group(s.ID, 0, s.Messages)
	fate := rapid.SampledFrom([]string{"keep", "keep", "leave out", "stub", "bare", "shorten"})
	type placed struct {
		message int
		entry   transcript.Entry
	}
	var list []placed
	for i := range blocks {
		b := &blocks[i]
		what := fate.Draw(t, "fate of block")
		if i == len(blocks)-1 && (what == "leave out" || what == "stub") {
			what = "keep"
		}
		switch what {
		case "leave out":
			continue
		case "stub":
			list = append(list, placed{b.Messages[0], transcript.Stub(b.ID, "[carrel: block "+b.ID.Short()+" is <paged> & \"away\"]")})
			continue
		}
		for _, m := range b.Messages {
			e := transcript.Keep(&s.Messages[m], b.ID)
			switch what {
			case "bare":
				e = e.WithoutThinking()
			case "shorten":
				for _, r := range e.Results() {
					e = e.WithResult(r.CallID, rapid.SampledFrom(shorter).Draw(t, "new text of result"))
				}
			}
			list = append(list, placed{m, e})
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return a.message - b.message })
	w := &transcript.Window{Session: s}
	for _, p := range list {
		w.Entries = append(w.Entries, p.entry)
	}
	return w
}

// shorter lists replacement texts for results.
var shorter = []string{"", "short", "two\nlines", "quotes \" and \\ and </tags> & \x00\x7f\u2028 ü 🗝"}
