package facts

// A Need is the result of [Estimate]: for each name and line of a
// conversation the chance that the agent uses it again, and its worth.
type Need struct {
	Names []NameNeed   // each identifier once, in the order of their first marks
	Lines [][]LineNeed // by piece, parallel to its lines
	Marks [][]int32    // by piece, parallel to its marks: indexes of Names
}

// A NameNeed is an identifier of a conversation.
type NameNeed struct {
	Chance   Chance
	Worth    int64 // see [Model]
	Features NameFeatures
}

// A LineNeed is a line of a conversation.
type LineNeed struct {
	// Copy is equal for lines with the same text when copied, counted from 1
	// in the order of their first. It is 0 for a line that is too short to be
	// copied.
	Copy int32

	Chance   Chance // of being copied
	Worth    int64  // see [Model]
	Features LineFeatures
}

// A Chance is a probability in billionths.
type Chance int64

// Estimate returns the chances that the agent's next calls need the names and
// lines of pieces. A nil m is [DefaultModel]. It is linear in the number of
// marks, lines and words, computes in integers, and depends only on its
// arguments.
func Estimate(pieces []Piece, m *Model) *Need {
	if m == nil {
		m = DefaultModel()
	}
	e := newEstimator(pieces)
	e.place()
	e.listen()
	for i := range pieces {
		e.read(i)
	}
	e.rankFiles()
	e.relate()
	e.judgeNames(m)
	e.judgeLines(m)
	e.weigh(m)
	return e.need
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

// judgeLines finds the chances of lines, each once: where its file has it, or else
// where it is last.
func (e *estimator) judgeLines(m *Model) {
	at := make([][]int32, len(e.pieces)) // copies
	for c := range e.copies {
		i := e.copies[c].home.piece
		at[i] = append(at[i], int32(c))
	}
	var s surroundings
	for i := range e.pieces {
		if len(at[i]) == 0 {
			continue
		}
		s.look(e, i)
		for _, k := range at[i] {
			c := &e.copies[k]
			c.need.Copy = k + 1
			c.need.Features = e.lineFeatures(c, &s)
			c.need.Chance = m.Lines.chance(c.need.Features[:])
		}
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
		lines += e.copies[i].need.Chance
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
				*n = e.copies[n.Copy-1].need
				n.Worth = int64(n.Chance) * each >> 10
			}
		}
	}
}

const (
	together = 1 << 40             // what all names together are worth
	certain  = 1_000_000_000       // the chance of what is sure
	fewNeeds = 3 * Chance(certain) // as many needs as there are at least
)
