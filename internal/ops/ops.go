// Package ops is the table of operations that Carrel's server and its client share: a
// job of the engine, and how it is asked for over HTTP.
//
// What stands in braces in the path of an [Op] is the field of the request with that
// JSON name; of GET the other fields are query parameters, of everything else they are
// the body, as JSON. An operation with a Raw field takes that one as its body, as it is. So a request, a command's flags and a method's arguments cannot
// drift apart, and neither the server nor the client says twice what goes where.
//
// The scope is in the header [api.HeaderScope], or, if it has none, it is the one that
// the credential is for. Errors are problem documents of RFC 9457, see [api.Problem].
package ops

import (
	"slices"

	"github.com/carrel-dev/carrel/governance"
)

// An Operation is what a job of the engine is over HTTP.
type Operation struct {
	Name       string // of the engine's method, in kebab case
	Method     string
	Path       string                // after Prefix
	Permission governance.Permission // the one it is for; see Needs. Whoever has a credential may do what is for none
	Summary    string                // what it does, as a sentence without its period
	List       string                // key of the list in the result if it comes in pages
	Raw        string                // field of the request that the body is, as it is; the others are in the query
}

// Writes reports whether an operation changes anything.
func (o *Operation) Writes() bool {
	return slices.Contains(o.Needs(), governance.Write)
}

// Large reports whether an operation may keep a processor busy for long: it reads or
// writes a whole conversation, or makes a context. How many of these one actor has done
// at once is bounded.
func (o *Operation) Large() bool {
	switch o.Name {
	case Import.Name, Append.Name, Compress.Name, Export.Name, Repair.Name, CheckSummary.Name, Probes.Name, RunProbes.Name, Cost.Name, Handoff.Name, Assemble.Name:
		return true
	}
	return false
}

// Needs returns the permissions that a grant must have for an operation. What is for
// review or erase writes, too.
func (o *Operation) Needs() []governance.Permission {
	switch o.Permission {
	case "":
		return nil
	case governance.Review, governance.Erase:
		return []governance.Permission{governance.Write, o.Permission}
	case governance.Read, governance.Write, governance.Observe:
	}
	return []governance.Permission{o.Permission}
}

// An Op is an operation with the types of its request and its result.
type Op[Req, Res any] struct {
	Operation

	// Also returns what else the grant must allow for a request, or nil.
	Also func(*Req) []governance.Permission
}

// describe returns what all operations have.
func (o *Op[Req, Res]) describe() *Operation { return &o.Operation }

// Operations returns every operation, in the order of the documentation.
func Operations() []*Operation {
	list := make([]*Operation, 0, len(table))
	for _, o := range table {
		list = append(list, o.describe())
	}
	return list
}
