package contract

import "github.com/carrel-dev/carrel/limn"

// A visitor goes through a statement of somebody else's and finds out whether it
// changes anything, and the first name of ours that it changes.
type visitor struct {
	owns    func(name string) bool
	changes bool
	err     *SyntaxError
}

// name notes that what has a name is changed.
func (v *visitor) name(n limn.Name) {
	v.changes = true
	if v.err == nil && v.owns(n.Text) {
		v.err = changed(n.Text, n.Pos.Column)
	}
}

func (v *visitor) stmt(stmt limn.Stmt) {
	switch stmt := stmt.(type) {
	case *limn.When:
		v.changes = true
		for _, l := range stmt.Body {
			v.stmt(l.Stmt)
		}
	case *limn.Sequence:
		v.sequence(stmt)
	}
}

func (v *visitor) sequence(seq *limn.Sequence) {
	if seq == nil {
		return
	}
	for _, op := range seq.Ops {
		v.core(op.Core)
	}
}

// core notes what an operation changes. Operations that are not named here only
// read, or write names that are never ours.
func (v *visitor) core(core limn.Core) {
	switch c := core.(type) {
	case *limn.Remember:
		v.name(c.Name)
		if from, ok := c.From.(limn.Core); ok {
			v.core(from)
		}
	case *limn.Teach:
		v.name(c.Name)
		if c.Param != nil {
			v.name(*c.Param)
		}
		v.sequence(c.Body)
	case *limn.Select:
		if c.Verb == "filter" {
			v.name(c.List)
		}
	case *limn.Gather:
		v.name(c.Name)
	case *limn.Each:
		v.core(c.Op.Core)
	case *limn.Choose:
		for _, b := range c.Branches {
			v.sequence(b.Then)
		}
		v.sequence(c.Otherwise)
	case *limn.Change:
		v.name(c.List)
	case *limn.Weakens:
		v.name(c.Name)
	case *limn.Assign:
		v.name(c.Name)
	case *limn.Sort:
		v.name(c.List)
	case *limn.Transform:
		v.name(c.List)
	case *limn.Define:
		v.name(c.Name)
	}
}
