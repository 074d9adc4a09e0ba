package jsonschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// link resolves the references within a schema.
func link(root *node) error {
	l := linker{byID: make(map[string]*node)}
	l.collect(root)
	if err := l.resolve(root, root); err != nil {
		return err
	}
	return l.circles(root)
}

// A linker has the schemas that have an $id. A reference may name such a schema by its id. The
// reference "#" means the innermost of these schemas around it.
type linker struct{ byID map[string]*node }

func (l linker) collect(n *node) {
	if n.ID != "" {
		l.byID[n.ID] = n
	}
	for _, child := range n.children() {
		l.collect(child)
	}
}

func (l linker) resolve(n, base *node) error {
	if n.ID != "" {
		base = n
	}
	if n.Ref != "" {
		if n.target = l.find(n.Ref, base); n.target == nil {
			return fmt.Errorf("%w: %q", ErrReference, n.Ref)
		}
	}
	for _, child := range n.children() {
		if err := l.resolve(child, base); err != nil {
			return err
		}
	}
	return nil
}

// find returns the target of a reference, or nil.
func (l linker) find(ref string, base *node) *node {
	if ref == "#" {
		return base
	}
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return base.Defs[name]
	}
	return l.byID[ref]
}

// circles returns an error if a schema in n, directly or through others, refers to itself for the
// same value, because to check a value against it would never end.
func (l linker) circles(n *node) error {
	if n.leadsTo(n, make(map[*node]bool)) {
		return fmt.Errorf("%w but to itself: %q", ErrReference, n.Ref)
	}
	for _, child := range n.children() {
		if err := l.circles(child); err != nil {
			return err
		}
	}
	return nil
}

// leadsTo reports whether checking a value against n also checks it against end.
func (n *node) leadsTo(end *node, seen map[*node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	for _, next := range []*node{n.target, n.If, n.Then, n.Else} {
		if next != nil && (next == end || next.leadsTo(end, seen)) {
			return true
		}
	}
	return false
}

// children returns the schemas inside n.
func (n *node) children() []*node {
	list := []*node{n.Items, n.AdditionalProperties, n.PropertyNames, n.If, n.Then, n.Else}
	for _, named := range []map[string]*node{n.Defs, n.Properties} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			list = append(list, named[name])
		}
	}
	return slices.DeleteFunc(list, func(n *node) bool { return n == nil })
}
