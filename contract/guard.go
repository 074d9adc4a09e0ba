package contract

// guardLines are the guards. They are a handler, and the language runs a handler after all
// statements, whatever was appended behind it. So the guards are written once and judge the
// state after the last pass.
//
// They compare the number of blocks with the sum of the lists, because a block in two lists
// makes the sum too large. Comparing each block with each other one would take quadratic time
// in most implementations of the language.
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

// Guard adds the guards to a contract that has none: no pinned block and no block that records
// a correction is evicted, each block is in one list, and the window is within its budget.
// Before them it declares the names that they read. [Run] checks the same rules without guards;
// with guards, other implementations of the language check them, too.
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
