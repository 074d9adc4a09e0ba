package facts

import "strings"

// Numbers of features.
const (
	nameFeatures = 23
	lineFeatures = 19
)

// NameFeatures are what [Estimate] goes by for a name: of each feature of
// [FeaturesOfNames], the index of its bin.
type NameFeatures [nameFeatures]uint8

// LineFeatures are what [Estimate] goes by for a line: of each feature of
// [FeaturesOfLines], the index of its bin.
type LineFeatures [lineFeatures]uint8

// A Feature is something that is known of a name or a line, in one of several bins.
type Feature struct {
	Name string
	Bins []string
}

var (
	yes      = []string{"no", "yes"}
	ages     = []string{"<500", "<1k", "<2k", "<4k", "<8k", "<16k", "<32k", "more"}
	rates    = []string{"none", "<8%", "<20%", "<35%", "more"}
	hotFiles = []string{"no-file", "cold", "in-use", "named"}
)

// FeaturesOfNames returns the features of names. Ages are in tokens, to the end of
// the conversation.
func FeaturesOfNames() []Feature {
	return []Feature{
		{"kind", []string{"url", "email", "path", "file", "kebab", "symbol", "number", "hash", "id", "version", "quantity"}},
		{"last", ages},
		{"first", ages[1:]},
		{"count", []string{"1", "2", "3-4", "5-8", "9-16", "more"}},
		{"blocks", []string{"1", "2", "3-4", "5-8", "more"}},
		{"in-arguments", []string{"0", "1", "2", "3-4", "5-8", "more"}},
		{"calls-since", []string{"1", "2-3", "4-6", "7-10", "11-20", "more", "never"}},
		{"newest-words", yes},
		{"other-words", yes},
		{"first-words", yes},
		{"newest-reply", yes},
		{"error-line", yes},
		{"neighbors", []string{"1-2", "3-7", "8-19", "20-49", "50-119", "more"}},
		{"source", []string{
			"user", "newest", "task", "reply", "newest-reply", "edit", "command", "plan", "arguments", "read", "search", "output", "edited", "result",
		}},
		{"sources", []string{"0", "1", "2", "3", "4", "more"}},
		{"edits", rates},
		{"in-read", yes},
		{"in-reply", yes},
		{"in-edit", yes},
		{"length", []string{"<6", "<10", "<16", "<24", "<40", "more"}},
		{"round", []string{"no-number", "no", "10", "50", "100"}},
		{"with-hot", []string{"0", "1", "2", "more"}},
		{"file", hotFiles},
	}
}

// FeaturesOfLines returns the features of lines.
func FeaturesOfLines() []Feature {
	return []Feature{
		{"source", FeaturesOfNames()[13].Bins},
		{"last", ages},
		{"count", []string{"1", "2", "3-4", "5-8", "more"}},
		{"in-arguments", []string{"0", "1", "2-3", "more"}},
		{"file-edits", []string{"no-file", "0", "1", "2-3", "more"}},
		{"file-since", []string{"no-file", "edited", "read", "nothing"}},
		{"file", hotFiles},
		{"file-rank", []string{"no-file", "1", "2", "3-4", "5-8", "9-16", "more"}},
		{"edits", rates},
		{"length", []string{"<30", "<45", "<60", "<80", "<120", "more"}},
		{"hot", []string{"0", "1", "2", "more"}},
		{"names", []string{"0", "1", "2", "3-4", "more"}},
		{"shape", []string{"plain", "comment", "import", "declaration", "statement", "item", "code"}},
		{"file-kind", []string{"no-file", "test", "prose", "other"}},
		{"lines", []string{"<5", "<20", "<60", "<150", "<400", "more"}},
		{"likely-name", []string{"<.5%", "<1.5%", "<4%", "<10%", "<25%", "more"}},
		{"likely-around", []string{"<1%", "<4%", "<10%", "<25%", "<60%", "more"}},
		{"hot-within", []string{"1", "3", "7", "15", "39", "more"}},
		{"written-within", []string{"1", "3", "7", "15", "39", "more"}},
	}
}

// kinds are the kinds of names as the first of their features counts them.
var kinds = map[Kind]uint8{
	KindURL: 0, KindEmail: 1, KindPath: 2, KindFile: 3, KindKebab: 4, KindSymbol: 5, KindNumber: 6, KindHash: 7, KindID: 8,
	KindVersion: 9, KindQuantity: 10,
}

// bin returns the number of cuts that v is not below.
func bin(v int32, cuts ...int32) uint8 {
	for i, c := range cuts {
		if v < c {
			return uint8(i)
		}
	}
	return uint8(len(cuts))
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func ageBin(v int32) uint8 { return bin(v, 500, 1000, 2000, 4000, 8000, 16000, 32000) }

// rate is the bin of the share of calls that change a file.
func (e *estimator) rate() uint8 { return bin(100*e.edits/max(e.asked, 1), 1, 8, 20, 35) }

func (e *estimator) nameFeatures(n *nameState) NameFeatures {
	source, count := uint8(0), uint8(0)
	for s := range uint8(sources) {
		if n.from&(1<<s) == 0 {
			continue
		}
		if count == 0 {
			source = s
		}
		count++
	}
	from := func(list ...Source) uint8 {
		for _, s := range list {
			if n.from&(1<<s) != 0 {
				return 1
			}
		}
		return 0
	}
	file := uint8(0)
	if n.path > 0 {
		file = 1 + e.files[n.path-1].hot
	}
	return NameFeatures{
		kinds[n.kind], ageBin(n.last), bin(n.first, 1000, 2000, 4000, 8000, 16000, 32000),
		bin(n.count, 2, 3, 5, 9, 17), bin(n.blocks, 2, 3, 5, 9), bin(n.args, 1, 2, 3, 5, 9),
		bin(e.since(n), 2, 4, 7, 11, 21, 1<<28),
		flag(n.newest), flag(n.user), flag(n.task), flag(n.newSay), flag(n.fails),
		bin(n.neighbors, 3, 8, 20, 50, 120), source, min(count, 5), e.rate(),
		from(SourceRead), from(SourceReply, SourceNewestReply), from(SourceEdit),
		bin(int32(len(n.text)), 6, 10, 16, 24, 40), roundness(n), bin(n.withHot, 1, 2, 3), file,
	}
}

func roundness(n *nameState) uint8 {
	switch {
	case n.kind != KindNumber:
		return 0
	case strings.HasSuffix(n.text, "00"):
		return 4
	case strings.HasSuffix(n.text, "50"):
		return 3
	case strings.HasSuffix(n.text, "0"):
		return 2
	}
	return 1
}

// surroundings are what is known of the lines around each line of a piece.
type surroundings struct {
	chances      []Chance // of the likeliest name
	sums         []Chance // of the chances of all lines before
	hot, written []int32  // lines to the nearest other line that is hot, that was written
}

func newSurroundings(e *estimator, i int) *surroundings {
	p, ids := &e.pieces[i], e.need.Marks[i]
	n := len(p.Lines)
	s := &surroundings{chances: make([]Chance, n), sums: make([]Chance, n+1)}
	hot, written := make([]bool, n), make([]bool, n)
	for k := range p.Lines {
		sum := Chance(0)
		for _, id := range ids[p.Lines[k].First:p.Lines[k].End] {
			c := e.need.Names[id].Chance
			sum += c
			s.chances[k] = max(s.chances[k], c)
			hot[k] = hot[k] || e.hot(&e.names[id])
		}
		s.sums[k+1] = s.sums[k] + sum
		if c := e.need.Lines[i][k].Copy; c != 0 {
			written[k] = e.copies[c-1].args > 0
		}
	}
	s.hot, s.written = nearest(hot), nearest(written)
	return s
}

// around returns the sum of the chances of the names in up to four lines before and
// behind a line.
func (s *surroundings) around(k int) Chance {
	from, to := max(k-4, 0), min(k+5, len(s.chances))
	return s.sums[to] - s.sums[k+1] + s.sums[k] - s.sums[from]
}

// nearest returns for each line how many lines away the nearest other one is that is
// in a set.
func nearest(set []bool) []int32 {
	list := make([]int32, len(set))
	last := int32(-1 << 20)
	for i := range set {
		list[i] = int32(i) - last
		if set[i] {
			last = int32(i)
		}
	}
	last = 1 << 20
	for i := len(set) - 1; i >= 0; i-- {
		list[i] = min(list[i], last-int32(i))
		if set[i] {
			last = int32(i)
		}
	}
	return list
}

func (e *estimator) lineFeatures(i, k int, ids []int32, s *surroundings) LineFeatures {
	p := &e.pieces[i]
	l := &p.Lines[k]
	c := &e.copies[e.need.Lines[i][k].Copy-1]
	var edits, since, hotFile, rank, kind uint8
	if f := e.paths[i]; f != 0 {
		file := &e.files[f-1]
		edits, rank, hotFile, kind = 1+bin(file.edits, 1, 2, 4), 1+bin(int32(file.rank), 1, 2, 4, 8, 16), 1+file.hot, 3
		switch {
		case file.test:
			kind = 1
		case file.prose:
			kind = 2
		}
		switch {
		case file.lastEdit > i:
			since = 1
		case file.lastRead > i:
			since = 2
		default:
			since = 3
		}
	}
	hot := int32(0)
	for _, id := range ids {
		if n := &e.names[id]; n.newest || n.newSay || e.since(n) <= 3 {
			hot++
		}
	}
	return LineFeatures{
		uint8(p.Source), ageBin(c.last), bin(c.count, 2, 3, 5, 9), bin(c.args, 1, 2, 4),
		edits, since, hotFile, rank, e.rate(), bin(l.To-l.From, 30, 45, 60, 80, 120),
		bin(hot, 1, 2, 3), bin(int32(len(ids)), 1, 2, 3, 5), uint8(l.shape), kind,
		bin(int32(len(p.Lines)), 5, 20, 60, 150, 400),
		bin(int32(s.chances[k]/1_000_000), 5, 15, 40, 100, 250), bin(int32(s.around(k)/1_000_000), 10, 40, 100, 250, 600),
		bin(s.hot[k], 2, 4, 8, 16, 40), bin(s.written[k], 2, 4, 8, 16, 40),
	}
}
