package limn

// A Program is the lines of a source text that hold statements, in order. It
// has no comments and blank lines; [Program.String] returns the statements in
// canonical form.
type Program struct {
	Name  string // of the file, if it has one
	Lines []*Line
}

// A Line is a statement with its position, or an error.
type Line struct {
	Pos    Pos    // of the first word
	Source string // source text without line break; of a "when", with its body
	stmt   stmt
	Err    *Error // or nil
	Amber  string // the first condition that mixes "and" with "or", with parentheses added; empty if there is none
}

// A stmt is what a line says: [*about], [*when] or [*sequence].
type stmt interface{ stmt() }

// about is the title of a program: "about …", once and first.
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

// A sequence is operations one after the other. Most have one.
type sequence struct {
	Ops []*operation
}

// An operation is an [action] with what is said about it. Only the action has an effect.
type operation struct {
	Pos       Pos
	Then      bool    // joined to the one before by "then" instead of "and"
	Starting  *moment // or nil
	Until     *moment // or nil
	Inherited bool
	Core      action
	Because   *quotation // or nil
	From      string     // agent that it was inherited from, or empty
}

// A moment is the day that a rule begins or ends with. It is a remark: nothing
// compares it with a clock.
type moment struct {
	Text string // yyyy-mm-dd
}

// An action is what an operation does.
type action interface {
	// check finds what is wrong with an operation, by the names there are now. The frame
	// is nil outside iterations.
	check(m *Machine, f *frame) error
}

// The operations. A Name in them names a value.
type (
	// remember binds a name: "remember a D called N" with or from something.
	// Exactly one of Fields, Values and From is set, or none for an empty list.
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

	// show prints one expression, or several names inside an each. With nothing
	// to show it is inside an each and shows the current item.
	show struct {
		Values []expr
	}

	// selection is "filter" or "keep": what of a list meets a condition.
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

	// each does an operation for every item of a list.
	each struct {
		List Name
		Op   *operation
	}

	// choose does the first of its branches whose condition is true.
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

	// weakens is "weakens N over P": a number that falls to 0 in P ticks.
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

	// call is a composition by its name, with an argument.
	call struct {
		Name Name
		Arg  expr // or nil
	}

	// packCall is a verb of a pack with its slots, in the order of the verb's
	// declaration; a slot that was left out is nil.
	packCall struct {
		Pos   Pos
		Verb  *packVerb
		Slots []expr
	}

	// finish ends listening.
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

// An expr is something that has a value.
type expr interface{ pos() Pos }

// The expressions.
type (
	// number is a literal number.
	number struct {
		Pos  Pos
		Text string // as it was written
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

	// word is a bare word: the value of that name if there is one, otherwise,
	// where that is allowed, the word itself.
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

	// currentItem is "each": the item that an iteration is at.
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

// A condition is a test, or several joined.
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
		Subject expr // an [currentItem] if it was omitted, in a require-each or a define
		Not     bool
		Op      operator
		Within  expr // the tolerance of [opWithin]
		Value   expr // a Word after "is" may name a predicate
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
