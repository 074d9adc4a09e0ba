package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// madeDialogs returns n generated dialogs in the format that [dialogs.read] reads. Equal seeds
// give equal bytes.
//
// Two people meet in two dozen sessions and talk about events, made from the templates of
// scenes. Events of one kind happen to both of them and several times, so that words alone do
// not distinguish them. Each repeats words of the other in turns that are no evidence, and they
// chat in words of other scenes. A question uses the words of the dialog, other forms of them,
// or other words. About a third of the answers are in a turn that does not name its subject,
// behind a question or a turn that does.
func madeDialogs(seed uint64, n int) []byte {
	t, err := readTemplates(scenesText)
	if err != nil {
		panic(err) // the text is part of the program
	}
	list := make([]madeSample, n)
	for i := range list {
		m := &maker{templates: t, Rand: rand.New(rand.NewPCG(seed, uint64(i)))} //nolint:gosec // must be the same each time
		list[i] = m.sample(fmt.Sprintf("made-%d-%d", seed, i+1))
	}
	data, _ := json.MarshalIndent(list, "", "  ") // texts and numbers can always be encoded
	return append(data, '\n')
}

// The types of the format.
type (
	madeSample struct {
		ID           string         `json:"sample_id"`
		Conversation map[string]any `json:"conversation"`
		QA           []madeQuestion `json:"qa"`
	}

	madeTurn struct {
		Speaker string `json:"speaker"`
		ID      string `json:"dia_id"`
		Text    string `json:"text"`
		Caption string `json:"blip_caption,omitempty"`
	}

	madeQuestion struct {
		Question string   `json:"question"`
		Answer   string   `json:"answer,omitempty"`
		Wrong    string   `json:"adversarial_answer,omitempty"`
		Evidence []string `json:"evidence"`
		Category category `json:"category"`
	}
)

// Sizes of a dialog.
const (
	scenesUsed   = 14 // kinds of scenes
	mostOfAKind  = 3  // of one kind for one speaker
	fewestTurns  = 22 // of a session
	sessionsMost = 26
	sessionsMin  = 22
	named        = 65 // percent of the turns with a fact that name their subject
)

// A maker makes one dialog.
type maker struct {
	*rand.Rand
	*templates

	names  [2]string
	events []*event
}

// An event is a scene that happens to a speaker.
type event struct {
	*scene
	who    int               // 0 or 1
	said   map[string]string // values of the slots, and the names and the time
	asked  map[string]string
	person string
	facts  map[byte]string // ids of the turns with the evidence, by number of the fact
}

// chance returns true with a probability in percent.
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *maker, list []T) T { return list[m.IntN(len(list))] }

func (m *maker) sample(id string) madeSample {
	p := m.Perm(len(speakers))
	m.names = [2]string{speakers[p[0]], speakers[p[1]]}
	m.happen()
	return madeSample{ID: id, Conversation: m.conversation(), QA: m.questions()}
}

// happen chooses the events, in the order in which they are told.
func (m *maker) happen() {
	for _, k := range m.Perm(len(m.scenes))[:scenesUsed] {
		s := &m.scenes[k]
		main := s.slots[0].values
		order := m.Perm(len(main))
		for who := range m.names {
			for range min(1+m.IntN(mostOfAKind), len(order)) {
				m.events = append(m.events, m.event(s, who, main[order[0]]))
				order = order[1:]
			}
		}
	}
	m.Shuffle(len(m.events), func(i, j int) { m.events[i], m.events[j] = m.events[j], m.events[i] })
}

func (m *maker) event(s *scene, who int, main string) *event {
	e := &event{scene: s, who: who, facts: make(map[byte]string), person: pick(m, acquaintances)}
	e.said = map[string]string{"A": m.names[who], "B": m.names[1-who], "when": pick(m, times)}
	e.asked = map[string]string{"A": m.names[who], "B": m.names[1-who]}
	for i := range s.slots {
		value := main
		if i > 0 {
			value = pick(m, s.slots[i].values)
		}
		said, asked, found := strings.Cut(value, "|")
		if !found {
			asked = bare(said)
		}
		e.said[s.slots[i].name], e.asked[s.slots[i].name] = said, asked
	}
	return e
}

// bare returns a value without a leading article.
func bare(s string) string {
	first, rest, found := strings.Cut(s, " ")
	if found && (first == "a" || first == "an" || first == "the") {
		return rest
	}
	return s
}

// fillIn replaces names of slots by values. Values may contain the name of a person.
func fillIn(template string, values map[string]string, person string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		if v, known := values[name]; known {
			b.WriteString(v)
		} else {
			b.WriteString("{" + name + "}")
		}
		template = after
	}
	return strings.ReplaceAll(b.String(), "{person}", person)
}

// sentences puts a capital at the beginning of each sentence.
func sentences(s string) string {
	b := []byte(s)
	start := true
	for i, c := range b {
		switch {
		case c == '.' || c == '!' || c == '?':
			start = i+1 < len(b) && b[i+1] == ' '
		case start && c != ' ' && c != '"':
			if c >= 'a' && c <= 'z' {
				b[i] = c - 'a' + 'A'
			}
			start = false
		}
	}
	return string(b)
}

// conversation writes the events into sessions.
func (m *maker) conversation() map[string]any {
	c := map[string]any{"speaker_a": m.names[0], "speaker_b": m.names[1]}
	n := sessionsMin + m.IntN(sessionsMost-sessionsMin+1)
	at := time.Date(2022, 1, 3, 9, 0, 0, 0, time.UTC).AddDate(0, 0, m.IntN(500))
	for i := range n {
		s := session{maker: m, number: i + 1}
		s.tell(m.events[i*len(m.events)/n : (i+1)*len(m.events)/n])
		key := "session_" + strconv.Itoa(s.number)
		c[key] = s.turns
		at = at.AddDate(0, 0, 5+m.IntN(20))
		hour := time.Duration(m.IntN(13*60)) * time.Minute
		c[key+"_date_time"] = at.Add(hour).Format("3:04 pm on 2 January, 2006")
	}
	return c
}

// A session is a session of a dialog, while it is made.
type session struct {
	*maker
	number int
	turns  []madeTurn
}

func (s *session) tell(events []*event) {
	first := s.IntN(2)
	s.pair(pick(s.maker, s.greetings), first)
	for _, e := range events {
		for s.chance(60) {
			s.chat()
		}
		s.event(e)
	}
	for len(s.turns) < fewestTurns {
		s.chat()
	}
	s.pair(pick(s.maker, s.goodbyes), first)
}

func (s *session) pair(lines []line, first int) {
	for _, l := range lines {
		s.say(l.speaker(first), fillIn(l.text, s.call(first), ""))
	}
}

// speaker returns the speaker of a line: the one who begins, or the other one.
func (l *line) speaker(first int) int {
	if l.other {
		return 1 - first
	}
	return first
}

// call returns the values of the slots for names: A is the speaker, and B the other person.
func (s *session) call(who int) map[string]string {
	return map[string]string{"A": s.names[who], "B": s.names[1-who]}
}

// say appends a turn and returns its id.
func (s *session) say(who int, text string) string {
	text, photo := strings.CutSuffix(text, " [photo]")
	t := madeTurn{Speaker: s.names[who], ID: fmt.Sprintf("D%d:%d", s.number, len(s.turns)+1), Text: sentences(text)}
	if photo {
		t.Caption = "a photo of " + pick(s.maker, []string{"something on a table", "a hand that holds something", "a room with a window"})
	}
	s.turns = append(s.turns, t)
	return t.ID
}

// chat adds turns that no question is about.
func (s *session) chat() {
	who := s.IntN(2)
	values := s.call(who)
	values["any"], _, _ = strings.Cut(pick(s.maker, pick(s.maker, s.scenes).slots[0].values), "|")
	person := pick(s.maker, acquaintances)
	for _, l := range pick(s.maker, s.chats) {
		s.say(l.speaker(who), fillIn(l.text, values, person))
	}
}

// event adds the turns about an event. The other speaker may repeat parts of it.
func (s *session) event(e *event) {
	for _, l := range pick(s.maker, e.tells) {
		text := fillIn(l.text, e.said, e.person)
		if l.fact != 0 {
			text = s.name(e, text)
		}
		if !l.other {
			text = s.around(e, text)
		}
		id := s.say(l.speaker(e.who), text)
		if l.fact != 0 {
			e.facts[l.fact] = id
		}
	}
	if s.chance(40) {
		values := map[string]string{"A": e.said["A"], "words": e.said[e.slots[0].name]}
		s.say(1-e.who, fillIn(pick(s.maker, s.echoes), values, e.person))
	}
}

// name puts the subject of an event before the text of a turn that lacks it, with the probability
// of the constant named. In speech, an answer repeats its subject more often than not.
func (s *session) name(e *event, text string) string {
	key := e.slots[0].name
	if strings.Contains(text, e.said[key]) || !s.chance(named) {
		return text
	}
	values := map[string]string{"it": pick(s.maker, []string{e.said[key], "the " + e.asked[key]})}
	return fillIn(pick(s.maker, mentions), values, e.person) + e.lower(text)
}

// around adds phrases without content before and behind the text of a turn.
func (s *session) around(e *event, text string) string {
	if (strings.HasPrefix(text, "I ") || strings.HasPrefix(text, "We ")) && s.chance(35) {
		text = pick(s.maker, openers) + e.lower(text)
	}
	if !strings.HasSuffix(text, "]") && s.chance(45) {
		text += pick(s.maker, closers)
	}
	return text
}

// lower makes the first letter of a sentence lower case, unless it begins with "I" or a name.
func (e *event) lower(s string) string {
	names := []string{"I ", "I'", e.person}
	for i := range e.slots {
		names = append(names, e.said[e.slots[i].name])
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(s, name) }) {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// questions returns the questions about the events.
func (m *maker) questions() []madeQuestion {
	var list []madeQuestion
	for _, e := range m.events {
		for i := range e.asks {
			if a := &e.asks[i]; m.chance(likely(a.kind)) && m.clear(e, a) {
				list = append(list, m.question(e, a))
			}
		}
		if m.chance(45) {
			list = append(list, m.trap(e))
		}
	}
	return append(list, m.gather()...)
}

// likely returns the probability in percent that a question of a category is asked.
func likely(c category) int {
	if c == temporal {
		return 60
	}
	return 50
}

// clear reports whether a question is about one event only: each of its wordings names the
// value of a slot, or no other event of the scene happened to the speaker.
func (m *maker) clear(e *event, a *ask) bool {
	for _, form := range a.forms {
		if strings.Count(form, "{") == strings.Count(form, "{A}") && len(m.alike(e.scene, e.who)) > 1 {
			return false
		}
	}
	return true
}

// alike returns the events of one scene that happened to a speaker.
func (m *maker) alike(s *scene, who int) []*event {
	var list []*event
	for _, e := range m.events {
		if e.scene == s && e.who == who {
			list = append(list, e)
		}
	}
	return list
}

func (m *maker) question(e *event, a *ask) madeQuestion {
	q := madeQuestion{
		Question: sentences(fillIn(pick(m, a.forms), e.asked, e.person)), Answer: fillIn(a.answer, e.said, e.person),
		Category: a.kind,
	}
	for i := range len(a.facts) {
		q.Evidence = append(q.Evidence, e.facts[a.facts[i]])
	}
	return q
}

// trap returns a question that asks one speaker about an event of the other.
func (m *maker) trap(e *event) madeQuestion {
	var single []*ask
	for i := range e.asks {
		if e.asks[i].kind == singleHop {
			single = append(single, &e.asks[i])
		}
	}
	other := *e
	other.asked = maps.Clone(e.asked)
	other.asked["A"], other.asked["B"] = e.asked["B"], e.asked["A"]
	q := m.question(&other, pick(m, single))
	q.Answer, q.Wrong, q.Category = "", q.Answer, adversarial
	return q
}

// gather returns questions about all events of one kind that happened to a speaker, if there
// are several.
func (m *maker) gather() []madeQuestion {
	var list []madeQuestion
	for i := range m.scenes {
		s := &m.scenes[i]
		for who := range m.names {
			events := m.alike(s, who)
			if len(events) < 2 {
				continue
			}
			q := madeQuestion{Question: fillIn(s.all, events[0].asked, ""), Category: multiHop}
			var answers []string
			for _, e := range events {
				q.Evidence = append(q.Evidence, e.facts['1'])
				answers = append(answers, fillIn(e.said[e.slots[0].name], nil, e.person))
			}
			q.Answer = strings.Join(slices.Compact(answers), ", ")
			list = append(list, q)
		}
	}
	return list
}
