// Package conform tests package limn with cases: programs with the expected result of each
// line. The cases are JSON, so that other implementations of the language can use them, too.
//
//	{"cases": [
//	  {
//	    "name": "a requirement that is not met leaves the exit code alone",
//	    "program": "remember a number called n with 3\nrequire n is above 5",
//	    "results": [
//	      {"line": 1, "status": "success"},
//	      {"line": 2, "status": "requirement_not_met"}
//	    ],
//	    "exit": 0
//	  }
//	]}
//
// A case may also have "packs": names of built-in packs, and packs in the form of their files;
// "confirm": true, which confirms ambers; "strict": true, which makes failed rules and
// unconfirmed ambers count for the exit code; and "today", by default 2026-01-01. Line is 0 for a result without a line, and
// "output" may be missing if nothing is shown. Warnings about contradictions are no results,
// and the texts of messages are not compared.
//
// The cases of testdata/conform.json have the behavior of the published program, with the
// exceptions listed in doc/spec/limn.md.
//
// Handlers run on the sequences of packs of type "test". There are no other sources, so a case
// has the same result every time.
package conform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/limn"
)

// A Case is a program with its expected results.
type Case struct {
	Name    string            `json:"name"`
	Program string            `json:"program"`
	Packs   []json.RawMessage `json:"packs,omitempty"`
	Confirm bool              `json:"confirm,omitempty"`
	Strict  bool              `json:"strict,omitempty"`
	Today   string            `json:"today,omitempty"`
	Results []Result          `json:"results"`
	Exit    int               `json:"exit"`
}

// A Result is the result of a line.
type Result struct {
	Line   int         `json:"line"` // 0 for a result without a line
	Status limn.Status `json:"status"`
	Output []string    `json:"output,omitempty"`
}

// String returns the result on one line.
func (r Result) String() string {
	s := fmt.Sprintf("line %d %s", r.Line, r.Status)
	if r.Line == 0 {
		s = string(r.Status)
	}
	for _, o := range r.Output {
		s += fmt.Sprintf(" %q", o)
	}
	return s
}

func (r Result) equal(s Result) bool {
	return r.Line == s.Line && r.Status == s.Status && slices.Equal(r.Output, s.Output)
}

// today is the date for cases without one.
const today = "2026-01-01"

// ErrFormat is wrapped by errors about files of cases.
var ErrFormat = errors.New("not a JSON list of cases")

// Parse reads cases. The JSON is an object with the list "cases", or only that list. It fails
// for an unknown field and for a case that cannot be run. Errors wrap [ErrFormat] and name the
// case.
func Parse(data []byte) ([]Case, error) {
	var file struct {
		Cases []Case `json:"cases"`
	}
	var into any = &file
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		into = &file.Cases
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is text after the end of the JSON: remove it", ErrFormat)
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("%w: the list is empty", ErrFormat)
	}
	return file.Cases, checkCases(file.Cases)
}

// checkCases returns an error unless all cases have different names and can be run.
func checkCases(cases []Case) error {
	seen := make(map[string]bool)
	for i := range cases {
		c := &cases[i]
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("%w: case %d has no name, or the name of an earlier case", ErrFormat, i+1)
		}
		seen[c.Name] = true
		if _, err := c.packs(); err != nil {
			return fmt.Errorf("%w: case %q: %w", ErrFormat, c.Name, err)
		}
	}
	return nil
}

// packs returns the packs of a case, each given by its name or its definition.
func (c *Case) packs() ([]*limn.Pack, error) {
	var packs []*limn.Pack
	for _, raw := range c.Packs {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			p, err := limn.BuiltinPack(name)
			if err != nil {
				return nil, err
			}
			packs = append(packs, p)
			continue
		}
		p, err := limn.LoadPack(raw)
		if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	return packs, limn.CheckPacks(packs)
}

// run executes a case and returns its results and its exit code.
func (c *Case) run() (results []Result, exit int, err error) {
	packs, err := c.packs()
	if err != nil {
		return nil, 0, err
	}
	opts := &limn.Options{Packs: packs, Today: c.Today}
	opts.Today = cmp.Or(opts.Today, today)
	if c.Confirm {
		opts.Confirm = func(string) bool { return true }
	}
	take := func(all iter.Seq[limn.Result]) {
		for r := range all {
			if r.Line == nil && r.Status == limn.StatusSuccess {
				continue
			}
			if r.Status.Failed(c.Strict) {
				exit = 1
			}
			results = append(results, newResult(r))
		}
	}
	m := limn.NewMachine(opts)
	take(m.Run(limn.Parse("", c.Program, opts)))
	take(m.Listen(updates(packs)))
	return results, exit, nil
}

func newResult(r limn.Result) Result {
	out := Result{Status: r.Status, Output: r.Output}
	if r.Line != nil {
		out.Line = r.Line.Pos.Line
	}
	return out
}

// updates returns the updates of packs, or nil if they have none.
func updates(packs []*limn.Pack) iter.Seq[limn.LiveValue] {
	var all []limn.LiveValue
	live := false
	for _, p := range packs {
		all = append(all, p.Sequence...)
		live = live || len(p.Declarations) > 0
	}
	if !live && len(all) == 0 {
		return nil
	}
	return slices.Values(all)
}

// Check runs a case and returns the differences from its expected results, one on each line:
// "-" precedes the expected result, "+" the actual one.
func (c *Case) Check() []string {
	got, exit, err := c.run()
	if err != nil {
		return []string{"+ " + err.Error()}
	}
	var diff []string
	for i := range max(len(got), len(c.Results)) {
		switch {
		case i < len(got) && i < len(c.Results) && got[i].equal(c.Results[i]):
			continue
		case i >= len(got):
			diff = append(diff, "- "+c.Results[i].String())
		case i >= len(c.Results):
			diff = append(diff, "+ "+got[i].String())
		default:
			diff = append(diff, "- "+c.Results[i].String(), "+ "+got[i].String())
		}
	}
	if exit != c.Exit {
		diff = append(diff, fmt.Sprintf("- exit %d", c.Exit), fmt.Sprintf("+ exit %d", exit))
	}
	return diff
}
