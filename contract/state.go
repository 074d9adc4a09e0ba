package contract

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/limn"
)

// A Contract is the state of a contract: the list of each block, the time of
// the last pass, and the session's decisions, questions, corrections and
// sources. The zero Contract is empty.
//
// Methods that write return the statements to append, without line ends, and
// apply them to the Contract. After an error the Contract is unchanged. They
// fail with [ErrClosed] if the contract is closed, and with a [*TextError] for
// a text that is empty, is "none", or has quotation marks, line breaks or
// control characters; [Clean] makes most texts acceptable.
type Contract struct {
	declared [len(buckets)]bool
	counts   [len(buckets)]int
	blocks   map[string]Bucket
	last     time.Time
	session  session
}

// A SyntaxError names the line of a contract that cannot be replayed.
type SyntaxError struct {
	Line      int    // from 1
	Column    int    // in bytes, from 1
	Statement string // the whole line
	Text      string // what is wrong
	Hint      string // suggested correction, or ""
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s, in the statement: %s", e.Line, e.Column, e.Text, e.Statement)
}

// Replay returns the state after the statements of a contract. It skips blank
// lines, comments, and foreign statements that change nothing in a Contract. All
// others must have a form that this package writes and be valid in their
// place: a list is declared once, before its use; an added block is in no
// other list; a removed item is in its list; and nothing changes after the
// contract is closed. Otherwise the error is a [*SyntaxError].
//
// Replay neither checks guards nor runs statements; [Run] does.
func Replay(lines iter.Seq[string]) (*Contract, error) {
	s := new(Contract)
	n := 0
	for line := range lines {
		n++
		if err := s.apply(line); err != nil {
			err.Line, err.Statement = n, line
			return nil, err
		}
	}
	s.session.changes = nil
	return s, nil
}

// Lines splits the text of a contract at the language's line ends: line
// feeds, carriage returns and eight other line-breaking characters. A line
// end at the end of the text begins no further line.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range limn.Lines(text) {
			if !yield(line) {
				return
			}
		}
	}
}

// Bucket returns the list of a block, and whether it is in one.
func (s *Contract) Bucket(block string) (Bucket, bool) {
	b, ok := s.blocks[block]
	return b, ok
}

// Blocks returns the blocks of a list, sorted by their bytes.
func (s *Contract) Blocks(b Bucket) []string {
	var ids []string
	for id, in := range s.blocks {
		if in == b {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Count returns the number of blocks in a list.
func (s *Contract) Count(b Bucket) int {
	if i := b.index(); i >= 0 {
		return s.counts[i]
	}
	return 0
}

// Clone returns a copy of s.
func (s *Contract) Clone() *Contract {
	c := *s
	c.blocks, c.session = maps.Clone(s.blocks), s.session.clone()
	return &c
}

// Pass returns the statements of a pass at a time: declarations of undeclared lists, then the
// moves of blocks in the order of the decisions, then the marker. A block that is already in
// its list needs no statement. In a contract with guards, which compare the number of blocks
// with the sizes of the lists, a statement with that number precedes the marker.
//
// It fails with an [*IDError] for a decision that cannot be written, and with a [*PinError] for
// one that evicts a pinned block.
func (s *Contract) Pass(decisions []Move, at time.Time) ([]string, error) {
	if err := s.checkPass(decisions); err != nil {
		return nil, err
	}
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return nil, fmt.Errorf("a pass in the year %d cannot be written: want a year from 0 to 9999", year)
	}
	text := s.write(decisions, at)
	if s.blocks == nil {
		s.blocks = make(map[string]Bucket, len(decisions))
	}
	lines := make([]string, 0, len(decisions)+len(buckets)+2)
	for line := range strings.Lines(text) {
		line = line[:len(line)-1]
		if err := s.apply(line); err != nil {
			return nil, err // unreachable: the decisions were checked
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// checkPass returns an error if a pass with these decisions is not allowed.
func (s *Contract) checkPass(decisions []Move) error {
	if s.Closed() {
		return ErrClosed
	}
	if err := check(decisions); err != nil {
		return err
	}
	pins := s.session.list(PinnedBlocks) != nil || s.session.list(CorrectionBlocks) != nil
	for i := range decisions {
		if d := &decisions[i]; pins && d.Bucket == Evicted && s.Pinned(d.Block) {
			return &PinError{Block: d.Block}
		}
	}
	return nil
}

// write returns the text of a pass.
func (s *Contract) write(decisions []Move, at time.Time) string {
	var out strings.Builder
	out.Grow(48*len(decisions) + 256)
	for i, b := range buckets {
		if !s.declared[i] {
			out.WriteString("remember a list called " + string(b) + "\n")
		}
	}
	blocks := len(s.blocks)
	for _, d := range decisions {
		old, ok := s.blocks[d.Block]
		if old == d.Bucket {
			continue
		}
		if ok {
			writeMove(&out, "remove", d.Block, "from", old)
		} else {
			blocks++
		}
		writeMove(&out, "add", d.Block, "to", d.Bucket)
	}
	if s.guarded() {
		out.WriteString(bindNumber(blockCount, blocks) + "\n")
	}
	out.WriteString("remember a string called " + lastPass + ` with "` + at.UTC().Format(timeLayout) + "\"\n")
	return out.String()
}

// apply replays one line. It leaves Line and Statement of its error unset.
func (s *Contract) apply(line string) *SyntaxError {
	st, err := s.read(line)
	if err != nil {
		return err
	}
	if st.changes && s.session.closed {
		return fault(max(st.column, 1), "begin a new contract, which can inherit from this one", "the contract is closed")
	}
	block := Bucket(st.name).index() >= 0
	switch {
	case st.verb == "":
		return nil
	case st.name == lastPass:
		s.last = st.at
		return nil
	case !block:
		return s.applySession(&st)
	case st.verb == verbDeclare:
		return s.declare(&st)
	case st.verb == verbAdd:
		return s.add(&st)
	default: // verbRemove
		return s.remove(&st)
	}
}

func (s *Contract) declare(st *statement) *SyntaxError {
	b := Bucket(st.name)
	i := b.index()
	if s.declared[i] {
		return fault(st.column, "begin a new contract", "%s is declared already, and a second declaration would empty it", b)
	}
	s.declared[i] = true
	return nil
}

func (s *Contract) add(st *statement) *SyntaxError {
	b := Bucket(st.name)
	i := b.index()
	if !s.declared[i] {
		return fault(st.column, "another program may have written this contract; begin a new one in another file",
			"no line before declares %s", b)
	}
	if old, ok := s.blocks[st.text]; ok {
		return fault(st.column, "remove it first", "block %q is in %s already", st.text, old)
	}
	if s.blocks == nil {
		s.blocks = make(map[string]Bucket)
	}
	s.blocks[st.text] = b
	s.counts[i]++
	return nil
}

func (s *Contract) remove(st *statement) *SyntaxError {
	b := Bucket(st.name)
	i := b.index()
	if s.blocks[st.text] != b {
		return fault(st.column, "", "block %q is not in %s", st.text, b)
	}
	delete(s.blocks, st.text)
	s.counts[i]--
	return nil
}

// fault returns an error about a column of a line.
func fault(column int, hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Column: column, Text: fmt.Sprintf(format, args...), Hint: hint}
}
