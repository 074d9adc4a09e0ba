// Package ops has the table of operations that Carrel's server and its client share: for each
// job of the engine, its route over HTTP.
//
// A name in braces in the path of an [Op] is the field of the request with that JSON name. For
// GET the other fields are query parameters, otherwise they are the body as JSON. An operation
// with a Raw field has that field unchanged as its body. So the server and the client use the
// same description, and it cannot differ from the methods of the engine.
//
// The scope is in the header [api.HeaderScope] or, without the header, is the only scope of the
// credential. Errors are problem documents of RFC 9457, see [api.Problem].
package ops

import (
	"slices"

	"github.com/carrel-dev/carrel/governance"
)

// An Operation describes a job of the engine as a route over HTTP.
type Operation struct {
	Name       string // name of the engine's method, in kebab case
	Method     string
	Path       string                // after Prefix
	Permission governance.Permission // main permission, see Needs; an operation without one is open to every credential
	Summary    string                // description, as a sentence without its period
	List       string                // key of the list in the result, if it has pages
	Raw        string                // field of the request that is the whole body; the others are in the query
}

// Writes reports whether an operation changes anything.
func (o *Operation) Writes() bool {
	return slices.Contains(o.Needs(), governance.Write)
}

// Large reports whether an operation may use a processor for long: it reads or writes a whole
// conversation, or makes a context. The number of such operations that an actor runs at once is
// limited.
func (o *Operation) Large() bool {
	switch o.Name {
	case Import.Name, Append.Name, Compress.Name, Export.Name, Repair.Name, CheckSummary.Name, Probes.Name, RunProbes.Name, Cost.Name, Handoff.Name, Assemble.Name:
		return true
	}
	return false
}

// Needs returns the permissions that a grant must have for an operation. Operations with the
// permission review or erase also need write.
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

	// Also returns further permissions that a request needs, or nil.
	Also func(*Req) []governance.Permission
}

// describe returns the Operation.
func (o *Op[Req, Res]) describe() *Operation { return &o.Operation }

// Operations returns every operation, in the order of the documentation.
func Operations() []*Operation {
	list := make([]*Operation, 0, len(table))
	for _, o := range table {
		list = append(list, o.describe())
	}
	return list
}
