package exam

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/lazy"
)

// An Exam has questions about cut conversations.
type Exam struct {
	Sessions []Session `json:"sessions"`
}

// A Session is a conversation, cut, and what is asked about what came before.
type Session struct {
	ID           string     `json:"id"`
	Conversation string     `json:"conversation"` // path of the file
	Lines        int        `json:"lines"`        // that the agent had seen; 0 is all
	Questions    []Question `json:"questions"`
	Next         []string   `json:"next"` // what came next

	file string // of the exam
}

// A Question has the strings without which it cannot be answered.
type Question struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Text     string   `json:"q"`
	Answer   string   `json:"answer"`
	MustHave []string `json:"must_have"`
	Where    string   `json:"where"` // the place that proves the answer
}

// An Error says what is wrong with a file of an exam, and where in it.
type Error struct {
	File     string
	Session  string // if it is about one
	Question string // if it is about one
	Field    string // if it is about one
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

// ids are what sessions and questions may be called: sessions name files.
var ids = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Read reads an exam from a file of JSON. It fails with an [*Error] where a field lacks
// that must be there. Whether the strings of questions stand in the conversations is known
// when these are opened: [Session.Open].
func Read(path string) (*Exam, error) {
	var e Exam
	if err := readJSON(path, &e); err != nil {
		return nil, err
	}
	if len(e.Sessions) == 0 {
		return nil, &Error{File: path, Field: "sessions", Err: errors.New("there are none")}
	}
	known := make(map[string]bool)
	for i := range e.Sessions {
		s := &e.Sessions[i]
		s.file = path
		if !ids.Get().MatchString(s.ID) {
			return nil, &Error{File: path, Field: fmt.Sprintf("sessions[%d].id", i), Err: fmt.Errorf("%q is no id: want letters, digits, dots, hyphens and underscores", s.ID)}
		}
		if known[s.ID] {
			return nil, s.fail("", "id", "there are two sessions of this id")
		}
		known[s.ID] = true
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

// ReadAll reads exams from files of JSON, as [Read] does. No two sessions may be called the
// same.
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
				return nil, s.fail("", "id", "%s has a session of this id, too", other)
			}
			known[s.ID] = path
			all = append(all, s)
		}
	}
	return all, nil
}

// check returns what lacks in a session.
func (s *Session) check() error {
	switch {
	case s.Conversation == "":
		return s.fail("", "conversation", "the path of a file is missing")
	case s.Lines < 0:
		return s.fail("", "lines", "%d is below 0", s.Lines)
	case len(s.Questions) == 0:
		return s.fail("", "questions", "there are none")
	}
	known := make(map[string]bool)
	for i := range s.Questions {
		q := &s.Questions[i]
		switch {
		case !ids.Get().MatchString(q.ID):
			return s.fail("", fmt.Sprintf("questions[%d].id", i), "%q is no id: want letters, digits, dots, hyphens and underscores", q.ID)
		case known[q.ID]:
			return s.fail(q.ID, "id", "there are two questions of this id")
		case strings.TrimSpace(q.Text) == "":
			return s.fail(q.ID, "q", "the question is missing")
		case strings.TrimSpace(q.Answer) == "":
			return s.fail(q.ID, "answer", "the answer is missing")
		case len(q.MustHave) == 0:
			return s.fail(q.ID, "must_have", "the strings are missing without which the answer cannot be given")
		}
		for k, must := range q.MustHave {
			if fold(must) == "" {
				return s.fail(q.ID, fmt.Sprintf("must_have[%d]", k), "%q has neither a letter of ASCII nor a digit", must)
			}
		}
		known[q.ID] = true
	}
	return nil
}

// readJSON reads a file of JSON. Where it is none, the error has the line.
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

// History returns the lines of a session's conversation, below a folder, that the agent
// had seen. An empty folder is that of the exam.
func (s *Session) History(folder string) ([]byte, error) {
	if folder == "" {
		folder = filepath.Dir(s.file)
	}
	data, err := readFile(filepath.Join(folder, filepath.FromSlash(s.Conversation)))
	if err != nil {
		return nil, s.fail("", "conversation", "%w", err)
	}
	if s.Lines == 0 {
		return data, nil
	}
	if f, err := carrel.Detect(data); err == nil && f.Name() != "claudecode" {
		return nil, s.fail("", "lines", "%s is one request and has no lines to cut at: give 0, which is all of it", s.Conversation)
	}
	at := 0
	for n := range s.Lines {
		end := bytes.IndexByte(data[at:], '\n')
		if end >= 0 {
			at += end + 1
			continue
		}
		if at == len(data) || n+1 < s.Lines {
			return nil, s.fail("", "lines", "%d is too many: %s has %d", s.Lines, s.Conversation, n+min(1, len(data)-at))
		}
		at = len(data)
	}
	return data[:at], nil
}

// mostUnpacked is how large a conversation that is packed may be, in bytes.
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
		err = fmt.Errorf("it has more than %d bytes", mostUnpacked)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	return data, nil
}

// Render returns a window, a request of Chat Completions, as the text by which windows
// are compared. System text is the same for every method, and left out.
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

// A Score is how much of an exam a window can answer.
type Score struct {
	Strings      int      `json:"strings"` // that the window has
	AllStrings   int      `json:"all_strings"`
	Questions    int      `json:"questions"` // that have all of their strings
	AllQuestions int      `json:"all_questions"`
	Bytes        int      `json:"bytes"` // of the window
	Limit        int      `json:"limit"` // that it may have
	Missed       []Missed `json:"missed"`

	found, all []int // strings of each question
}

// A Missed is a string that a window lacks.
type Missed struct {
	Question string `json:"question"`
	Type     string `json:"type"`
	String   string `json:"string"`
}

// Over reports whether the window has more bytes than it may have, so that it has nothing.
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

// Score looks a session's strings up in a window. A string counts if it stands in one
// line, or in two that follow each other; lines of fewer than four words count only for
// strings that are longer than the line. A window of more bytes than the limit has none.
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

// fold returns a text in lower case, with one space for all that is neither a letter of
// ASCII nor a digit.
func fold(s string) string {
	var b strings.Builder
	space := false
	for _, r := range strings.ToLower(s) {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
			continue
		}
		space = true
	}
	return b.String()
}
