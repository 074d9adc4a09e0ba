package facts

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/bins"
)

// An estimator is the state of one [Estimate].
type estimator struct {
	pieces      []Piece
	ages        []int32 // by piece: its distance from the end, in tokens
	calls       []int32 // by piece: number of calls up to it
	paths       []int32 // by piece: index of its file plus one
	wordWeights [][]wordWeights
	need        *Need
	names       []nameState
	copies      []copyState
	files       []fileState
	index       map[uint64]int32 // of names
	words       vocabulary
	callCount   int32 // number of calls
	newest      int   // index of the newest result of a call
}

// The properties of names, lines and files that the features are computed from.
type (
	nameState struct {
		text                 string // its first occurrence
		kind                 Kind
		length               int32
		count, blocks, args  int32
		last, seen           int32 // distance of the last occurrence from the end, in tokens and in calls
		lastBlock, lastPiece int32
		lastFile             int32
		lastCall             int32 // the last call whose arguments have it, or -1
		recent               int32 // occurrences in the arguments of the last fewCalls calls
		neighbors            int32 // the fewest different names in a piece that has it
		withHot              int32 // the most other hot names in a line that has it
		withAsked            int32 // the largest asked weight of a line that has it
		file                 int32 // the index of the last file that has it, plus one
		files                int32 // the number of files that have it
		rank                 int32 // the lowest rank of a file that has it
		from                 sourceSet
		round                uint8
		fresh, fails, outer  bool
	}
	copyState struct {
		count, args         int32
		files               int32
		lastFile, lastPiece int32
		home                linePosition
		from                sourceSet
		twice               bool // the last piece that has it has it more than once
		need                LineNeed
	}
	fileState struct {
		lastEdit, lastRead, touched int // index of the piece, or -1
		rank                        int32
		lines, copied               int32 // lines of the file in the conversation; those of them that arguments repeat
		hot                         uint8
		sibling                     bool
	}
	linePosition struct{ piece, line int32 }
)

// A sourceSet is a set of sources: bit i stands for the source with the value i.
type sourceSet uint32

func (s sourceSet) has(t source) bool { return s&(1<<t) != 0 }
func (s sourceSet) first() uint8      { return uint8(bits.TrailingZeros32(uint32(s | 1<<sourceResult))) }
func (s sourceSet) size() uint8       { return uint8(bits.OnesCount32(uint32(s))) }

// The ranges of calls that features look back on.
const (
	fewCalls  = 6       // a name in the arguments of one of the last 6 calls is in use
	hotCalls  = 3       // a name in the arguments of one of the last 3 calls is hot
	hotBlocks = 12      // a name in more blocks is never hot: it is everywhere
	never     = 1 << 28 // a distance in calls: the name was in no arguments
)

func newEstimator(pieces []Piece) *estimator {
	marks, lines := 0, 0
	for i := range pieces {
		marks += len(pieces[i].Marks)
		lines += len(pieces[i].Lines)
	}
	n := len(pieces)
	e := &estimator{
		pieces: pieces, ages: make([]int32, n), calls: make([]int32, n), paths: make([]int32, n), wordWeights: make([][]wordWeights, n),
		need:  &Need{Lines: make([][]LineNeed, n), Marks: make([][]int32, n)},
		names: make([]nameState, 0, marks/4), index: make(map[uint64]int32, marks/3),
	}
	e.number(marks, lines)
	return e
}

// number gives lines with equal keys the same number [LineNeed.Copy], from 1 on in the order
// of their first occurrence. It also allocates the slices of e.need and e.copies, each in
// one piece of exactly the needed size.
func (e *estimator) number(marks, lines int) {
	names, needs, copied := make([]int32, marks), make([]LineNeed, lines), make(map[uint64]int32, lines/2)
	for i := range e.pieces {
		p := &e.pieces[i]
		e.need.Marks[i], names = names[:len(p.Marks):len(p.Marks)], names[len(p.Marks):]
		e.need.Lines[i], needs = needs[:len(p.Lines):len(p.Lines)], needs[len(p.Lines):]
		for k := range p.Lines {
			key := p.Lines[k].Key
			if key == 0 {
				continue
			}
			id, known := copied[key]
			if !known {
				id = int32(len(copied) + 1)
				copied[key] = id
			}
			e.need.Lines[i][k].Copy = id
		}
	}
	e.copies = make([]copyState, len(copied))
}

// place fills in the ages, call numbers and files of all pieces.
func (e *estimator) place() {
	age := 0
	for i := len(e.pieces) - 1; i >= 0; i-- {
		p := &e.pieces[i]
		age = min(age+len(p.Text)/4+4, 1<<30)
		e.ages[i] = int32(age)
	}
	files := make(map[string]int32)
	ordinals := make(map[string]int32)
	for i := range e.pieces {
		p := &e.pieces[i]
		e.calls[i] = e.callCount
		switch n, known := ordinals[p.Call]; {
		case p.source.arguments():
			ordinals[p.Call] = e.callCount
			e.callCount++
		case known:
			e.calls[i] = n
			e.newest = i
		}
		if p.Path != "" {
			e.noteFile(files, i)
		}
	}
}

// noteFile records the file of piece i, and the piece as the last one of the file. files has
// the indexes of known files by path, plus one.
func (e *estimator) noteFile(files map[string]int32, i int) {
	p := &e.pieces[i]
	f, known := files[p.Path]
	if !known {
		e.files = append(e.files, fileState{lastEdit: -1, lastRead: -1})
		f = int32(len(e.files))
		files[p.Path] = f
	}
	e.paths[i] = f
	s := &e.files[f-1]
	s.touched = i
	if p.source == sourceEdit {
		s.lastEdit = i
	}
	if p.source == sourceRead {
		s.lastRead = i
	}
}

// countPiece counts the names and lines of piece i.
func (e *estimator) countPiece(i int) {
	p := &e.pieces[i]
	ids, distinct := e.need.Marks[i], e.identify(i)
	for k := range p.Lines {
		l := &p.Lines[k]
		if l.Key != 0 {
			e.countLine(i, k)
		}
		for j := l.First; j < l.End; j++ {
			n := &e.names[ids[j]]
			n.outer = n.outer || !p.Marks[j].inner
			n.neighbors = min(n.neighbors, distinct)
			n.fails = n.fails || l.fails
			e.countName(n, i)
		}
	}
}

// identify assigns a name to each mark of piece i, and returns the number of different names.
func (e *estimator) identify(i int) (distinct int32) {
	p, ids := &e.pieces[i], e.need.Marks[i]
	for k := range p.Marks {
		m := &p.Marks[k]
		id, known := e.index[m.Key]
		if !known {
			id = int32(len(e.names))
			e.index[m.Key] = id
			text := p.Text[m.From:m.To]
			e.names = append(e.names, nameState{
				text: text, kind: m.kind, length: m.To - m.From, round: roundness(m.kind, text), neighbors: 1 << 30, rank: 1 << 30,
				lastBlock: -1, lastCall: -1, lastPiece: -1,
			})
		}
		ids[k] = id
		if n := &e.names[id]; n.lastPiece != int32(i) {
			n.lastPiece = int32(i)
			distinct++
		}
	}
	return distinct
}

// countName counts an occurrence of a name in piece i.
func (e *estimator) countName(n *nameState, i int) {
	p := &e.pieces[i]
	n.count++
	n.last, n.seen = e.ages[i], e.callCount-e.calls[i]
	n.from |= 1 << p.source
	n.fresh = n.fresh || i >= e.newest
	if n.lastBlock != int32(p.Block) {
		n.blocks++
		n.lastBlock = int32(p.Block)
	}
	if f := e.paths[i]; f != 0 {
		n.file = f
		if n.lastFile != f {
			n.files++
			n.lastFile = f
		}
	}
	if p.source.arguments() {
		n.args++
		n.lastCall = e.calls[i]
		n.recent += int32(bins.Flag(n.since(e.callCount) <= fewCalls))
	}
}

// countLine counts line k of piece i.
func (e *estimator) countLine(i, k int) {
	p := &e.pieces[i]
	c := &e.copies[e.need.Lines[i][k].Copy-1]
	c.count += int32(bins.Flag(!p.removes(&p.Lines[k])))
	c.from |= 1 << p.source
	c.args += int32(bins.Flag(p.source.arguments()))
	c.twice = c.lastPiece == int32(i)+1
	c.lastPiece = int32(i) + 1
	f := e.paths[i]
	if f != 0 && c.lastFile != f {
		c.files++
		c.lastFile = f
	}
	if f != 0 || c.lastFile == 0 {
		c.home = linePosition{int32(i), int32(k)}
	}
}

// since returns the number of calls since a name was last in the arguments of a call. It returns
// the constant never if it was in none. The parameter asked is the number of the call from which it
// counts back.
func (n *nameState) since(asked int32) int32 {
	if n.lastCall < 0 {
		return never
	}
	return asked - n.lastCall
}

func (e *estimator) since(n *nameState) int32 { return n.since(e.callCount) }

// named reports whether a name is in the newest user message or the newest reply.
func (n *nameState) named() bool { return n.from.has(sourceNewest) || n.from.has(sourceNewestReply) }

// hot reports whether a name is in the newest messages or in the arguments of the last
// hotCalls calls, and in at most hotBlocks blocks: the agent is probably working on it.
func (e *estimator) hot(n *nameState) bool {
	return n.blocks <= hotBlocks && (n.named() || e.since(n) <= hotCalls)
}

// rankFiles ranks files by their last use, the newest first, computes the heat of each from
// its path and its base name, and marks files with a sibling: another file of heat 2 with
// the same testStem.
func (e *estimator) rankFiles() {
	order := make([]int, len(e.files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return e.files[b].touched - e.files[a].touched })
	stems := make(map[string]int)
	for rank, i := range order {
		f := &e.files[i]
		f.rank = int32(rank)
		path := e.pieces[f.touched].Path
		for _, name := range [...]string{path, path[strings.LastIndexByte(path, '/')+1:]} {
			if id, known := e.index[hash(name)]; known {
				f.hot = max(f.hot, e.heat(&e.names[id]))
			}
		}
		if f.hot == 2 {
			stems[testStem(path)]++
		}
	}
	for i := range e.files {
		f := &e.files[i]
		others := stems[testStem(e.pieces[f.touched].Path)]
		if f.hot == 2 {
			others--
		}
		f.sibling = others > 0
	}
}

// heat returns 2 for a name in the newest messages, 1 for a name in the arguments of the
// last fewCalls calls, and 0 otherwise.
func (e *estimator) heat(n *nameState) uint8 {
	switch {
	case n.named():
		return 2
	case e.since(n) <= fewCalls:
		return 1
	}
	return 0
}

// testStem returns the part of a file's name that it shares with its test: the base name up
// to the first dot, without "_test", "-test" or "_spec" at the end or "test_" at the start.
func testStem(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	for _, end := range [...]string{"_test", "-test", "_spec"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimPrefix(name, "test_")
}

// relate finds three values for each name: the largest number of other hot names in a line with it,
// the largest asked weight of its lines, and the best rank of its files. For each file it counts
// the lines that were read, and how many of these a call repeated.
func (e *estimator) relate() {
	for i := range e.pieces {
		p, ids := &e.pieces[i], e.need.Marks[i]
		rank := int32(1 << 30)
		var file *fileState
		if f := e.paths[i]; f != 0 {
			file = &e.files[f-1]
			rank = file.rank
		}
		asks := p.source == sourceNewest || p.source == sourceNewestReply
		for k := range p.Lines {
			l := &p.Lines[k]
			if c := e.need.Lines[i][k].Copy; c != 0 && file != nil && p.source != sourceEdit {
				file.lines++
				file.copied += int32(bins.Flag(e.copies[c-1].args > 0))
			}
			hot := int32(0)
			for _, id := range ids[l.First:l.End] {
				hot += int32(bins.Flag(e.hot(&e.names[id])))
			}
			for _, id := range ids[l.First:l.End] {
				n := &e.names[id]
				n.rank = min(n.rank, rank)
				n.withHot = max(n.withHot, hot-int32(bins.Flag(hot > 0 && e.hot(n))))
				if !asks {
					n.withAsked = max(n.withAsked, e.wordWeights[i][k].asked)
				}
			}
		}
	}
}
