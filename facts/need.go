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
	// Copy is a number that lines share if a copy of them would have the same text. Numbers begin
	// with 1 and follow the order of first occurrences. Copy is 0 for a line whose Key is 0.
	Copy int32

	Chance   Chance // of being copied
	Worth    int64  // see [Model]
	Features LineFeatures
}

// A Chance is a probability in billionths.
type Chance int64

// Estimate returns the chances that calls of the agent's next 20 replies with
// calls need the names and lines of pieces. A nil m is [DefaultModel]. It is
// linear in the number of marks, lines and words, computes in integers, and
// depends only on its arguments.
func Estimate(pieces []Piece, m *Model) *Need {
	if m == nil {
		m = DefaultModel()
	}
	e := newEstimator(pieces)
	e.place()
	e.indexWords()
	for i := range pieces {
		e.countPiece(i)
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

// judgeLines computes the chance of each different line once, from the features of its last
// occurrence in a file or, if it is in no file, of its last occurrence.
func (e *estimator) judgeLines(m *Model) {
	at := make([][]int32, len(e.pieces)) // by piece, the indexes in e.copies of the lines that it is the home of
	for c := range e.copies {
		i := e.copies[c].home.piece
		at[i] = append(at[i], int32(c))
	}
	var s surroundings
	for i := range e.pieces {
		if len(at[i]) == 0 {
			continue
		}
		s.fill(e, i)
		for _, k := range at[i] {
			c := &e.copies[k]
			c.need.Copy = k + 1
			c.need.Features = e.lineFeatures(c, &s)
			c.need.Chance = m.Lines.chance(c.need.Features[:])
		}
	}
}

// weigh computes worths from chances: the worth of a name is its share of totalWorth. All
// lines together are worth m.Copy thousandths of totalWorth.
func (e *estimator) weigh(m *Model) {
	var names, lines Chance
	for i := range e.need.Names {
		names += e.need.Names[i].Chance
	}
	for i := range e.copies {
		lines += e.copies[i].need.Chance
	}
	names, lines = max(names, minNeeds), max(lines, minNeeds)
	for i := range e.need.Names {
		n := &e.need.Names[i]
		n.Worth = int64(n.Chance) * (totalWorth / int64(names>>10)) >> 10
	}
	each := totalWorth / int64(lines>>10) * int64(m.Copy) / 1000
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
	totalWorth = 1 << 40               // the total worth of all names
	certainty  = 1_000_000_000         // the chance 1
	minNeeds   = 3 * Chance(certainty) // the least sum of chances by which weigh divides
)
