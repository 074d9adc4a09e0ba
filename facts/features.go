package facts

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/bins"
	"github.com/carrel-dev/carrel/internal/lazy"
)

// Numbers of features.
const (
	nameFeatures = 23
	lineFeatures = 23
)

// NameFeatures has the bin of each feature of a name, in the order of
// [FeaturesOfNames].
type NameFeatures [nameFeatures]uint8

// LineFeatures has the bin of each feature of a line, in the order of
// [FeaturesOfLines].
type LineFeatures [lineFeatures]uint8

// A Feature is an observable property of a name or a line, with a few bins as
// values.
type Feature struct {
	Name string
	Bins []string
}

var (
	yes      = []string{"no", "yes"}
	hotFiles = []string{"no-file", "cold", "in-use", "named"}
	calls    = []string{"0", "1", "2-3", "4-7", "8-15", "16-31", "more"}
	rarity   = []string{"0", "<5", "<9", "<13", "<17", "<25", "more"}
	parts    = []string{"0", "<15%", "<30%", "<45%", "<60%", "<80%", "more"}
	origins  = []string{
		"user", "newest", "task", "reply", "newest-reply", "edit", "command", "plan", "arguments", "read", "search", "output",
		"edited", "result",
	}
)

// FeaturesOfNames returns the features of names, which doc/design/need.md
// describes. Ages are in tokens, up to the end of the conversation.
func FeaturesOfNames() []Feature {
	return []Feature{
		{"kind", []string{"url", "email", "path", "file", "kebab", "symbol", "number", "hash", "id", "version", "quantity", "word"}},
		{"last", []string{"<500", "<1k", "<2k", "<4k", "<8k", "<16k", "<32k", "more"}},
		{"count", []string{"1", "2", "3-4", "5-8", "9-16", "more"}},
		{"blocks", []string{"1", "2", "3-4", "5-8", "more"}},
		{"in-arguments", []string{"0", "1", "2", "3-4", "5-8", "more"}},
		{"calls-since", []string{"1", "2-3", "4-6", "7-10", "11-20", "more", "never"}},
		{"seen-calls", calls},
		{"recent", []string{"0", "1", "2", "3-4", "more"}},
		{"newest-words", yes},
		{"newest-result", yes},
		{"error-line", yes},
		{"neighbors", []string{"1-2", "3-7", "8-19", "20-49", "50-119", "more"}},
		{"source", origins},
		{"sources", []string{"0", "1", "2", "3", "4", "more"}},
		{"in-read", yes},
		{"in-edit", yes},
		{"length", []string{"<6", "<10", "<16", "<24", "<40", "more"}},
		{"round", []string{"no-number", "no", "10", "50", "100"}},
		{"with-hot", []string{"0", "1", "2", "more"}},
		{"with-asked", rarity},
		{"file", hotFiles},
		{"files", []string{"0", "1", "2", "3-4", "more"}},
		{"file-rank", []string{"1", "2", "3-4", "5-8", "9-16", "more"}},
	}
}

// FeaturesOfLines returns the features of lines, which doc/design/need.md
// describes.
func FeaturesOfLines() []Feature {
	return []Feature{
		{"source", origins},
		{"elsewhere", []string{"no", "edit", "search", "output", "edited", "several"}},
		{"count", []string{"0", "1", "2", "3-4", "5-8", "more"}},
		{"seen-calls", calls},
		{"change", []string{"none", "takes", "gives", "both"}},
		{"part", []string{"no-read", "whole", "part"}},
		{"lines", []string{"<5", "<20", "<60", "<150", "<400", "more"}},
		{"length", []string{"<30", "<45", "<60", "<80", "<120", "more"}},
		{"names", []string{"0", "1", "2", "3-4", "more"}},
		{"likely-name", []string{"<.5%", "<1.5%", "<4%", "<10%", "<25%", "more"}},
		{"likely-around", []string{"<1%", "<4%", "<10%", "<25%", "<60%", "more"}},
		{"asked", rarity},
		{"asked-share", parts},
		{"asked-around", []string{"0", "<5%", "<10%", "<15%", "<20%", "<30%", "<40%", "more"}},
		{"done", rarity},
		{"done-share", parts},
		{"within", []string{"none", "cold", "hot", "named"}},
		{"files", []string{"0", "1", "2", "more"}},
		{"file-since", []string{"no-file", "edited", "read", "nothing"}},
		{"file-edited", []string{"no-file", "never", "1", "2-3", "4-7", "more"}},
		{"file-rank", []string{"no-file", "1", "2", "3-4", "5-8", "9-16", "more"}},
		{"file-copied", []string{"no-file", "none", "<2%", "<5%", "<15%", "more"}},
		{"sibling", yes},
	}
}

// kinds maps the kind of a name to its bin in the feature "kind".
var kinds = lazy.Value[map[Kind]uint8]{Make: func() map[Kind]uint8 {
	return map[Kind]uint8{
		KindURL: 0, KindEmail: 1, KindPath: 2, KindFile: 3, KindKebab: 4, KindSymbol: 5, KindNumber: 6, KindHash: 7, KindID: 8,
		KindVersion: 9, KindQuantity: 10, kindWord: 11,
	}
}}

// rarityBin returns the bin of a sum of word weights, see wordWeights.
func rarityBin(v int32) uint8 { return bins.Of(v, 1, 5, 9, 13, 17, 25) }

// partBin returns the bin of a share: v is a sum of word weights of a line, and the parameter of is
// the sum of all word weights of the line.
func partBin(v, of int32) uint8 { return bins.Of(100*v/max(of, 1), 1, 15, 30, 45, 60, 80) }

// callsBin returns the bin of a distance from the end of the conversation, in calls.
func callsBin(v int32) uint8 { return bins.Of(v, 1, 2, 4, 8, 16, 32) }

func (e *estimator) nameFeatures(n *nameState) NameFeatures {
	file := uint8(0)
	if n.file > 0 {
		file = 1 + e.files[n.file-1].hot
	}
	return NameFeatures{
		kinds.Get()[n.kind], bins.Of(n.last, 500, 1000, 2000, 4000, 8000, 16000, 32000),
		bins.Of(n.count, 2, 3, 5, 9, 17), bins.Of(n.blocks, 2, 3, 5, 9), bins.Of(n.args, 1, 2, 3, 5, 9),
		bins.Of(e.since(n), 2, 4, 7, 11, 21, never), callsBin(n.seen), bins.Of(n.recent, 1, 2, 3, 5),
		bins.Flag(n.from.has(sourceNewest)), bins.Flag(n.fresh), bins.Flag(n.fails), bins.Of(n.neighbors, 3, 8, 20, 50, 120),
		n.from.first(), min(n.from.size(), 5), bins.Flag(n.from.has(sourceRead)), bins.Flag(n.from.has(sourceEdit)),
		bins.Of(n.length, 6, 10, 16, 24, 40), n.round, bins.Of(n.withHot, 1, 2, 3), rarityBin(n.withAsked),
		file, bins.Of(n.files, 1, 2, 3, 5), bins.Of(n.rank, 1, 2, 4, 8, 16),
	}
}

// roundness returns the bin of the feature "round": 4 for a number that ends in 00, 3 for
// 50, 2 for another 0, 1 for any other number, and 0 for other kinds of names.
func roundness(kind Kind, text string) uint8 {
	switch {
	case kind != KindNumber:
		return 0
	case strings.HasSuffix(text, "00"):
		return 4
	case strings.HasSuffix(text, "50"):
		return 3
	case strings.HasSuffix(text, "0"):
		return 2
	}
	return 1
}

// lineFeatures returns the features of the line at c.home. s has the surroundings of the
// lines of its piece.
func (e *estimator) lineFeatures(c *copyState, s *surroundings) LineFeatures {
	i, k := int(c.home.piece), int(c.home.line)
	p := &e.pieces[i]
	l, w := &p.Lines[k], &s.weights[k]
	f := e.fileFeatures(i)
	return LineFeatures{
		uint8(p.source), elsewhere(p.source, c.from), bins.Of(c.count, 1, 2, 3, 5, 9), callsBin(e.callCount - e.calls[i]), changeBin(p, l, c), partRead(p),
		bins.Of(int32(len(p.Lines)), 5, 20, 60, 150, 400), bins.Of(l.To-l.From, 30, 45, 60, 80, 120), bins.Of(l.End-l.First, 1, 2, 3, 5),
		bins.Of(int32(s.chances[k]/1_000_000), 5, 15, 40, 100, 250), bins.Of(int32(s.nameChances(k)/1_000_000), 10, 40, 100, 250, 600),
		rarityBin(w.asked), partBin(w.asked, w.all), s.askedAround(k), rarityBin(w.done), partBin(w.done, w.all), s.within[k],
		bins.Of(c.files, 1, 2, 3), f.since, f.edited, f.rank, f.copied, f.sibling,
	}
}

// fileFeatures has the bins of the features of a line that depend only on the file of its
// piece.
type fileFeatures struct{ since, edited, rank, copied, sibling uint8 }

func (e *estimator) fileFeatures(i int) fileFeatures {
	if e.paths[i] == 0 {
		return fileFeatures{}
	}
	f := &e.files[e.paths[i]-1]
	r := fileFeatures{since: 3, edited: 1, rank: 1 + bins.Of(f.rank, 1, 2, 4, 8, 16), copied: 1, sibling: bins.Flag(f.sibling)}
	switch {
	case f.lastEdit > i:
		r.since = 1
	case f.lastRead > i:
		r.since = 2
	}
	if f.lastEdit >= 0 {
		r.edited = 2 + bins.Of(e.callCount-e.calls[f.lastEdit], 2, 4, 8)
	}
	if f.copied > 0 {
		r.copied = 2 + bins.Of(int32(100*int64(f.copied)/int64(f.lines)), 2, 5, 15)
	}
	return r
}

// elsewhere returns the bin of the other sources that have a line: 0 for none of edits, searches,
// outputs and reports of edits, 1 to 4 for one of them, and 5 for several. The source s is that of
// the line's home; the set from has all sources of the line.
func elsewhere(s source, from sourceSet) uint8 {
	r := uint8(0)
	for i, t := range [...]source{sourceEdit, sourceSearch, sourceOutput, sourceEdited} {
		if s == t || !from.has(t) {
			continue
		}
		if r != 0 {
			return 5
		}
		r = uint8(i) + 1
	}
	return r
}

// changeBin returns 0 if the piece is no edit, 1 if the edit removes the line, 2 if the edit
// writes it, and 3 if the edit has the line more than once.
func changeBin(p *Piece, l *Line, c *copyState) uint8 {
	switch {
	case p.source != sourceEdit:
		return 0
	case c.twice:
		return 3
	case p.removes(l):
		return 1
	}
	return 2
}

// partRead returns 0 if the piece is not the content of a file, 1 if it starts with line 1
// or has no line numbers, and 2 if it starts with a later line.
func partRead(p *Piece) uint8 {
	switch {
	case p.source != sourceRead:
		return 0
	case p.start > 1:
		return 2
	}
	return 1
}
