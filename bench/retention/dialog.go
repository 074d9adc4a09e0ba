package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/retrieval"
)

// A dialog is a conversation of two people in several sessions, with questions about it and the
// turns that have the answers.
type dialog struct {
	ID        string
	Turns     []retrieval.Turn
	Questions []question

	costs []int // cost of each turn as a message
}

// A question is a question about a dialog.
type question struct {
	Text     string
	Category category
	Evidence []int // indexes of the turns with the answer, ascending; empty if no turn has it
}

// A category is a kind of question, by its number in the format.
type category int

// The categories. A question of another number has that number as its category.
const (
	multiHop    category = 1 // the answer is in several turns
	temporal    category = 2 // about a time
	openEnded   category = 3 // needs general knowledge, too
	singleHop   category = 4 // the answer is in one turn
	adversarial category = 5 // asks one speaker about an event of the other
)

var categoryNames = map[category]string{
	multiHop: "multi-hop", temporal: "temporal", openEnded: "open",
	singleHop: "single-hop", adversarial: "adversarial",
}

// categoryNamed returns the category with a name, or 0.
func categoryNamed(name string) category {
	for c, s := range categoryNames {
		if s == name {
			return c
		}
	}
	return 0
}

func (c category) String() string {
	if name, known := categoryNames[c]; known {
		return name
	}
	return "category " + strconv.Itoa(int(c))
}

// errNoDialog means that a file is not in the format of dialogs with evidence.
var errNoDialog = errors.New("no dialog with evidence: want a list of samples, each with a conversation and qa")

// lines returns the turns as lines of text.
func (d *dialog) lines() []string {
	list := make([]string, len(d.Turns))
	for i := range list {
		list[i] = d.Turns[i].String()
	}
	return list
}

// cost returns the tokens of all turns.
func (d *dialog) cost() int {
	n := 0
	for _, c := range d.costs {
		n += c
	}
	return n
}

// dialogs are the dialogs to measure with.
type dialogs struct {
	all        []*dialog
	unresolved []string // message for each id of evidence that no turn has
	skipped    []string // paths of files in other formats
}

// load reads files, and all .json and .jsonl files below folders. It skips files of folders
// that have another format.
func (ds *dialogs) load(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = retention.Files(files); err != nil {
				return err
			}
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			err = ds.read(filepath.Base(file), data)
			switch {
			case info.IsDir() && errors.Is(err, errNoDialog):
				ds.skipped = append(ds.skipped, file)
			case err != nil:
				return err
			}
		}
	}
	return nil
}

// read reads the published format of LoCoMo: a JSON list of samples, or one sample. A sample
// has
//
//	sample_id     its name
//	conversation  session_1, session_2, …: lists of turns, each with speaker,
//	              dia_id, text and, for a picture, blip_caption; and
//	              session_1_date_time, …
//	qa            a list of questions, each with question, category and evidence,
//	              which are ids of turns
//
// Other fields are ignored. An id of evidence may be several, joined by semicolons, commas or
// spaces, and may be written "(D01:3)" or "D:1:3" for "D1:3". Ids without a turn are recorded
// as unresolved. file is used in errors.
func (ds *dialogs) read(file string, data []byte) error {
	var samples []json.RawMessage
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte("{")) {
		samples = []json.RawMessage{data}
	} else if err := json.Unmarshal(data, &samples); err != nil || len(samples) == 0 {
		return fmt.Errorf("%s: %w", file, errNoDialog)
	}
	var all []*dialog
	var unresolved []string
	for i, data := range samples {
		r := sampleReader{name: fmt.Sprintf("%s: sample %d", file, i+1), ids: make(map[string]int)}
		if err := r.read(data); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		all, unresolved = append(all, &r.dialog), append(unresolved, r.unresolved...)
	}
	ds.all, ds.unresolved = append(ds.all, all...), append(ds.unresolved, unresolved...)
	return nil
}

// A sampleReader reads one sample.
type sampleReader struct {
	dialog

	name       string         // for errors
	ids        map[string]int // indexes of turns by their keys
	unresolved []string
}

func (r *sampleReader) read(data json.RawMessage) error {
	var sample struct {
		ID           json.RawMessage            `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           json.RawMessage            `json:"qa"`
	}
	if err := json.Unmarshal(data, &sample); err != nil || sample.Conversation == nil {
		return errNoDialog
	}
	if r.ID = scalar(sample.ID); r.ID != "" {
		r.name += " (" + r.ID + ")"
	}
	for _, n := range sessionNumbers(sample.Conversation) {
		key := "session_" + strconv.Itoa(n)
		if err := r.session(n, sample.Conversation[key], scalar(sample.Conversation[key+"_date_time"])); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	questions, err := elements(sample.QA, "qa")
	if err != nil {
		return err
	}
	for i, q := range questions {
		if err := r.question(i+1, q); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
	}
	return nil
}

// sessionNumbers returns the numbers of the sessions of a conversation, ascending.
func sessionNumbers(conversation map[string]json.RawMessage) []int {
	var numbers []int
	for key := range conversation {
		if digits, ok := strings.CutPrefix(key, "session_"); ok {
			if n, err := strconv.Atoi(digits); err == nil && strconv.Itoa(n) == digits {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

func (r *sampleReader) session(number int, data json.RawMessage, date string) error {
	turns, err := elements(data, "the session")
	if err != nil {
		return err
	}
	for i, raw := range turns {
		var t struct {
			Speaker string `json:"speaker"`
			ID      string `json:"dia_id"`
			Text    string `json:"text"`
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("turn %d: want speaker, dia_id and text, have %s", i+1, head(raw))
		}
		if t.Caption != "" {
			t.Text = strings.TrimSpace(t.Text + " [image: " + t.Caption + "]")
		}
		if key := turnKey(t.ID); key != "" {
			if _, taken := r.ids[key]; taken {
				return fmt.Errorf("turn %d: another turn has the id %q, too", i+1, t.ID)
			}
			r.ids[key] = len(r.Turns)
		}
		turn := retrieval.Turn{Session: number, Date: date, Speaker: t.Speaker, Text: t.Text}
		r.Turns = append(r.Turns, turn)
		r.costs = append(r.costs, (&retention.Message{Text: turn.String()}).Cost())
	}
	return nil
}

func (r *sampleReader) question(n int, raw json.RawMessage) error {
	var q struct {
		Question string          `json:"question"`
		Category json.RawMessage `json:"category"`
		Evidence json.RawMessage `json:"evidence"`
	}
	if err := json.Unmarshal(raw, &q); err != nil || strings.TrimSpace(q.Question) == "" {
		return fmt.Errorf("want a question and evidence, have %s", head(raw))
	}
	number := 0
	if s := scalar(q.Category); s != "" {
		var err error
		if number, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("category %s is no number", text.Head(s, 40))
		}
	}
	ids, err := evidenceIDs(q.Evidence)
	if err != nil {
		return err
	}
	var evidence []int
	for _, id := range ids {
		if turn, known := r.ids[turnKey(id)]; known {
			evidence = append(evidence, turn)
		} else {
			r.unresolved = append(r.unresolved, fmt.Sprintf("%s, question %d: no turn has the id %q", r.name, n, id))
		}
	}
	slices.Sort(evidence)
	r.Questions = append(r.Questions, question{q.Question, category(number), slices.Compact(evidence)})
	return nil
}

// evidenceIDs returns the ids in a text or a list of texts.
func evidenceIDs(raw json.RawMessage) ([]string, error) {
	var one string
	var texts []string
	if err := json.Unmarshal(raw, &one); err == nil && one != "" {
		texts = []string{one}
	} else if len(raw) > 0 && err != nil {
		if err := json.Unmarshal(raw, &texts); err != nil {
			return nil, fmt.Errorf("evidence is no list of ids: %s", head(raw))
		}
	}
	var ids []string
	for _, list := range texts {
		split := strings.FieldsFunc(list, func(c rune) bool { return c == ';' || c == ',' || unicode.IsSpace(c) })
		if len(split) == 0 {
			split = []string{list} // no turn has such an id
		}
		ids = append(ids, split...)
	}
	return ids, nil
}

// turnKey returns an id in its plain form: "D1:3" for "(D01:3)" and "D:1:3". Of an id in
// another form it only trims white space.
func turnKey(id string) string {
	id = strings.TrimSpace(id)
	rest, ok := strings.CutPrefix(strings.Trim(id, "()"), "D")
	if !ok {
		return id
	}
	session, turn, ok := strings.Cut(strings.TrimPrefix(rest, ":"), ":")
	s, err1 := strconv.ParseUint(session, 10, 31)
	t, err2 := strconv.ParseUint(turn, 10, 31)
	if !ok || err1 != nil || err2 != nil {
		return id
	}
	return fmt.Sprintf("D%d:%d", s, t)
}

// scalar returns a JSON string or number as text, and "" for other values.
func scalar(raw json.RawMessage) string {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return s
	case json.Unmarshal(raw, &n) == nil:
		return n.String()
	}
	return ""
}

// elements returns the elements of a JSON list. A missing list or null has none.
func elements(raw json.RawMessage, what string) ([]json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s is no list: %s", what, head(raw))
	}
	return list, nil
}

// head returns the beginning of a JSON value, for an error text.
func head(raw []byte) string { return text.Head(string(raw), 40) }
