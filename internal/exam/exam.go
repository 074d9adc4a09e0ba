// Package exam measures whether a window still tells what the work that follows needs:
// questions about a conversation, each with the strings without which its answer cannot
// be given, are looked up in windows of the same size.
package exam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
}

// A Question has the strings without which it cannot be answered.
type Question struct {
	Type     string   `json:"type"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	MustHave []string `json:"must_have"`
}

// Read reads an exam from a file of JSON.
func Read(path string) (*Exam, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read an exam: %w", err)
	}
	var e Exam
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &e, nil
}

// History returns the lines of a session's conversation, below a folder, that the agent
// had seen.
func (s *Session) History(folder string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(s.Conversation)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ID, err)
	}
	if s.Lines == 0 {
		return data, nil
	}
	at := 0
	for range s.Lines {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return data, nil
		}
		at += n + 1
	}
	return data[:at], nil
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
	Strings, AllStrings     int // that the window has, of all
	Questions, AllQuestions int // that have all of their strings
	Used, Limit             int // bytes
	Missed                  []string
}

// Add adds another score.
func (s *Score) Add(o Score) {
	s.Strings += o.Strings
	s.AllStrings += o.AllStrings
	s.Questions += o.Questions
	s.AllQuestions += o.AllQuestions
	s.Used += o.Used
	s.Limit += o.Limit
}

// Score looks a session's strings up in a window. A string counts if it stands in one
// line, or in two that follow each other; lines of fewer than four words count only for
// strings that are longer than the line. A window of more bytes than the limit has none.
func (s *Session) Score(window string, limit int) Score {
	r := Score{Used: len(window), Limit: limit}
	var pairs []string
	if len(window) <= limit {
		pairs = pairsOf(window)
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		found := 0
		for _, must := range q.MustHave {
			if standsIn(pairs, " "+fold(must)+" ") {
				found++
			} else {
				r.Missed = append(r.Missed, fmt.Sprintf("%s: %s", q.Type, must))
			}
		}
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
