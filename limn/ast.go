package limn

// A Program is the lines of a source text that hold statements, in order.
// Comments and blank lines are not kept: what [Program.String] returns is the
// canonical form of the statements.
type Program struct {
	Name  string // of the file, if it has one
	Lines []*Line
}

// A Line is a statement where it stands. Either Stmt or Err is nil.
type Line struct {
	Pos    Pos    // of the first word
	Source string // as it was written, without line break; of a "when", with its body
	Stmt   Stmt
	Err    *Error
	Amber  string // the first condition that mixes "and" with "or", with parentheses; empty if none does
}

// A Stmt is what a line says: [*About], [*When] or [*Sequence].
type Stmt interface{ stmt() }

// About is the title of a program: "about …", once and first.
type About struct {
	Text string
}

// When is a handler: "when cond unless guard from agent:" and indented lines.
type When struct {
	Inherited bool
	Cond      Cond
	Unless    Cond   // or nil
	From      string // the agent it was inherited from, or empty
	Body      []*Line
}

// A Sequence is operations one after the other. Most have one.
type Sequence struct {
	Ops []*Op
}

// An Op is an operation with what is said about it. Only Core has an effect.
type Op struct {
	Pos       Pos
	Then      bool    // joined to the one before by "then" rather than "and"
	Starting  *Moment // or nil
	Until     *Moment // or nil
	Inherited bool
	Core      Core
	Because   *Text  // or nil
	From      string // the agent it was inherited from, or empty
}

// A Moment is the day that a rule begins or ends with. It is a remark: nothing
// compares it with a clock.
type Moment struct {
	Text string // yyyy-mm-dd
}

// A Core is what an operation does.
type Core interface{ core() }

// The operations. A Name in them is that of a value; the positions of names are
// kept in those nodes that can be wrong about them.
type (
	// Remember binds a name: "remember a D called N" with or from something.
	// Exactly one of Fields, Values and From is set, or none for an empty list.
	Remember struct {
		Descriptor []string // the words before "called", without articles; "value", "list" or "record" if there were none
		Name       Name
		Fields     []Assignment // with F as V and …: a record
		Values     []Expr       // with V [and V …]
		List       bool         // whether Values, or their absence, make a list
		From       Source       // from something
	}

	// Teach binds a name to an operation: "remember how to N from P: stmt".
	Teach struct {
		Name  Name
		Param *Name // or nil
		Body  *Sequence
	}

	// Show prints one expression, or several names inside an each. With nothing
	// to show it is inside an each and shows the current item.
	Show struct {
		Values []Expr
	}

	// Select is "filter" or "keep": what of a list meets a condition.
	Select struct {
		Verb string // "filter" or "keep"
		List Name
		Cond Cond
	}

	// Tally is "count" or "sum".
	Tally struct {
		Verb string // "count" or "sum"
		List Name
	}

	// Gather is "gather the N from F to T by S": a list of whole numbers.
	Gather struct {
		Name         Name
		From, To, By *Number // By is nil if it is not said
	}

	// Each does an operation for every item of a list.
	Each struct {
		List Name
		Op   *Op
	}

	// Choose does the first of its branches whose condition is true.
	Choose struct {
		Branches  []Branch
		Otherwise *Sequence // or nil
	}

	// Change is "add V to N" or "remove V from N".
	Change struct {
		Verb  string // "add" or "remove"
		Value Expr
		List  Name
	}

	// Weakens is "weakens N over P": a number that falls to 0 in P ticks.
	Weakens struct {
		Name Name
		Over *Number
	}

	// Assign is "assign N to V".
	Assign struct {
		Name  Name
		Value Expr
	}

	// A Rule is "require", "forbid", "permit" or "expect".
	Rule struct {
		Verb   string
		Cond   Cond
		Unless Cond // or nil
	}

	// RequireEach is "require each B in the N cond": a rule for all items.
	RequireEach struct {
		Binding string
		List    Name
		Cond    Cond
	}

	// Sort is "sort the N by F in reverse".
	Sort struct {
		List    Name
		Field   string
		Reverse bool
	}

	// Compare is "compare A to B".
	Compare struct {
		Left, Right Name
	}

	// Transform is "transform F of N by V".
	Transform struct {
		Field string // or empty
		List  Name
		Value Expr
	}

	// Define names a condition: "define N: cond".
	Define struct {
		Name Name
		Cond Cond
	}

	// Call is a composition by its name, with an argument.
	Call struct {
		Name Name
		Arg  Expr // or nil
	}

	// PackCall is a verb of a pack with its slots, in the order of the verb's
	// declaration; a slot that was left out is nil.
	PackCall struct {
		Pos   Pos
		Verb  *PackVerb
		Slots []Expr
	}

	// Finish ends listening.
	Finish struct{}
)

// A Source is what stands after "from" in a remember: a [Core] that has a value,
// or an [Expr].
type Source any

// A Name is a word that names a value, where it stands.
type Name struct {
	Pos  Pos
	Text string
}

// An Assignment is "F as V".
type Assignment struct {
	Field Name
	Value Expr
}

// A Branch is "if cond: statement".
type Branch struct {
	Cond Cond
	Then *Sequence
}

// An Expr is something that has a value.
type Expr interface{ expr() }

// The expressions.
type (
	// Number is a literal number.
	Number struct {
		Pos  Pos
		Text string // as it was written
	}

	// Date is a literal date.
	Date struct {
		Pos  Pos
		Text string // yyyy-mm-dd
	}

	// Text is quoted text.
	Text struct {
		Pos  Pos
		Text string
	}

	// Word is a bare word: the value of that name if there is one, otherwise,
	// where that is allowed, the word itself.
	Word struct {
		Pos  Pos
		Text string
	}

	// Field is "F of N".
	Field struct {
		Pos   Pos
		Field string
		Of    Name
	}

	// Extremum is "highest of N" or "highest F of N", and the same with lowest.
	Extremum struct {
		Pos     Pos
		Highest bool
		Field   string // or empty
		List    Name
	}

	// Item is "each": the item that an iteration is at.
	Item struct {
		Pos Pos
	}

	// Binary is arithmetic: "plus", "minus", "multiplied by" or "divided by".
	Binary struct {
		Pos         Pos // of the operator
		Op          string
		Left, Right Expr
	}
)

// A Cond is a condition.
type Cond interface{ cond() }

// The conditions.
type (
	// Junction is conditions joined by "and" or by "or"; "and" binds stronger.
	Junction struct {
		Or    bool
		Conds []Cond // at least two
	}

	// Test is a comparison.
	Test struct {
		Pos     Pos
		Subject Expr // an [Item] also where it was left out, in a require-each or a define
		Not     bool
		Op      Op2
		Within  Expr // the tolerance of [OpWithin]
		Value   Expr // a Word after "is" may turn out to name a predicate
	}
)

// An Op2 is the operator of a test.
type Op2 string

// The operators.
const (
	OpIs       Op2 = "is"
	OpEqual    Op2 = "equal to"
	OpAbove    Op2 = "above"
	OpBelow    Op2 = "below"
	OpWithin   Op2 = "within"
	OpIncludes Op2 = "includes"
)

func (*About) stmt()    {}
func (*When) stmt()     {}
func (*Sequence) stmt() {}

func (*Remember) core()    {}
func (*Teach) core()       {}
func (*Show) core()        {}
func (*Select) core()      {}
func (*Tally) core()       {}
func (*Gather) core()      {}
func (*Each) core()        {}
func (*Choose) core()      {}
func (*Change) core()      {}
func (*Weakens) core()     {}
func (*Assign) core()      {}
func (*Rule) core()        {}
func (*RequireEach) core() {}
func (*Sort) core()        {}
func (*Compare) core()     {}
func (*Transform) core()   {}
func (*Define) core()      {}
func (*Call) core()        {}
func (*PackCall) core()    {}
func (*Finish) core()      {}

func (*Number) expr()   {}
func (*Date) expr()     {}
func (*Text) expr()     {}
func (*Word) expr()     {}
func (*Field) expr()    {}
func (*Extremum) expr() {}
func (*Item) expr()     {}
func (*Binary) expr()   {}

func (*Junction) cond() {}
func (*Test) cond()     {}
