package main

import (
	_ "embed" // for the scenes
	"fmt"
	"strings"
)

// templates are the templates of generated dialogs. The text of scenes.txt explains them.
type templates struct {
	scenes                     []scene
	chats, greetings, goodbyes [][]line
	echoes                     []string
}

// A scene is a kind of event that happens to a speaker.
type scene struct {
	slots []slot
	tells [][]line // alternative ways to tell it
	asks  []ask
	all   string // asks for all events of the kind that happened to a speaker
}

// A slot is a name with its possible values.
type slot struct {
	name   string
	values []string
}

// A line is a turn of a dialog.
type line struct {
	other bool // whether the other speaker says it
	fact  byte // digit of the fact that it is evidence of; 0 for none
	text  string
}

// An ask is a question about some facts, in several wordings; one is chosen.
type ask struct {
	kind   category
	facts  string
	forms  []string
	answer string // in the words of the dialog
}

//go:embed scenes.txt
var scenesText string

// readTemplates parses the form of scenes.txt.
func readTemplates(text string) (*templates, error) {
	t := new(templates)
	var s *scene      // newest scene
	var lines *[]line // list for the next line
	begin := func(list *[][]line) {
		*list = append(*list, nil)
		lines = &(*list)[len(*list)-1]
	}
	n := 0
	for row := range strings.Lines(text) {
		n++
		if row = strings.TrimSuffix(row, "\n"); row == "" || row[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(row, " ")
		switch word {
		case "scene":
			t.scenes = append(t.scenes, scene{})
			s = &t.scenes[len(t.scenes)-1]
		case "slot":
			name, values, _ := strings.Cut(rest, " ")
			s.slots = append(s.slots, slot{name, strings.Split(values, "; ")})
		case "tell":
			begin(&s.tells)
		case "ask":
			kind, rest, _ := strings.Cut(rest, " ")
			facts, answer, _ := strings.Cut(rest, " ")
			s.asks = append(s.asks, ask{kind: categoryNamed(kind), facts: facts, answer: answer})
		case "?":
			a := &s.asks[len(s.asks)-1]
			a.forms = append(a.forms, rest)
		case "all":
			s.all = rest
		case "chat":
			begin(&t.chats)
		case "greeting":
			begin(&t.greetings)
		case "goodbye":
			begin(&t.goodbyes)
		case "echo":
			t.echoes = append(t.echoes, rest)
		case "a", "b":
			*lines = append(*lines, line{other: word == "b", text: rest})
		case "a1", "a2", "a3", "b1", "b2", "b3":
			*lines = append(*lines, line{other: word[0] == 'b', fact: word[1], text: rest})
		default:
			return nil, fmt.Errorf("scenes.txt:%d: %q is no word that begins a line: see the explanation in the file", n, word)
		}
	}
	return t, nil
}

// mentions are phrases that name the subject of a turn.
var mentions = []string{"As for {it}, ", "Speaking of {it}, ", "With {it} it is like this: ", "The thing with {it} is: ", "When it comes to {it}, "}

// openers and closers lengthen turns without content.
var openers = []string{"Honestly, ", "By the way, ", "You know what? ", "Okay, so: ", "I have been meaning to tell you: ", "Fun fact: ", "Well, "}

var closers = []string{
	" It really made my week.", " I still think about it a lot.", " Life is full of surprises.", " I feel so grateful for moments like that.",
	" You would have loved it.", " It took a while, but it was worth it.", " I can't say it any better.", " We should talk more about that some time.",
}

var speakers = []string{
	"Amelia", "Bruno", "Celeste", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Imani", "Jonas",
	"Keiko", "Leon", "Marisol", "Nikhil", "Odette", "Pavel", "Rosa", "Stefan", "Tamsin", "Viktor",
}

var acquaintances = []string{
	"Aaron", "Bianca", "Carlos", "Dana", "Edgar", "Fiona", "Gavin", "Heidi", "Ivan", "Joyce", "Kurt", "Lydia", "Mona", "Nelson", "Oscar",
	"Paula", "Quentin", "Ruth", "Sonia", "Trevor", "Ursula", "Vince", "Wanda", "Xavier", "Yvonne", "Zach",
}

var times = []string{
	"last Saturday", "last Sunday", "last Friday", "yesterday", "two days ago", "last week", "on Tuesday", "the weekend before last", "three days ago", "last Thursday",
}
