package limn

// A Program is the lines of a source text that hold statements, in order. It
// has no comments and blank lines; [Program.String] returns the statements in
// canonical form.
type Program struct {
	Name  string // of the file, if it has one
	Lines []*Line
}

// A Line is a statement with its position, or an error in place of a statement.
type Line struct {
	Pos    Pos    // of the first word
	Source string // source text without line break; of a "when", with its body
	stmt   stmt
	Err    *Error // or nil
	Amber  string // the first condition that mixes "and" with "or", with parentheses added; empty if there is none
}

// A stmt is the syntax tree of a line: [*about], [*when] or [*sequence].
type stmt interface{ stmt() }

// about is the title of a program. It is the first statement, and there is at most one.
type about struct {
	Text string
}

// when is a handler: "when cond unless guard from agent:" and indented lines.
type when struct {
	Inherited bool
	Cond      condition
	Unless    condition // or nil
	From      string    // agent that it was inherited from, or empty
	Body      []*Line
}

// A sequence is a list of operations that run in order. Most sequences have one operation.
type sequence struct {
	Ops []*operation
}

// An operation is an [action] with its annotations. Only the action has an effect.
type operation struct {
	Pos       Pos
	Then      bool    // joined to the previous operation by "then" instead of "and"
	Starting  *moment // or nil
	Until     *moment // or nil
	Inherited bool
	Core      action
	Because   *quotation // or nil
	From      string     // agent that it was inherited from, or empty
}

// A moment is the first or last day of a rule. It is only an annotation: the machine
// never compares it with a clock.
type moment struct {
	Text string // yyyy-mm-dd
}

// An action is the part of an operation that has an effect: a verb and its
// arguments.
type action interface {
	// check returns the first error of the action, given the names that m knows now.
	// It changes nothing. f is nil outside iterations.
	check(m *Machine, f *frame) error
}

// The operations. A Name in them names a value.
type (
	// remember binds a name: "remember a D called N with VALUES" or "… from SOURCE".
	// Exactly one of Fields, Values and From is set; for an empty list none is.
	remember struct {
		Descriptor []string // words before "called", without articles; by default "value", "list" or "record"
		Name       Name
		Fields     []assignment // with F as V and …: a record
		Values     []expr       // with V [and V …]
		List       bool         // Values are the items of a list, which may be empty
		From       any          // an [action] with a value or an [expr]; or nil
	}

	// teach binds a name to an operation: "remember how to N from P: stmt".
	teach struct {
		Name  Name
		Param *Name // or nil
		Body  *sequence
	}

	// show prints one expression or, inside an each, several fields of the current
	// item. If Values is empty, it prints the current item of the enclosing each.
	show struct {
		Values []expr
	}

	// selection is "filter" or "keep": it selects the items that meet a condition.
	selection struct {
		Verb string // "filter" or "keep"
		List Name
		Cond condition
	}

	// tally is "count" or "sum".
	tally struct {
		Verb string // "count" or "sum"
		List Name
	}

	// gather is "gather the N from F to T by S": a list of whole numbers.
	gather struct {
		Name         Name
		From, To, By *number // By is nil if it is not said
	}

	// each runs an operation for every item of a list.
	each struct {
		List Name
		Op   *operation
	}

	// choose runs the first branch whose condition is true.
	choose struct {
		Branches  []branch
		Otherwise *sequence // or nil
	}

	// change is "add V to N" or "remove V from N".
	change struct {
		Verb  string // "add" or "remove"
		Value expr
		List  Name
	}

	// weakens is "weakens N over P": the number N falls to 0 in P ticks.
	weakens struct {
		Name Name
		Over *number
	}

	// assign is "assign N to V".
	assign struct {
		Name  Name
		Value expr
	}

	// A rule is "require", "forbid", "permit" or "expect".
	rule struct {
		Verb   string
		Cond   condition
		Unless condition // or nil
	}

	// requireEach is "require each B in the N cond": a rule for all items.
	requireEach struct {
		Binding string
		List    Name
		Cond    condition
	}

	// sort is "sort the N by F in reverse".
	sort struct {
		List    Name
		Field   string
		Reverse bool
	}

	// compare is "compare A to B".
	compare struct {
		Left, Right Name
	}

	// transform is "transform F of N by V".
	transform struct {
		Field string // or empty
		List  Name
		Value expr
	}

	// define names a condition: "define N: cond".
	define struct {
		Name Name
		Cond condition
	}

	// call runs a composition, with an argument if the composition has a parameter.
	call struct {
		Name Name
		Arg  expr // or nil
	}

	// packCall runs a verb of a pack. Slots has the arguments in the order in which
	// the verb declares its slots; an omitted argument is nil.
	packCall struct {
		Pos   Pos
		Verb  *packVerb
		Slots []expr
	}

	// finish ends [Machine.Listen].
	finish struct{}
)

// A Name is a word that names a value, with its position.
type Name struct {
	Pos  Pos
	Text string
}

// An assignment is "F as V".
type assignment struct {
	Field Name
	Value expr
}

// A branch is "if cond: statement".
type branch struct {
	Cond condition
	Then *sequence
}

// An expr is an expression; it evaluates to a value.
type expr interface{ pos() Pos }

// The expressions.
type (
	// number is a literal number.
	number struct {
		Pos  Pos
		Text string // as it was written

		value Value // of Text; or none, if Text has no value or was not parsed yet
	}

	// date is a literal date.
	date struct {
		Pos  Pos
		Text string // yyyy-mm-dd
	}

	// quotation is quoted text.
	quotation struct {
		Pos  Pos
		Text string
	}

	// word is a bare word: the value with that name if there is one; otherwise
	// the word itself as a text, where a text is allowed.
	word struct {
		Pos  Pos
		Text string
	}

	// field is "F of N".
	field struct {
		Pos   Pos
		Field string
		Of    Name
	}

	// extremum is "highest of N" or "highest F of N", and the same with lowest.
	extremum struct {
		Pos     Pos
		Highest bool
		Field   string // or empty
		List    Name
	}

	// currentItem is "each": the current item of the enclosing iteration.
	currentItem struct {
		Pos Pos
	}

	// binary is arithmetic: "plus", "minus", "multiplied by" or "divided by".
	binary struct {
		Pos         Pos // of the operator
		Op          string
		Left, Right expr
	}
)

// A condition is a test, or several conditions joined by "and" and "or".
type condition interface{ first() *test }

// The conditions.
type (
	// junction is conditions joined by "and" or by "or"; "and" binds stronger.
	junction struct {
		Or    bool
		Conds []condition // at least two
	}

	// test is a comparison.
	test struct {
		Pos     Pos
		Subject expr // a [currentItem] if the text omits it, in a require-each or a define
		Not     bool
		Op      operator
		Within  expr // the tolerance of [opWithin]
		Value   expr // a [word] after "is" may name a predicate
	}
)

// An operator is the operator of a test.
type operator string

// The operators.
const (
	opIs       operator = "is"
	opEqual    operator = "equal to"
	opAbove    operator = "above"
	opBelow    operator = "below"
	opWithin   operator = "within"
	opIncludes operator = "includes"
)

func (*about) stmt()    {}
func (*when) stmt()     {}
func (*sequence) stmt() {}

func (e *number) pos() Pos      { return e.Pos }
func (e *date) pos() Pos        { return e.Pos }
func (e *quotation) pos() Pos   { return e.Pos }
func (e *word) pos() Pos        { return e.Pos }
func (e *field) pos() Pos       { return e.Pos }
func (e *extremum) pos() Pos    { return e.Pos }
func (e *currentItem) pos() Pos { return e.Pos }
func (e *binary) pos() Pos      { return e.Left.pos() }

func (j *junction) first() *test { return j.Conds[0].first() }
func (t *test) first() *test     { return t }
