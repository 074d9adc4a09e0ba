package facts

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/bins"
)

// An estimator is in the middle of a conversation.
type estimator struct {
	pieces []Piece
	ages   []int32 // of each piece, to the end, in tokens
	calls  []int32 // of each piece, calls up to it
	paths  []int32 // of each piece, index of the file plus one
	senses [][]sense
	need   *Need
	names  []nameState
	copies []copyState
	files  []fileState
	index  map[uint64]int32 // of names
	words  vocabulary
	asked  int32 // calls
	newest int   // index of the newest result
}

// names, lines and files as the features see them.
type (
	nameState struct {
		text                 string // as it is first written
		kind                 Kind
		length               int32
		count, blocks, args  int32
		last, seen           int32 // how long ago it was last there, in tokens and in calls
		lastBlock, lastPiece int32
		lastFile             int32
		lastCall             int32 // the last call whose arguments have it, or -1
		recent               int32 // times in the arguments of the last calls
		neighbors            int32 // fewest names of a piece that has it
		withHot, withAsked   int32 // most of a line that has it
		file, files, rank    int32 // the last file that has it plus one, how many have it, the best rank of one
		from                 sourceSet
		round                uint8
		fresh, fails, outer  bool
	}
	copyState struct {
		count, args         int32
		files               int32
		lastFile, lastPiece int32
		home                spot
		from                sourceSet
		twice               bool // in the last piece that has it
		need                LineNeed
	}
	fileState struct {
		lastEdit, lastRead, touched int // index of the piece, or -1
		rank                        int32
		lines, copied               int32 // of what was seen of it; those that arguments repeat
		hot                         uint8
		sibling                     bool
	}
	spot struct{ piece, line int32 }
)

// A sourceSet is a set of sources.
type sourceSet uint32

func (s sourceSet) has(t source) bool { return s&(1<<t) != 0 }
func (s sourceSet) first() uint8      { return uint8(bits.TrailingZeros32(uint32(s | 1<<sourceResult))) }
func (s sourceSet) size() uint8       { return uint8(bits.OnesCount32(uint32(s))) }

// How far back features look.
const (
	fewCalls  = 6  // calls in which what is named is in use
	hotCalls  = 3  // calls in which what is named is hot
	hotBlocks = 12 // most blocks that something hot is in: what is everywhere says nothing
	never     = 1 << 28
)

func newEstimator(pieces []Piece) *estimator {
	marks, lines := 0, 0
	for i := range pieces {
		marks += len(pieces[i].Marks)
		lines += len(pieces[i].Lines)
	}
	n := len(pieces)
	e := &estimator{
		pieces: pieces, ages: make([]int32, n), calls: make([]int32, n), paths: make([]int32, n), senses: make([][]sense, n),
		need:  &Need{Lines: make([][]LineNeed, n), Marks: make([][]int32, n)},
		names: make([]nameState, 0, marks/4), index: make(map[uint64]int32, marks/3),
	}
	e.number(marks, lines)
	return e
}

// number numbers the lines that say the same alike, from 1 on in the order in which they
// come, and makes room for what is known of names and lines: one piece of memory for all of
// them, and no more.
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

// place finds ages, calls and files.
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
		e.calls[i] = e.asked
		switch n, known := ordinals[p.Call]; {
		case p.source.arguments():
			ordinals[p.Call] = e.asked
			e.asked++
		case known:
			e.calls[i] = n
			e.newest = i
		}
		if p.Path != "" {
			e.touch(files, i)
		}
	}
}

// touch notes that a piece is of a file.
func (e *estimator) touch(files map[string]int32, i int) {
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

// read counts the names and lines of a piece.
func (e *estimator) read(i int) {
	p := &e.pieces[i]
	ids, distinct := e.need.Marks[i], e.identify(i)
	for k := range p.Lines {
		l := &p.Lines[k]
		if l.Key != 0 {
			e.copy(i, k)
		}
		for j := l.First; j < l.End; j++ {
			n := &e.names[ids[j]]
			n.outer = n.outer || !p.Marks[j].inner
			n.neighbors = min(n.neighbors, distinct)
			n.fails = n.fails || l.fails
			e.meet(n, i)
		}
	}
}

// identify finds the names of the marks of a piece, and returns how many there are.
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

// meet counts a name in a piece.
func (e *estimator) meet(n *nameState, i int) {
	p := &e.pieces[i]
	n.count++
	n.last, n.seen = e.ages[i], e.asked-e.calls[i]
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
		n.recent += int32(bins.Flag(n.since(e.asked) <= fewCalls))
	}
}

// copy counts a line of a piece.
func (e *estimator) copy(i, k int) {
	p := &e.pieces[i]
	c := &e.copies[e.need.Lines[i][k].Copy-1]
	c.count += int32(bins.Flag(!p.takes(&p.Lines[k])))
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
		c.home = spot{int32(i), int32(k)}
	}
}

// since returns how many calls ago a name was last in arguments.
func (n *nameState) since(asked int32) int32 {
	if n.lastCall < 0 {
		return never
	}
	return asked - n.lastCall
}

func (e *estimator) since(n *nameState) int32 { return n.since(e.asked) }

// named reports whether a name is in the newest words of the person or the agent.
func (n *nameState) named() bool { return n.from.has(sourceNewest) || n.from.has(sourceNewestReply) }

// hot reports whether a name is in the newest words or in the last calls, and so
// near to what the agent is doing.
func (e *estimator) hot(n *nameState) bool {
	return n.blocks <= hotBlocks && (n.named() || e.since(n) <= hotCalls)
}

// rankFiles orders files by when they were last touched, says which are hot because
// they are named where the work is, and which have the name of a hot one.
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
			stems[tested(path)]++
		}
	}
	for i := range e.files {
		f := &e.files[i]
		others := stems[tested(e.pieces[f.touched].Path)]
		if f.hot == 2 {
			others--
		}
		f.sibling = others > 0
	}
}

// heat returns 2 for the name of a file that is named now, and 1 for that of one in
// use.
func (e *estimator) heat(n *nameState) uint8 {
	switch {
	case n.named():
		return 2
	case e.since(n) <= fewCalls:
		return 1
	}
	return 0
}

// tested returns what a file and its test have in common: the name up to the first
// point, without what says that it is a test.
func tested(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	for _, end := range [...]string{"_test", "-test", "_spec"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimPrefix(name, "test_")
}

// relate finds for each name how many hot ones stand in a line with it, how much its
// lines share with what is asked, and the best of its files; and for each file how
// much of it was copied.
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
					n.withAsked = max(n.withAsked, e.senses[i][k].asked)
				}
			}
		}
	}
}
