package limn

// maxRange is the most numbers that one "gather" makes.
const maxRange = 10_000

// A stretch is an arithmetic sequence of n numbers.
type stretch struct {
	from, step int64 // a descending stretch has a negative step
	n          int
}

// stretch returns the numbers that g produces. It fails if a bound is not a whole number,
// the step is below 1, or there are more than maxRange numbers.
func (g *gather) stretch() (stretch, error) {
	var ends [3]int64
	for i, number := range []*number{g.From, g.To, g.By} {
		if number == nil {
			ends[i] = 1
			continue
		}
		v, err := number.parsed()
		if err != nil {
			return stretch{}, at(number.Pos, err)
		}
		var ok bool
		if ends[i], ok = v.wholeNumber(); !ok {
			return stretch{}, semanticError(number.Pos, "only whole numbers can be gathered, and not too large ones: %s", number.Text)
		}
	}
	from, to, step := ends[0], ends[1], ends[2]
	if step < 1 {
		return stretch{}, semanticError(g.By.Pos, "numbers are gathered by steps of 1 or more")
	}
	distance := uint64(max(from, to)) - uint64(min(from, to)) //nolint:gosec // right whatever the signs
	further := distance / uint64(step)                        //nolint:gosec // step is positive
	if further >= maxRange {
		return stretch{}, semanticError(g.From.Pos, "at most %d numbers can be gathered", maxRange)
	}
	if to < from {
		step = -step
	}
	return stretch{from, step, int(further) + 1}, nil //nolint:gosec // it is small
}

func (g *gather) check(m *Machine, _ *frame) error {
	if err := m.bindable(g.Name); err != nil {
		return err
	}
	_, err := g.stretch()
	return asSemantic(err)
}

// gather binds a list of numbers and shows it, unless the value is captured.
func (m *Machine) gather(g *gather, captured bool) (Value, error) {
	s, err := g.stretch()
	if err != nil {
		return Value{}, err
	}
	if err := m.spend(s.n); err != nil {
		return Value{}, err
	}
	items := make([]Value, s.n)
	for i := range items {
		items[i] = Int(s.from + int64(i)*s.step)
	}
	v := Value{newList(items)}
	if err := m.bind(g.Name.Text, "", v); err != nil {
		return Value{}, err
	}
	if captured {
		return v, nil
	}
	return v, m.emitShort(v)
}
