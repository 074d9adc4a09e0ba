package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shared are the names that types of several public packages may have, each with the
// reason. What is not in the list stands for one type of the module.
var shared = map[string]string{
	"Artifact":       "one thing: as a store keeps it, and as a job gives it out",
	"Block":          "one thing: of a session, and as a store, an account, a model and a file know it",
	"Call":           "one thing: a request to a model and its answer, as a store keeps it and as a job gives it out",
	"Candidate":      "one thing: what may be chosen and is not yet",
	"Case":           "a case of a suite, read with its package",
	"Class":          "one of the classes of a thing: of contexts in provenance, of tools in tool",
	"Correction":     "one thing: what a user wants done otherwise, in a contract and in a packet",
	"Decision":       "one thing: what the conversation decided, in a summary and in a packet",
	"DiscardRequest": "one thing: what the job is asked, and what the plan of it depends on",
	"Edit":           "one thing: what became of a piece of a document",
	"Engine":         "the engine, and the part of it that hooks ask",
	"Entry":          "a line of a journal or of a window",
	"Error":          "an error, read with its package; in a summary the field of its JSON",
	"Event":          "an event of a log, of its stream, and of a hook",
	"Evidence":       "one thing: the texts in which an assertion must be found",
	"Feature":        "one thing: what can be seen of a text, in one of a few bins",
	"Finding":        "one thing: what a check found in a text",
	"FloorError":     "one thing: what must stay is more than the budget, of a window and of a context",
	"Form":           "one thing: how much of a block, or of an artifact, is there",
	"History":        "one thing: what is on record of a conversation",
	"Input":          "what a function is made to work on, read with its package",
	"Item":           "an entry of a list of several kinds, read with its package",
	"Key":            "a key, read with its package",
	"Kind":           "one of the kinds of a thing, read with its package",
	"Limits":         "bounds of a part of the program, read with its package",
	"Line":           "a line of a text",
	"List":           "a list: a page of one in api, one that a contract keeps by its name",
	"Manifest":       "one thing: the account of a context, and as a store keeps it",
	"Options":        "what adjusts a constructor or a function, read with its package",
	"ParseError":     "a text that cannot be read, read with its package",
	"Plan":           "one thing: what is to stand in a window, by blocks or by units of an account",
	"Problem":        "what is wrong with a thing that was checked, read with its package",
	"Program":        "one thing: a program, in Liminate or on a machine",
	"Question":       "one thing: a question that is open, or that a model is asked",
	"Reason":         "one of a closed list of reasons, read with its package",
	"Record":         "what is kept of a step, read with its package",
	"Refusal":        "one thing: what is refused, and why",
	"Report":         "the result of a run over several cases, read with its package",
	"Request":        "all that a plan depends on, read with its package",
	"Reply":          "an answer to a call of a model: by the model, or by Carrel in its place",
	"Result":         "the result of a step, read with its package",
	"Rewrite":        "one thing: what was sent in place of what came, as a store keeps it and as a job gives it out",
	"Round":          "one thing: a compression that was accepted",
	"Section":        "a section of a document: of a packet, of a summary",
	"Server":         "a server, that is asked or that answers",
	"Session":        "one thing: as a format decodes it, and as the suite of stores reads it",
	"Source":         "one thing: where something can be read again; what claims rest on",
	"State":          "one thing: how a thing stands: a block in a store, the work in an account",
	"Status":         "how far a thing is, read with its package",
	"SyntaxError":    "a text that is not in a format, read with its package",
	"Table":          "a table, read with its package",
	"Tally":          "how many there are of each sort, read with its package",
	"Text":           "one thing: prose, in a message and in a cell",
	"Todo":           "one thing: a thing to do, in a summary and in a result",
	"Usage":          "one thing: what a call to a model took, in tokens",
	"Verdict":        "one thing: a judgement: on a proposal, on a call",
}

// A name of a type means one thing in the module.
func TestAWordMeansOneThing(t *testing.T) {
	for _, v := range checkWords(shared, readTree(t)) {
		t.Error(v)
	}
}

func TestAWordMeansOneThingBites(t *testing.T) {
	got := checkWords(map[string]string{"Kind": "read with its package", "Gone": "once was", "Mute": ""}, []file{
		{"a/a.go", []byte("package a\n\ntype (\n\tPlan struct{}\n\tKind string\n\tMute int\n\tsmall int\n)\n")},
		{"b/b.go", []byte("package b\n\ntype Plan int\n\ntype Kind int\n\ntype Mute int\n\ntype small int\n\ntype Gone int\n")},
		{"c/c.go", []byte("package c\n\ntype Plan = a.Plan\n")},
		{"d/d.go", []byte("package d\n\ntype Gone = a.Other\n")},
		{"a/a_test.go", []byte("package a\n\ntype Gone int\n")},
		{"cmd/c/main.go", []byte("package main\n\ntype Gone int\n")},
		{"internal/e/e.go", []byte("package e\n\ntype Plan int\n")},
		{"a/testdata/e.go", []byte("package e\n\ntype Plan int\n")},
	})
	want := []string{
		"Mute is shared without a reason",
		"Plan is a type of a, b: give all but one the word for what they are",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}

	got = checkWords(map[string]string{"Gone": "once was"}, []file{{"a/a.go", []byte("package a\n\ntype Gone int\n")}})
	if diff := cmp.Diff([]string{"Gone is in the list of shared names and is not shared"}, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// checkWords returns the names that types of several public packages have without being
// shared, and what is shared without need or reason. An alias that has the name of the
// type that it stands for is no type of its own.
func checkWords(shared map[string]string, files []file) []string {
	dirs := make(map[string][]string)
	var violations []string
	for _, f := range files {
		dir := path.Dir(f.name)
		if path.Ext(f.name) != ".go" || strings.HasSuffix(f.name, "_test.go") || !public(dir) {
			continue
		}
		names, err := exportedTypes(f)
		if err != nil {
			violations = append(violations, err.Error())
		}
		for _, name := range names {
			dirs[name] = append(dirs[name], dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		reason, ok := shared[name]
		switch {
		case len(dirs[name]) > 1 && !ok:
			violations = append(violations, fmt.Sprintf("%s is a type of %s: give all but one the word for what they are", name, strings.Join(dirs[name], ", ")))
		case len(dirs[name]) > 1 && reason == "":
			violations = append(violations, name+" is shared without a reason")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		if len(dirs[name]) < 2 {
			violations = append(violations, name+" is in the list of shared names and is not shared")
		}
	}
	return violations
}

// public says whether other modules can import the package of a folder.
func public(dir string) bool {
	return !slices.ContainsFunc(strings.Split(dir, "/"), func(s string) bool { return s == "internal" || s == "testdata" })
}

// exportedTypes returns the names of the types that a file declares for others.
func exportedTypes(f file) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), f.name, f.data, parser.SkipObjectResolution)
	if err != nil || parsed.Name.Name == "main" {
		return nil, err
	}
	var names []string
	for _, d := range parsed.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				continue
			}
			if of, ok := spec.Type.(*ast.SelectorExpr); ok && spec.Assign.IsValid() && of.Sel.Name == spec.Name.Name {
				continue
			}
			names = append(names, spec.Name.Name)
		}
	}
	return names, nil
}
