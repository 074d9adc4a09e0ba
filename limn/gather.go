package limn

// maxRange is how many numbers can be gathered.
const maxRange = 10_000

// bounds returns the ends of the range that is to be gathered, its step, which is
// negative if it goes down, and how many numbers there are in it.
func (g *Gather) bounds() (from, step int64, n int, err error) {
	var ends [3]int64
	for i, number := range []*Number{g.From, g.To, g.By} {
		if number == nil {
			ends[i] = 1
			continue
		}
		v, err := parseNumber(number.Text)
		if err != nil {
			return 0, 0, 0, at(number.Pos, err)
		}
		var ok bool
		if ends[i], ok = v.wholeNumber(); !ok {
			return 0, 0, 0, semanticError(number.Pos, "only whole numbers can be gathered, and not too large ones: %s", number.Text)
		}
	}
	from, to, step := ends[0], ends[1], ends[2]
	if step < 1 {
		return 0, 0, 0, semanticError(g.By.Pos, "numbers are gathered by steps of 1 or more")
	}
	distance := uint64(max(from, to)) - uint64(min(from, to)) //nolint:gosec // right whatever the signs
	if distance/uint64(step) >= maxRange {                    //nolint:gosec // step is positive
		return 0, 0, 0, semanticError(g.From.Pos, "at most %d numbers can be gathered", maxRange)
	}
	n = int(distance/uint64(step)) + 1 //nolint:gosec // both are small
	if to < from {
		step = -step
	}
	return from, step, n, nil
}

func (m *Machine) checkGather(g *Gather) error {
	if err := m.bindable(g.Name); err != nil {
		return err
	}
	_, _, _, err := g.bounds()
	return asSemantic(err)
}

// gather makes a list of numbers and shows it.
func (m *Machine) gather(g *Gather, captured bool) (Value, error) {
	from, step, n, err := g.bounds()
	if err != nil {
		return Value{}, err
	}
	if err := m.spend(n); err != nil {
		return Value{}, err
	}
	items := make([]Value, n)
	for i := range items {
		items[i] = Int(from + int64(i)*step)
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
