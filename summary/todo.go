package summary

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
)

// The statuses of a [Todo] that matter here. Lists may have others.
const (
	todoPending   = "pending"
	todoActive    = "in_progress"
	todoCompleted = "completed"
)

// A Todo is an entry of a todo list.
type Todo struct {
	Content string
	Status  string

	read string       // the status as it was read
	at   rawjson.Span // position of that status in the JSON; empty if there was none
}

// A TodoList is the todo list of an agent in JSON. Its text stays the same byte for
// byte, except for the statuses.
type TodoList struct {
	Todos []Todo

	raw []byte
}

// ParseTodos reads a list, or an object that has one under todos, plan, tasks
// or items. The wording of a to-do is its content, or else its step, task,
// title, text or description. It fails with a [*SyntaxError].
func ParseTodos(data []byte) (*TodoList, error) {
	l := &TodoList{raw: slices.Clone(data)}
	r := rawjson.NewReader(l.raw)
	read := func() error {
		return r.Array(func(int) error {
			t, err := readTodo(r)
			l.Todos = append(l.Todos, t)
			return err
		})
	}
	var err error
	found := r.Kind() != rawjson.Object
	if found {
		err = read()
	} else {
		err = r.Object(func(key string) error {
			if !found && r.Kind() == rawjson.Array && slices.Contains(todoLists, key) {
				found = true
				return read()
			}
			_, err := r.Skip()
			return err
		})
	}
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, &SyntaxError{Field: "todos", Text: err.Error()}
	}
	if !found {
		return nil, &SyntaxError{Field: "todos", Text: "there is no list of to-dos", Hint: "write a list, or an object with a list under todos"}
	}
	return l, nil
}

var (
	todoLists = []string{"todos", "plan", "tasks", "items"}
	todoTexts = []string{"content", "step", "task", "title", "text", "description"}
)

// readTodo reads one to-do: an object with fields of any kind, or a text.
func readTodo(r *rawjson.Reader) (Todo, error) {
	var t Todo
	if r.Kind() == rawjson.String {
		text, err := r.String()
		return Todo{Content: text}, err
	}
	best := len(todoTexts)
	err := r.Object(func(key string) error {
		if r.Kind() != rawjson.String {
			_, err := r.Skip()
			return err
		}
		from := r.Offset()
		text, err := r.String()
		if err != nil {
			return err
		}
		if key == "status" {
			t.Status, t.read = text, text
			t.at = rawjson.Span{Start: from, End: r.Position()}
		}
		if i := slices.Index(todoTexts, key); i >= 0 && i < best {
			t.Content, best = text, i
		}
		return nil
	})
	return t, err
}

// JSON returns the list as it was read, with the statuses that l has now. A
// to-do that had none keeps none.
func (l *TodoList) JSON() []byte {
	var out []byte
	end := 0
	for _, t := range l.Todos {
		if t.Status == t.read || t.at.End == 0 || t.at.Start < end {
			continue
		}
		out = append(out, l.raw[end:t.at.Start]...)
		out = rawjson.AppendString(out, t.Status)
		end = t.at.End
	}
	return append(out, l.raw[end:]...)
}

// SyncTodos completes to-dos by the current state of a summary. A to-do in progress
// is completed if a clause of the state has its words and says that it is done,
// without a negation and without a word for unfinished work such as "testing" or
// "next". Each completed to-do is added once to the decisions as "Completed: …".
// SyncTodos returns the new to-dos, the new summary, and how many to-dos it completed.
// The statuses are "in_progress" and "completed". To write the new to-dos, put them in
// the Todos of the list that they come from and call its method JSON.
func SyncTodos(todos []Todo, s *Summary) ([]Todo, *Summary, int) {
	out, sum, changed := slices.Clone(todos), *s, 0
	list := clauses(s.State)
	var done []Decision
	for i := range out {
		t := &out[i]
		if t.Status == todoActive && slices.ContainsFunc(list, func(c string) bool { return completes(c, t.Content) }) {
			t.Status = todoCompleted
			changed++
		}
		if t.Status == todoCompleted && strings.TrimSpace(t.Content) != "" {
			done = append(done, Decision{Decision: "Completed: " + text.Fold(t.Content), Rationale: NotStated})
		}
	}
	sum.Decisions = mergeDecisions(s.Decisions, done)
	return out, &sum, changed
}

var clauseEnd = lazy.Regexp(`[.!?](?:\s|$)|[;,\n]|\s(?:but|while|then|though|although|however|whereas|before|until)\s|\s[–—]\s|\sand\s`)

var questions = lazy.Regexp(`[^.!?\n]*\?+(?:\s|$)`)

// clauses splits a text at the places where a new statement may begin. It leaves questions out.
func clauses(text string) []string {
	var list []string
	for _, c := range clauseEnd.Get().Split(questions.Get().ReplaceAllString(text, "\n"), -1) {
		if c = strings.TrimSpace(c); c != "" {
			list = append(list, c)
		}
	}
	return list
}

// completes reports whether a clause says that a to-do is done.
func completes(clause, todo string) bool {
	words, need := lowerWords(clause), lowerWords(todo)
	makes := len(need) > 0 && making.Get()[need[0]]
	finished := strings.ContainsAny(clause, "✓✔✅")
	said := make(map[string]bool, len(words))
	for _, w := range words {
		if unfinished.Get()[w] || strings.HasSuffix(w, "n't") {
			return false
		}
		finished = finished || finishing.Get()[w] && (!makes || w != "removed")
		said[text.Stem(w)] = true
	}
	if !finished {
		return false
	}
	// "Add the login page" is done when the login page is complete.
	if len(need) > 1 && beginning.Get()[need[0]] {
		need = need[1:]
	}
	found := 0
	for _, w := range need {
		if w == "" || stops.Get()[w] {
			continue
		}
		if !said[text.Stem(w)] {
			return false
		}
		found++
	}
	return found > 0
}

// lowerWords returns the words of a text in lower case, without quotation marks around them.
func lowerWords(text string) []string {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "’", "'"), notWord)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return words
}

// notWord reports whether a character of a text in lower case separates words.
func notWord(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '\'':
		return false
	}
	return r < utf8.RuneSelf || strings.ContainsRune("–—…“”‘’✓✔✅", r)
}

var (
	// finishing are words that say that something is done.
	finishing = lazy.Words("done complete completed completes finished finish implemented fixed passes passed passing merged landed " +
		"added created written wrote resolved shipped deployed released works updated removed refactored " +
		"migrated installed configured documented tested verified built replaced renamed moved closed solved committed")

	// unfinished are words that say that something is not done, or only in
	// part or later.
	unfinished = lazy.Words("not no never nothing none neither nor hardly without cannot can't fail fails failed failing broken incomplete unfinished " +
		"testing next remaining remains still pending todo wip ongoing continuing started starting begun began partially " +
		"partly almost nearly half will should must need needs needed going plan planned planning to-do progress " +
		"being implementing adding fixing writing creating awaiting waiting working blocked until once if unless after " +
		"when later soon today tomorrow want wants would could may might debugging investigating except")

	// beginning are verbs that a to-do may begin with, and that its completion
	// need not repeat.
	beginning = lazy.Words("add implement create write build make do finish complete fix update set run get ensure refactor " +
		"develop introduce support handle")

	// making are verbs of to-dos that are not done when a thing was removed.
	making = lazy.Words("add implement create write build make develop introduce support")

	// stops are words without meaning of their own.
	stops = lazy.Words("a an the of to in on for with and or at by from into is are was were be been it its this that these " +
		"those as we i you our all so now has have had")
)
