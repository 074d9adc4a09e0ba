package arch

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write doc/reference/events.md")

// An event is an operation of a journal. What the journal keeps of it is a struct of a
// package, or fields that are named here.
type event struct {
	op, about string
	of        string // such as "internal/engine/hold PassEntry"
	fields    [][3]string
}

// artifactsOf are the fields of operations on artifacts that are named.
var artifactsOf = [][3]string{{"artifacts", "list of text", "their ids"}}

// events are all operations, of sessions and of artifacts and contexts.
var events = [][]event{
	{
		{"import", "A conversation came in, or grew.", "internal/engine/hold ImportEntry", nil},
		{"page", "A compression made the window smaller.", "internal/engine/hold PassEntry", nil},
		{"page-by-hand", "Blocks that were named left the window.", "internal/engine/hold PassEntry", nil},
		{"discard", "An agent or a person tidied the window.", "internal/engine/windows discarded", nil},
		{"pin", "Blocks were pinned.", "internal/engine/windows pins", nil},
		{"unpin", "Blocks are pinned no longer.", "internal/engine/windows pins", nil},
		{"undo", "An operation was taken back.", "internal/engine/windows undone", nil},
		{"mark", "The session was marked as critical, or no longer.", "", [][3]string{{"critical", "true or false", "whether it is"}}},
		{"contract", "Statements were added to the contract.", "internal/engine/record AmendEntry", nil},
		{"rewrite", "Other bytes were sent than the client sent.", "internal/engine/calls rewriteEntry", nil},
		{"remove", "The session was taken out of use.", "", nil},
		{"restore", "It is in use again.", "", nil},
		{"purge", "It was erased.", "", [][3]string{{"cells", "whole number", "texts that were erased"}, {"blocks", "whole number", "blocks that it had"}}},
	},
	{
		{"put", "Artifacts came in.", "", [][3]string{{"artifacts", "whole number", "how many"}}},
		{"refetch", "Sources were asked again, and had something else.", "", [][3]string{{"artifacts", "whole number", "how many changed"}}},
		{"pin", "Artifacts are in every context.", "", artifactsOf},
		{"unpin", "They are pinned no longer.", "", artifactsOf},
		{"remove", "Artifacts were taken out of use.", "", artifactsOf},
		{"restore", "They are in use again.", "", artifactsOf},
		{"refute", "Artifacts turned out to be wrong, with all that was made from them.", "", artifactsOf},
		{"purge", "Artifacts, or sessions with what was made from them, were erased.", "", [][3]string{
			{"artifacts", "list of text", "ids of the artifacts"}, {"sessions?", "list of text", "ids of the sessions"}, {"cells", "whole number", "texts that were erased"},
		}},
		{"assemble", "A context was sealed.", "internal/engine/stacks ContextEntry", nil},
		{"commit", "The gate let a memory in.", "internal/engine/stacks GateRecord", nil},
		{"hold", "The gate holds a memory until a person decides.", "internal/engine/stacks GateRecord", nil},
		{"review", "A person decided about a memory that was held.", "internal/engine/stacks GateRecord", nil},
	},
}

// plainFields say what fields are that have no comment in the source.
var plainFields = map[string]string{
	"ImportEntry blocks": "blocks of it", "actor": "who did it", "added": "blocks that are new", "after": "tokens of the window after it", "artifact": "id of the memory", "auto": "the blocks were not named",
	"back": "blocks that are in the window again", "before": "tokens of the window before it", "block": "id of the block", "blocks": "ids of the blocks", "budget": "tokens that the window may have",
	"bytes": "bytes of it", "calls": "calls of the model", "cell": "the text that was sent", "chain": "digest of what the client sent up to here", "class": "why it may go",
	"close": "the contract was closed", "compacted": "what the client took out of the window itself", "compression_count": "compressions until then", "confidence": "of the verdict, from 0 to 1", "covers": "blocks that it covers",
	"critical": "of critical probes", "cuts": "scores between what stays and what goes", "discards": "what was discarded, and why", "edits": "entries that changed", "epoch": "number of the epoch", "evaluator": "who gave the verdict", "evict": "score below which a block goes",
	"floor": "tokens below which no discard goes", "fresh": "blocks that are new in it", "from": "what it was", "from_stub": "the stub before it", "from_tokens": "tokens of what it was",
	"init": "the contract was begun", "kind": "what of the request it stands for", "left": "entries that went", "lost_ids": "probes that nothing answers", "manifest": "id of the context",
	"messages": "messages of it", "model": "the model", "moves": "what became of each block", "off": "blocks that left the conversation", "ordinary": "of the other probes",
	"outcome": "what the gate decided", "parent": "the session whose contract it inherits", "pinned": "whether it is", "pins": "what was pinned or let go", "policy": "the policy of the gate", "probes": "what the probes said",
	"reason": "why", "reasons": "why", "recall_ids": "probes that a recall answers", "rule": "the rule that it goes by", "score": "from 0 to 1", "signals": "what the score is made from", "statements": "how many",
	"step": "the stage of the plan in which it changed", "strategy": "how the window was made smaller", "summary": "how the summary in the window changed", "target": "tokens that were aimed at", "to": "what it is", "to_stub": "the stub after it",
	"to_tokens": "tokens of what it is", "tokens": "tokens", "turn": "its place in the window, from 0", "type": "kind of the probes", "types": "by kinds of probes", "undoes": "id of the entry that is taken back", "warnings": "what a person should know of",
	"weights": "how much each part of the score counts", "window_ids": "probes that the window answers", "by": "who decided", "section": "section of the summary", "source": "the block it is from",
	"passed": "probes that were answered", "recall": "that a recall answers",
	"pass": "probes that the window answers", "total": "probes", "action": "what became of it", "count": "how many",
}

// doc/reference/events.md has every operation of the journals. Run with -update to write it.
func TestReferenceOfEvents(t *testing.T) {
	p := &eventPage{t: t, packages: make(map[string]map[string]declared)}
	p.line(`# Events

Every change is an entry of a journal, which nothing takes out again: of its session, or of
the artifacts and contexts of a scope. %[1]scarrel log --json%[1]s, %[1]scarrel log --session ID --json%[1]s,
%[1]sGET /v1/log%[1]s and %[1]sGET /v1/sessions/{session}/journal%[1]s list them, and %[1]sGET /v1/events%[1]s streams them.
No entry has text of a conversation or of an artifact.

| field | type | what it is |
|---|---|---|
| %[1]srevision%[1]s | whole number | the revision of the session, or the version of the scope, that the change made |
| %[1]sid%[1]s | text | id of the entry, such as %[1]sop_5c1f09ab%[1]s |
| %[1]sop%[1]s | text | the operation, as below |
| %[1]sactor%[1]s | text | who did it |
| %[1]stime%[1]s | time | when, in UTC |
| %[1]sdata%[1]s | object | what the operation keeps, as below |

A field with %[1]s?%[1]s may be left out. This page is written by
%[1]sgo test ./internal/test/arch -run Reference -update%[1]s.
`, "`")
	for i, title := range []string{"Of a session", "Of artifacts and contexts"} {
		p.line("## %s\n", title)
		for _, e := range events[i] {
			p.line("### %s\n\n%s\n", strings.TrimSpace(e.op+strings.Repeat(" (artifacts)", i)), e.about)
			p.event(&e)
		}
	}
	p.line("## Objects\n")
	for i := 0; i < len(p.objects); i++ { // which grows
		dir, name, _ := strings.Cut(p.objects[i], " ")
		p.line("### %s\n", name)
		p.structure(dir, name)
	}
	const name = "doc/reference/events.md"
	got, file := strings.TrimSuffix(p.String(), "\n"), filepath.Join(root, filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // it is a document
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale: go test ./internal/test/arch -run Reference -update (-want +got):\n%s", name, diff)
	}
}

// Every operation that the engine writes into a journal is in the table, and the table has
// no other.
func TestEventsAreAllThereAre(t *testing.T) {
	operand := map[string]int{"Apply": 4, "Record": 4, "Update": 3, "restate": 2, "restatus": 3}
	constants, found := map[string]string{"Commit": "commit", "Hold": "hold"}, map[string]bool{"commit": true, "hold": true} // words of the gate
	var calls []ast.Expr
	for _, f := range readTree(t) {
		if !strings.HasPrefix(f.name, "internal/engine/") || path.Ext(f.name) != ".go" || strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.name, f.data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if name := n.Names[0].Name; strings.HasPrefix(strings.ToLower(name), "op") && len(n.Values) == 1 {
					if lit, ok := n.Values[0].(*ast.BasicLit); ok {
						constants[name], _ = strconv.Unquote(lit.Value)
					}
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && operand[s.Sel.Name] > 0 && len(n.Args) > operand[s.Sel.Name] {
					calls = append(calls, n.Args[operand[s.Sel.Name]])
				}
			case *ast.AssignStmt: // op := hold.OpPin
				if id, ok := n.Lhs[0].(*ast.Ident); ok && id.Name == "op" && len(n.Rhs) == 1 {
					calls = append(calls, n.Rhs[0])
				}
			}
			return true
		})
	}
	for _, c := range calls {
		switch c := c.(type) {
		case *ast.BasicLit:
			op, _ := strconv.Unquote(c.Value)
			found[op] = true
		case *ast.SelectorExpr:
			found[constants[c.Sel.Name]] = true
		case *ast.Ident:
			found[constants[c.Name]] = true
		}
	}
	delete(found, "") // what is handed on is found where it comes from
	table := make(map[string]bool)
	for _, e := range slices.Concat(events...) {
		table[e.op] = true
	}
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(table))); diff != "" {
		t.Errorf("operations of journals (-in the engine +in the table):\n%s", diff)
	}
}

// A declared type is its expression and the imports of its file.
type declared struct {
	expr    ast.Expr
	imports map[string]string // paths by name
}

// An eventPage is a page about entries of journals.
type eventPage struct {
	strings.Builder

	t        *testing.T
	packages map[string]map[string]declared // types by package and name
	objects  []string                       // that fields refer to, as "package Name"
}

func (p *eventPage) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *eventPage) event(e *event) {
	if e.of != "" {
		dir, name, _ := strings.Cut(e.of, " ")
		p.structure(dir, name)
		return
	}
	if e.fields == nil {
		p.line("It keeps nothing besides.\n")
		return
	}
	p.line("| field | type | what it is |\n|---|---|---|")
	for _, f := range e.fields {
		name, optional := strings.CutSuffix(f[0], "?")
		p.line("| `%s`%s | %s | %s |", name, map[bool]string{true: "?"}[optional], f[1], f[2])
	}
	p.line("")
}

// types returns the types that a package declares.
func (p *eventPage) types(dir string) map[string]declared {
	if all := p.packages[dir]; all != nil {
		return all
	}
	all := make(map[string]declared)
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			p.t.Fatal(err)
		}
		imports := make(map[string]string)
		for _, i := range f.Imports {
			to, _ := strconv.Unquote(i.Path.Value)
			imports[path.Base(to)] = to
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						all[s.Name.Name] = declared{s.Type, imports}
					}
				}
			}
		}
	}
	p.packages[dir] = all
	return all
}

// structure writes a table of the fields of a struct.
func (p *eventPage) structure(dir, name string) {
	p.line("| field | type | what it is |\n|---|---|---|")
	p.members(dir, name)
	p.line("")
}

func (p *eventPage) members(dir, name string) {
	d := p.types(dir)[name]
	s, ok := d.expr.(*ast.StructType)
	if !ok {
		p.t.Fatalf("%s has no struct %s", dir, name)
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 { // its members are those of the struct
			in, base, _ := strings.Cut(p.resolve(dir, d, f.Type), " ")
			p.members(in, base)
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		about := strings.Join(strings.Fields(f.Doc.Text()+f.Comment.Text()), " ")
		if about == "" {
			about = cmp.Or(plainFields[name+" "+key], plainFields[key])
		}
		if about == "" {
			p.t.Errorf("%s.%s: nothing says what %s is", dir, name, key)
		}
		mark := ""
		if strings.Contains(options, "omit") {
			mark = "?"
		}
		p.line("| `%s`%s | %s | %s |", key, mark, p.word(dir, d, f.Type), strings.ReplaceAll(about, "|", `\|`))
	}
}

// resolve returns which type an expression names, as "package Name", or nothing if it is of
// another module.
func (p *eventPage) resolve(dir string, d declared, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if _, ok := p.types(dir)[e.Name]; ok {
			return dir + " " + e.Name
		}
	case *ast.SelectorExpr:
		if in, ok := strings.CutPrefix(d.imports[e.X.(*ast.Ident).Name], "github.com/carrel-dev/carrel/"); ok {
			return in + " " + e.Sel.Name
		}
	}
	return ""
}

// word says what a type is in JSON; an object is a link to its fields.
func (p *eventPage) word(dir string, d declared, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.word(dir, d, e.X)
	case *ast.ArrayType:
		return "list of " + p.word(dir, d, e.Elt)
	case *ast.Ident:
		if w := map[string]string{"string": "text", "int": "whole number", "int64": "whole number", "bool": "true or false"}[e.Name]; w != "" {
			return w
		}
	}
	switch at := p.resolve(dir, d, e); at {
	case "":
		return "time"
	case "ratio Ratio":
		return "number"
	case "digest Digest", "summary Item":
		return "text"
	default:
		in, name, _ := strings.Cut(at, " ")
		to := p.types(in)[name]
		if _, ok := to.expr.(*ast.StructType); !ok {
			return p.word(in, to, to.expr)
		}
		if !slices.Contains(p.objects, at) {
			p.objects = append(p.objects, at)
		}
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	}
}
