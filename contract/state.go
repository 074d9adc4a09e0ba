package contract

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// A State is what a contract says: which lists are declared, which block is in
// which of them, and when the last pass was. The zero State is that of an empty
// contract.
type State struct {
	declared [len(buckets)]bool
	counts   [len(buckets)]int
	blocks   map[string]Bucket
	last     time.Time
}

// A SyntaxError says which line of a contract cannot be replayed, and why.
type SyntaxError struct {
	Line      int    // first is 1
	Column    int    // in bytes; first is 1
	Statement string // the whole line
	Text      string // what is wrong
	Hint      string // what to do, or empty
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.Text, e.Statement)
}

// Replay returns the state that the statements of a contract lead to. It skips
// blank lines and comments, and passes over statements that change neither a
// list nor the marker. Everything else must be in one of the forms that this
// package writes and must make sense where it stands: a list is declared once
// and before it is used, a block is in no other list when it is added, and in
// the list that it is removed from. If not, the error is a [*SyntaxError].
func Replay(lines iter.Seq[string]) (*State, error) {
	s := new(State)
	n := 0
	for line := range lines {
		n++
		if err := s.apply(line); err != nil {
			err.Line, err.Statement = n, line
			return nil, err
		}
	}
	return s, nil
}

// Lines cuts the text of a contract into lines where the language does: at line
// feeds, carriage returns and the eight other line-breaking characters. The
// break after the last line begins no further one.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			line, rest, more := strings.Cut(text, "\n")
			text = rest
			if line != "" && line[len(line)-1] == '\r' {
				line = line[:len(line)-1]
			}
			for !printable(line) {
				i := strings.IndexFunc(line, breaksLine)
				if i < 0 {
					break
				}
				if !yield(line[:i]) {
					return
				}
				_, size := utf8Rune(line[i:])
				if line = line[i+size:]; line == "" && !more {
					return
				}
			}
			if !yield(line) {
				return
			}
		}
	}
}

// Bucket returns the list that a block is in, and reports whether it is in one.
func (s *State) Bucket(block string) (Bucket, bool) {
	b, ok := s.blocks[block]
	return b, ok
}

// Blocks returns the blocks of a list, in the order of their ids.
func (s *State) Blocks(b Bucket) []string {
	var ids []string
	for id, in := range s.blocks {
		if in == b {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Count returns how many blocks a list has.
func (s *State) Count(b Bucket) int {
	if i := b.index(); i >= 0 {
		return s.counts[i]
	}
	return 0
}

// Declared reports whether a list is declared.
func (s *State) Declared(b Bucket) bool {
	i := b.index()
	return i >= 0 && s.declared[i]
}

// LastPass returns the time of the last pass, or the zero time.
func (s *State) LastPass() time.Time { return s.last }

// Clone returns a copy of s.
func (s *State) Clone() *State {
	c := *s
	c.blocks = maps.Clone(s.blocks)
	return &c
}

// Pass returns the statements of a pass at a time, without line ends:
// declarations of lists that have none, then what moves each block to where it
// was decided to be, in the order of the decisions, and the marker last. A
// block that is there already needs no statement.
//
// Every statement was replayed before it is returned, and s is then the state
// after the pass. If a decision cannot be written the error is an [*IDError]
// and s is as it was.
func (s *State) Pass(decisions []Decision, at time.Time) ([]string, error) {
	if err := check(decisions); err != nil {
		return nil, err
	}
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return nil, fmt.Errorf("a pass in the year %d cannot be written", year)
	}
	text := s.write(decisions, at)
	if s.blocks == nil {
		s.blocks = make(map[string]Bucket, len(decisions))
	}
	lines := make([]string, 0, len(decisions)+len(buckets)+1)
	for line := range strings.Lines(text) {
		line = line[:len(line)-1]
		if err := s.apply(line); err != nil {
			err.Line, err.Statement = len(lines)+1, line
			return nil, err // not reached, as the decisions were checked
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// write returns the text of a pass.
func (s *State) write(decisions []Decision, at time.Time) string {
	var out strings.Builder
	out.Grow(48*len(decisions) + 256)
	for i, b := range buckets {
		if !s.declared[i] {
			out.WriteString("remember a list called " + string(b) + "\n")
		}
	}
	for _, d := range decisions {
		old, ok := s.blocks[d.Block]
		if old == d.Bucket {
			continue
		}
		if ok {
			writeMove(&out, "remove", d.Block, "from", old)
		}
		writeMove(&out, "add", d.Block, "to", d.Bucket)
	}
	out.WriteString("remember a string called " + Marker + ` with "` + at.UTC().Format(timeLayout) + "\"\n")
	return out.String()
}

// apply replays one line. The line and statement of its error are not set.
func (s *State) apply(line string) *SyntaxError {
	st, err := parse(line)
	if err != nil {
		return err
	}
	switch st.verb {
	case "":
		return nil
	case "declare":
		return s.declare(st)
	case "add":
		return s.add(st)
	case "remove":
		return s.remove(st)
	default: // mark
		s.last = st.at
		return nil
	}
}

func (s *State) declare(st statement) *SyntaxError {
	i := st.bucket.index()
	if s.declared[i] {
		return fault(st.column, "begin a new contract", "%s is declared twice, which would empty it", st.bucket)
	}
	s.declared[i] = true
	return nil
}

func (s *State) add(st statement) *SyntaxError {
	i := st.bucket.index()
	if !s.declared[i] {
		return fault(st.column, "a contract of the original pager cannot be continued: begin a new one",
			"%s is used before it is declared", st.bucket)
	}
	if old, ok := s.blocks[st.block]; ok {
		return fault(st.column, "remove it first", "block %q is in %s already", st.block, old)
	}
	if s.blocks == nil {
		s.blocks = make(map[string]Bucket)
	}
	s.blocks[st.block] = st.bucket
	s.counts[i]++
	return nil
}

func (s *State) remove(st statement) *SyntaxError {
	i := st.bucket.index()
	if !s.declared[i] || s.blocks[st.block] != st.bucket {
		return fault(st.column, "", "block %q is not in %s", st.block, st.bucket)
	}
	delete(s.blocks, st.block)
	s.counts[i]--
	return nil
}

// fault returns an error about a column.
func fault(column int, hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Column: column, Text: fmt.Sprintf(format, args...), Hint: hint}
}
