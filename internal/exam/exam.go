package exam

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/lazy"
)

// An Exam has questions about conversations. Each conversation is cut. A method makes a window of
// the part before the cut, and the questions about this part are answered from the window.
type Exam struct {
	Sessions []Session `json:"sessions"`
}

// A Session is a conversation with a cut, and questions about the part before the cut.
type Session struct {
	ID           string     `json:"id"`
	Conversation string     `json:"conversation"` // path of the file
	Lines        int        `json:"lines"`        // number of lines before the cut; 0 means all lines
	Questions    []Question `json:"questions"`
	Next         []string   `json:"next"` // the steps of the agent after the cut

	file string // path of the exam
}

// A Question is a question about a session, with its answer. A window must have all strings of
// MustHave to answer it.
type Question struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Text     string   `json:"q"`
	Answer   string   `json:"answer"`
	MustHave []string `json:"must_have"`
	Where    string   `json:"where"` // the passage that proves the answer
}

// An Error describes a mistake in a file of an exam, with its position.
type Error struct {
	File     string
	Session  string // id, or empty
	Question string // id, or empty
	Field    string // name, or empty
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File + ": ")
	if e.Session != "" {
		b.WriteString("session " + e.Session + ": ")
	}
	if e.Question != "" {
		b.WriteString("question " + e.Question + ": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	return b.String() + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// fail returns an error about a field of a session, or of one of its questions.
func (s *Session) fail(question, field, format string, args ...any) error {
	return &Error{File: s.file, Session: s.ID, Question: question, Field: field, Err: fmt.Errorf(format, args...)}
}

// ids matches the valid ids of sessions and questions. The ids of sessions are names of files.
var ids = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Read reads an exam from a JSON file. It fails with an [*Error] if a required field is missing
// or invalid. It does not read the conversations: [Session.Open] checks the strings of
// questions.
func Read(path string) (*Exam, error) {
	var e Exam
	if err := readJSON(path, &e); err != nil {
		return nil, err
	}
	if len(e.Sessions) == 0 {
		return nil, &Error{File: path, Field: "sessions", Err: errors.New("want at least one session")}
	}
	known := make(map[string]bool)
	for i := range e.Sessions {
		s := &e.Sessions[i]
		s.file = path
		if !ids.Get().MatchString(s.ID) {
			return nil, &Error{File: path, Field: fmt.Sprintf("sessions[%d].id", i), Err: fmt.Errorf("%q is not an id: want letters, digits, dots, hyphens and underscores", s.ID)}
		}
		if known[s.ID] {
			return nil, s.fail("", "id", "two sessions have this id: rename one")
		}
		known[s.ID] = true
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

// ReadAll reads exams from JSON files, as [Read] does. It fails if two sessions have the same
// id.
func ReadAll(paths []string) ([]*Session, error) {
	var all []*Session
	known := make(map[string]string) // file by session
	for _, path := range paths {
		e, err := Read(path)
		if err != nil {
			return nil, err
		}
		for i := range e.Sessions {
			s := &e.Sessions[i]
			if other, twice := known[s.ID]; twice {
				return nil, s.fail("", "id", "%s also has a session with this id: rename one", other)
			}
			known[s.ID] = path
			all = append(all, s)
		}
	}
	return all, nil
}

// check returns an error about the first missing or invalid field of a session, or nil.
func (s *Session) check() error {
	switch {
	case s.Conversation == "":
		return s.fail("", "conversation", "the path of a file is missing")
	case s.Lines < 0:
		return s.fail("", "lines", "%d is below 0", s.Lines)
	case len(s.Questions) == 0:
		return s.fail("", "questions", "want at least one question")
	}
	known := make(map[string]bool)
	for i := range s.Questions {
		q := &s.Questions[i]
		switch {
		case !ids.Get().MatchString(q.ID):
			return s.fail("", fmt.Sprintf("questions[%d].id", i), "%q is not an id: want letters, digits, dots, hyphens and underscores", q.ID)
		case known[q.ID]:
			return s.fail(q.ID, "id", "two questions have this id: rename one")
		case strings.TrimSpace(q.Text) == "":
			return s.fail(q.ID, "q", "the question is missing: write its text into this field")
		case strings.TrimSpace(q.Answer) == "":
			return s.fail(q.ID, "answer", "the answer is missing: write it into this field")
		case len(q.MustHave) == 0:
			return s.fail(q.ID, "must_have", "want at least one string that a window must have to answer the question")
		}
		for k, must := range q.MustHave {
			if fold(must) == "" {
				return s.fail(q.ID, fmt.Sprintf("must_have[%d]", k), "%q must have a letter or a digit", must)
			}
		}
		known[q.ID] = true
	}
	return nil
}

// readJSON reads a JSON file into the value that its second argument points to. The error of an
// invalid file has the line.
func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, to)
	line := func(offset int64) int { return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) }
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &Error{File: fmt.Sprintf("%s:%d", path, line(wrong.Offset)), Field: wrong.Field, Err: fmt.Errorf("want %s, not %s", wanted(wrong), wrong.Value)}
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{File: fmt.Sprintf("%s:%d", path, line(wrong.Offset)), Err: err}
	}
	if err != nil {
		return &Error{File: path, Err: err}
	}
	return nil
}

// wanted names the kind of JSON value that a field wants.
func wanted(e *json.UnmarshalTypeError) string {
	kinds := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Slice: "an array", reflect.Struct: "an object", reflect.Map: "an object", reflect.Pointer: "an object",
	}
	return cmp.Or(kinds[e.Type.Kind()], "a number")
}

// History returns the lines of a session's conversation before the cut. The path of the
// conversation is relative to folder, or to the folder of the exam if folder is empty.
func (s *Session) History(folder string) ([]byte, error) {
	if folder == "" {
		folder = filepath.Dir(s.file)
	}
	data, err := readFile(filepath.Join(folder, filepath.FromSlash(s.Conversation)))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: its path begins in the folder of the exam, or in the folder that --data names", err)
		}
		return nil, s.fail("", "conversation", "%w", err)
	}
	if s.Lines == 0 {
		return data, nil
	}
	if f, err := carrel.Detect(data); err == nil && f.Name() != "claudecode" {
		return nil, s.fail("", "lines", "%s has the format %s, which cannot be cut at a line: set lines to 0 to use all of it", s.Conversation, f.Name())
	}
	at := 0
	for n := range s.Lines {
		end := bytes.IndexByte(data[at:], '\n')
		if end >= 0 {
			at += end + 1
			continue
		}
		if at == len(data) || n+1 < s.Lines {
			return nil, s.fail("", "lines", "%d is too many: %s has %d lines", s.Lines, s.Conversation, n+min(1, len(data)-at))
		}
		at = len(data)
	}
	return data[:at], nil
}

// mostUnpacked is the largest size in bytes of an unpacked conversation.
const mostUnpacked = 1 << 30

// readFile reads a file, and unpacks it if its name ends with ".gz".
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	data, err = io.ReadAll(io.LimitReader(r, mostUnpacked+1))
	if err == nil && len(data) > mostUnpacked {
		err = fmt.Errorf("the unpacked file has more than %d bytes", mostUnpacked)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	return data, nil
}

// Render converts a window, given as a request of Chat Completions, to the text in which the
// strings of questions are searched. It omits system text, which is the same for every method.
func Render(request []byte) (string, error) {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Calls   []struct {
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return "", fmt.Errorf("read a window: %w", err)
	}
	var out []string
	for i := range r.Messages {
		m := &r.Messages[i]
		text := contentOf(m.Content)
		switch m.Role {
		case "system", "developer":
			continue
		case "tool":
			out = append(out, "<tool_result>\n"+text+"\n</tool_result>")
			continue
		}
		out = append(out, "<"+m.Role+">\n"+text)
		for _, c := range m.Calls {
			out = append(out, "<call "+c.Function.Name+"> "+c.Function.Arguments)
		}
		out = append(out, "</"+m.Role+">")
	}
	return strings.Join(out, "\n"), nil
}

func contentOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// A Score counts which of the strings of an exam a window has, and for how many questions it has
// all strings.
type Score struct {
	Strings      int      `json:"strings"` // strings that the window has
	AllStrings   int      `json:"all_strings"`
	Questions    int      `json:"questions"` // questions of which the window has all strings
	AllQuestions int      `json:"all_questions"`
	Bytes        int      `json:"bytes"` // size of the window
	Limit        int      `json:"limit"` // the most bytes of the window
	Missed       []Missed `json:"missed"`

	found, all []int // by question: strings that the window has, and all strings
}

// A Missed is a string that does not count as found in a window, with the id and the type of its
// question: the window lacks it, or is over its limit.
type Missed struct {
	Question string `json:"question"`
	Type     string `json:"type"`
	String   string `json:"string"`
}

// Over reports whether the window is larger than its limit. Then none of its strings count.
func (s *Score) Over() bool { return s.Bytes > s.Limit }

// Add adds another score.
func (s *Score) Add(o *Score) {
	s.Strings += o.Strings
	s.AllStrings += o.AllStrings
	s.Questions += o.Questions
	s.AllQuestions += o.AllQuestions
	s.Bytes += o.Bytes
	s.Limit += o.Limit
	s.Missed = append(s.Missed, o.Missed...)
	s.found = append(s.found, o.found...)
	s.all = append(s.all, o.all...)
}

// Score searches a window for a session's strings. A string counts if it is in one line of four
// words or more, or in two adjacent lines that have four words or more together. In a window
// larger than limit bytes no string counts.
func (s *Session) Score(window string, limit int) *Score {
	r := &Score{Bytes: len(window), Limit: limit, Missed: []Missed{}}
	var pairs []string
	if !r.Over() {
		pairs = pairsOf(window)
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		found := 0
		for _, must := range q.MustHave {
			if standsIn(pairs, " "+fold(must)+" ") {
				found++
			} else {
				r.Missed = append(r.Missed, Missed{q.ID, q.Type, must})
			}
		}
		r.found, r.all = append(r.found, found), append(r.all, len(q.MustHave))
		r.Strings += found
		r.AllStrings += len(q.MustHave)
		r.AllQuestions++
		if found == len(q.MustHave) {
			r.Questions++
		}
	}
	return r
}

func standsIn(pairs []string, s string) bool {
	for _, p := range pairs {
		if strings.Contains(p, s) {
			return true
		}
	}
	return false
}

func pairsOf(window string) []string {
	var lines []string
	for l := range strings.SplitSeq(window, "\n") {
		if l = fold(l); l != "" {
			lines = append(lines, l)
		}
	}
	var pairs []string
	for i, l := range lines {
		both := []string{l}
		if i+1 < len(lines) {
			both = append(both, l+" "+lines[i+1])
		}
		for _, p := range both {
			if strings.Count(p, " ") >= 3 {
				pairs = append(pairs, " "+p+" ")
			}
		}
	}
	return pairs
}

// fold returns the words of a text in lower case, with one space between two. A word is a run of
// letters and digits; in scripts without spaces between words, each letter is a word.
func fold(s string) string {
	var b strings.Builder
	ends := false // the last word has ended
	for _, r := range strings.ToLower(s) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			ends = true
			continue
		}
		alone := r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
		if (ends || alone) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		ends = alone
		b.WriteRune(r)
	}
	return b.String()
}
