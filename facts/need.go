package facts

import (
	"slices"
	"strings"
)

// A Need is what [Estimate] says about the pieces of a conversation: how likely it
// is that the agent will use a name or a line again, and what it is worth to have it
// in the window.
type Need struct {
	Names []NameNeed   // each identifier once, in the order of their first marks
	Lines [][]LineNeed // of each piece, beside its lines
	Marks [][]int32    // of each piece, beside its marks: indexes of Names
}

// A NameNeed is an identifier of a conversation.
type NameNeed struct {
	Chance   Chance
	Worth    int64 // see [Model]
	Features NameFeatures
}

// A LineNeed is a line of a conversation.
type LineNeed struct {
	// Copy is the same for lines that are the same when they are copied, counted from
	// 1 on in the order of their first. It is 0 for a line that says too little to be
	// copied.
	Copy int32

	Chance   Chance // of being copied
	Worth    int64  // see [Model]
	Features LineFeatures
}

// A Chance is a probability in billionths.
type Chance int64

// names and lines as the features see them.
type (
	nameState struct {
		kind                       Kind
		text                       string // as it is first written
		count, blocks, args        int32
		first, last                int32 // age of the first and the last mark, in tokens
		lastBlock                  int32
		lastCall                   int32 // ordinal of the last call whose arguments have it, or -1
		neighbors                  int32 // fewest names of a piece that has it
		from                       uint32
		withHot                    int32
		newest, user, task, newSay bool
		fails, outer               bool
		path                       int32 // last file that has it, plus one
	}
	copyState struct {
		count, args int32
		last        int32
		best        Chance
	}
	fileState struct {
		edits              int32
		lastEdit, lastRead int // index of the piece, or -1
		touched            int // index of the piece
		rank               int
		hot                uint8
		test, prose        bool
	}
)

// An estimator is in the middle of a conversation.
type estimator struct {
	pieces []Piece
	ages   []int32 // of each piece, to the end, in tokens
	calls  []int32 // of each piece, ordinal of the call
	need   *Need
	names  []nameState
	copies []copyState
	paths  []int32 // of each piece, index of the file plus one
	files  []fileState
	index  map[uint64]int32
	copied map[uint64]int32
	total  int
	asked  int32 // calls
	edits  int32 // calls that change a file
}

// Estimate says how likely what the pieces of a conversation have is needed by what
// the agent does next. A nil model is [DefaultModel]. It is linear in the number of
// marks and lines, and a function of its arguments alone, in integers.
func Estimate(pieces []Piece, m *Model) *Need {
	if m == nil {
		m = DefaultModel()
	}
	marks, lines := 0, 0
	for i := range pieces {
		marks += len(pieces[i].Marks)
		lines += len(pieces[i].Lines)
	}
	e := &estimator{
		pieces: pieces, ages: make([]int32, len(pieces)), calls: make([]int32, len(pieces)), paths: make([]int32, len(pieces)),
		need:  &Need{Lines: make([][]LineNeed, len(pieces)), Marks: make([][]int32, len(pieces))},
		index: make(map[uint64]int32, marks/3), copied: make(map[uint64]int32, lines),
	}
	e.place()
	for i := range pieces {
		e.read(i)
	}
	e.rankFiles()
	e.heat()
	e.judgeNames(m)
	for i := range pieces {
		e.judgeLines(i, m)
	}
	e.weigh(m)
	return e.need
}

// place finds ages, calls and files.
func (e *estimator) place() {
	files := make(map[string]int32)
	age := 0
	for i := len(e.pieces) - 1; i >= 0; i-- {
		age += len(e.pieces[i].Text)/4 + 4
		e.ages[i] = int32(min(age, 1<<30))
	}
	e.total = age
	ordinals := make(map[string]int32)
	for i := range e.pieces {
		p := &e.pieces[i]
		if p.Source.arguments() {
			ordinals[p.Call] = e.asked
			e.asked++
			if p.Source == SourceEdit {
				e.edits++
			}
		}
		e.calls[i] = e.asked
		if n, known := ordinals[p.Call]; known {
			e.calls[i] = n
		}
		if p.Path == "" {
			continue
		}
		f, known := files[p.Path]
		if !known {
			f = int32(len(e.files))
			files[p.Path] = f
			e.files = append(e.files, fileState{
				lastEdit: -1, lastRead: -1,
				test: strings.Contains(p.Path, "test") || strings.Contains(p.Path, "spec"), prose: strings.HasSuffix(p.Path, ".md") || strings.HasSuffix(p.Path, ".txt"),
			})
		}
		e.paths[i] = f + 1
		s := &e.files[f]
		s.touched = i
		switch p.Source {
		case SourceEdit:
			s.edits++
			s.lastEdit = i
		case SourceRead:
			s.lastRead = i
		}
	}
}

// read counts the names and lines of a piece.
func (e *estimator) read(i int) {
	p := &e.pieces[i]
	ids := make([]int32, len(p.Marks))
	distinct := int32(0)
	for k := range p.Marks {
		m := &p.Marks[k]
		id, known := e.index[m.Key]
		if !known {
			id = int32(len(e.names))
			e.index[m.Key] = id
			e.names = append(e.names, nameState{
				kind: m.kind, text: p.Text[m.From:m.To], first: e.ages[i], lastBlock: -1, lastCall: -1, neighbors: 1 << 30, path: -1,
			})
		}
		ids[k] = id
		if n := &e.names[id]; n.path != int32(i) { // for now: the last piece that has it
			n.path = int32(i)
			distinct++
		}
	}
	e.need.Marks[i] = ids
	arguments := p.Source.arguments()
	needs := make([]LineNeed, len(p.Lines))
	for k := range p.Lines {
		l := &p.Lines[k]
		if l.Key != 0 {
			c, known := e.copied[l.Key]
			if !known {
				e.copies = append(e.copies, copyState{})
				c = int32(len(e.copies))
				e.copied[l.Key] = c
			}
			needs[k].Copy = c
			s := &e.copies[c-1]
			s.count++
			s.last = e.ages[i]
			if arguments {
				s.args++
			}
		}
		for j := l.First; j < l.End; j++ {
			n := &e.names[ids[j]]
			n.count++
			n.last = e.ages[i]
			if n.lastBlock != int32(p.Block) {
				n.blocks++
				n.lastBlock = int32(p.Block)
			}
			n.neighbors = min(n.neighbors, distinct)
			n.from |= 1 << p.Source
			n.fails = n.fails || l.fails
			n.outer = n.outer || !p.Marks[j].inner
			switch p.Source {
			case SourceNewest:
				n.newest = true
			case SourceTask:
				n.task = true
			case SourceUser:
				n.user = true
			case SourceNewestReply:
				n.newSay = true
			default:
			}
			if arguments {
				n.args++
				n.lastCall = e.calls[i]
			}
		}
	}
	e.need.Lines[i] = needs
}

// rankFiles orders files by when they were last touched, and says which are hot:
// they are named where the work is.
func (e *estimator) rankFiles() {
	order := make([]int, len(e.files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return e.files[b].touched - e.files[a].touched })
	for rank, i := range order {
		e.files[i].rank = rank
	}
	for i := range e.pieces {
		f := e.paths[i]
		if f == 0 {
			continue
		}
		path := e.pieces[i].Path
		for _, name := range [...]string{path, path[strings.LastIndexByte(path, '/')+1:]} {
			id, known := e.index[hash(name)]
			if !known {
				continue
			}
			n := &e.names[id]
			switch {
			case n.newest || n.newSay:
				e.files[f-1].hot = 2
			case e.since(n) <= 6:
				e.files[f-1].hot = max(e.files[f-1].hot, 1)
			}
		}
	}
}

// since returns how many calls ago a name was last in arguments.
func (e *estimator) since(n *nameState) int32 {
	if n.lastCall < 0 {
		return 1 << 29
	}
	return e.asked - n.lastCall
}

// hot reports whether a name is in the newest words or in the last calls, and so
// near to what the agent is doing. What is everywhere says nothing.
func (e *estimator) hot(n *nameState) bool {
	return n.blocks <= 12 && (n.newest || n.newSay || e.since(n) <= 3)
}

// heat finds for each name how many hot ones stand in a line with it, and in which
// file it was last.
func (e *estimator) heat() {
	for i := range e.pieces {
		p := &e.pieces[i]
		ids := e.need.Marks[i]
		for k := range p.Lines {
			l := &p.Lines[k]
			hot := int32(0)
			for _, id := range ids[l.First:l.End] {
				if e.hot(&e.names[id]) {
					hot++
				}
			}
			for _, id := range ids[l.First:l.End] {
				n := &e.names[id]
				with := hot
				if hot > 0 && e.hot(n) {
					with--
				}
				n.withHot = max(n.withHot, with)
			}
		}
	}
	for i := range e.names {
		e.names[i].path = 0
	}
	for i := range e.pieces {
		if f := e.paths[i]; f != 0 {
			for _, id := range e.need.Marks[i] {
				e.names[id].path = f
			}
		}
	}
}

func (e *estimator) judgeNames(m *Model) {
	e.need.Names = make([]NameNeed, len(e.names))
	for i := range e.names {
		n := &e.need.Names[i]
		n.Features = e.nameFeatures(&e.names[i])
		if e.names[i].outer {
			n.Chance = m.Names.chance(n.Features[:])
		}
	}
}

// judgeLines finds the chances of the lines of a piece.
func (e *estimator) judgeLines(i int, m *Model) {
	p, needs, ids := &e.pieces[i], e.need.Lines[i], e.need.Marks[i]
	around := newSurroundings(e, i)
	for k := range p.Lines {
		n := &needs[k]
		if n.Copy == 0 {
			continue
		}
		l := &p.Lines[k]
		n.Features = e.lineFeatures(i, k, ids[l.First:l.End], around)
		n.Chance = m.Lines.chance(n.Features[:])
		c := &e.copies[n.Copy-1]
		c.best = max(c.best, n.Chance)
	}
}

// weigh turns chances into what things are worth: so that all names together are
// worth as much as all lines are, but for what the model says that lines are worth
// against names.
func (e *estimator) weigh(m *Model) {
	names, lines := Chance(0), Chance(0)
	for i := range e.need.Names {
		names += e.need.Names[i].Chance
	}
	for i := range e.copies {
		lines += e.copies[i].best
	}
	names, lines = max(names, fewNeeds), max(lines, fewNeeds)
	for i := range e.need.Names {
		n := &e.need.Names[i]
		n.Worth = int64(n.Chance) * (together / int64(names>>10)) >> 10
	}
	each := together / int64(lines>>10) * int64(m.Copy) / 1000
	for i := range e.need.Lines {
		for k := range e.need.Lines[i] {
			if n := &e.need.Lines[i][k]; n.Copy != 0 {
				n.Worth = int64(e.copies[n.Copy-1].best) * each >> 10
			}
		}
	}
}

const (
	together = 1 << 40             // what all names together are worth
	certain  = 1_000_000_000       // the chance of what is sure
	fewNeeds = 3 * Chance(certain) // as many needs as there are at least
)
