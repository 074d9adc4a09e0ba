package contract

// guardLines are the guards: a handler, which is run once everything else has
// been, whatever was appended behind it. So it judges what the last pass left, and
// is written once.
//
// It counts the lists rather than comparing them: a block that is in two of them
// makes the sum too large, and to compare each with each would take the square of
// their length in most implementations of the language.
var guardLines = [...]string{
	`when block-count is above 0:`,
	`  each the pinned-blocks require evicted-blocks not includes each because "a pinned block stays in the window"`,
	`  each the correction-blocks require evicted-blocks not includes each because "what records a correction stays in the window"`,
	`  remember a number called retained-count from count the retained-blocks`,
	`  remember a number called paged-count from count the paged-blocks`,
	`  remember a number called evicted-count from count the evicted-blocks`,
	`  require block-count is equal to retained-count plus paged-count plus evicted-count because "a block is in one list"`,
	`  require window-tokens is not above token-budget because "the window has a budget"`,
}

// Guard adds the guards to a contract without them: no pinned block and no
// block that records a correction is evicted, each block is in one list, and
// the window is within its budget. It declares the names that they read
// first. [Run] checks the same rules without guards; guards let other
// implementations of the language check them.
func (s *Contract) Guard() ([]string, error) {
	if s.guarded() && !s.Closed() {
		return nil, nil
	}
	return s.edit(func(d *draft) {
		for i, b := range buckets {
			if !d.state.declared[i] {
				d.line("remember a list called " + string(b))
			}
		}
		d.declare(PinnedBlocks)
		d.declare(CorrectionBlocks)
		d.bindNumber(blockCount, len(d.state.blocks))
		if d.state.session.value(windowTokens) == "" {
			d.bindNumber(tokenBudget, 0)
			d.bindNumber(windowTokens, 0)
		}
		for _, line := range guardLines {
			d.line(line)
		}
	})
}
