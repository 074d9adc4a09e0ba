package intent

import (
	"encoding/json"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// passLength is how many words small talk or a "go on" has at most.
const passLength = 24

var (
	greetings = set(`hi hello hey hiya howdy thanks thank thx ty great good morning evening afternoon night bye goodbye nice cool perfect awesome excellent work job done
		welcome cheers wonderful amazing lovely brilliant well you're that's fantastic super smart clever helpful kind sweet neat wow yay haha hahaha hehe lol works worked helps helped
		hola bonjour salut ciao hallo servus moin danke merci gracias grazie obrigado obrigada tschüss adios yo congrats congratulations`)
	continuations = set("yes y yep yeah yup no n nope nah ok okay k sure continue next proceed go on ahead keep going carry do lgtm right correct agreed approved fine sounds resume more again wait stop ready alright finish")
	passFillers   = set("there you so much please pls it very a lot all that is this me to for now then and the with us everyone team ! looks too really are was such kindly thing indeed still today tomorrow later soon just friend buddy mate guys folks let's lets")

	// smallTalk are phrases of which no word is about a task, and questions about the
	// one who answers.
	smallTalk = lazy.Value(func() phrases[Pass] {
		p := make(phrases[Pass])
		p.add(Greeting, `how are you, how are you doing, how're you, how do you do, how are things, how's it going, how is it going, hows it going, how's life/everything, how have you been,
			how was your day/weekend, how's your day, what's up, whats up, what's new, sup, long time no see, nice/good/great/pleased to meet/see you, are you there, can you hear me,
			who are you, what are you, what's/whats your name, what is your name, are you a/an bot/robot/human/ai/person, are you human/real, what can you do, who made you,
			i hope you're, i hope you are, hope you're, hope you are, doing well, hope your day/week/weekend is/was/went, exactly what i needed/wanted, my bad, i'm just testing, just testing, not bad, what can you help me with,
			have a nice/good/great/lovely day/evening/weekend/night/one, what a nice/great/lovely/beautiful day, hope you had a, i hope you had a, i'm fine, i am fine, as you wish/like, good point, that's enough, enough for now/today, i'll think about it, let me think, just saying hi, nothing much, can we talk, how's/how is the weather, hope all is, see you, see ya, talk tomorrow/soon/later, you too, same to you, nice one, a bunch/ton/million, sounds like a plan, fine by/with me, that'll do, ça va, comment ça va, wie geht's, happy birthday/holidays, happy new year, merry christmas, how old are you, i'm bored/tired, take your time, for your help/time/work/patience, my mistake/fault, your/that last one, on that, that/this fixed/solved/did it, talk to you, take care, no problem, no worries, no thanks, got it, gotcha, understood, noted,
			makes sense, i see, i understand, i agree, fair enough, never mind, nevermind, forget it, forget about it, i figured it out, figured it out, i got it, i found it, i'm good/fine/back/done,
			it's working, like a charm, did the trick, you saved me, you saved my day/life, hours/days of work/time, a lot of time/work, you rock, you're the best, much appreciated, i appreciate it, appreciate it,
			i like it, i love it, love it, that's funny/it/all, that is funny/it/all, that was it/all/funny/fun/quick, quick question, i have a question, can/could i ask you something, guten morgen/tag/abend, bis bald, qué/que tal`)
		p.add(Continuation, "can/could/would you continue/proceed, can/could/would you go on, can/could/would you keep going, can/could/would you carry on, let's do it/that, move on, keep working, finish it/up, same as before, hold on, one sec/second/moment/minute, keep it up, and then, what now, now what, what next, what's next, next step/task/item/part/page, one more, another one, one more time, once more, once again, try again, tell me more, next one, the next one, i'm ready, ready when you are, whenever you're ready, where were we")
		return p.sorted()
	})

	machineHeads = []string{
		"<system", "<tool", "[tool", "<function", "<environment", "<context", "[system", "[ci]", "[pipeline", "[info]", "[debug]", "[warn", "[error]",
		"=== run", "--- pass", "--- fail", "exit code", "exit status", "http/1", "http/2", "::group::", "##[", "traceback (most", "$ ", "stdout:", "stderr:", "system:", "tool:", "diff --git",
	}
)

// pass returns why the prompt asks for nothing by itself, or nothing if it
// does.
func (c *compiler) pass() Pass {
	words, greets, goesOn, other := 0, 0, 0, 0
	for i := 0; i < len(c.tokens); i++ {
		t := c.tokens[i]
		if t.kind == word || t.kind == literal {
			words++
		}
		if n := c.goesOn(i); n > 0 {
			goesOn++
			i += n - 1
			continue
		}
		if n := c.thanks(i); n > 0 {
			greets++
			i += n - 1
			continue
		}
		if why, n := smallTalk().at(c.tokens[i:]); n > 0 {
			if why == Greeting {
				greets++
			} else {
				goesOn++
			}
			i += n - 1
			continue
		}
		switch {
		case t.kind == literal || t.kind == gap, i == 0 && c.is(i, "is", "are"):
			other++
		case t.kind != word:
		case greetings()[t.low]:
			greets++
		case continuations()[t.low]:
			goesOn++
		case !passFillers()[t.low]:
			other++
		}
	}
	switch {
	case words == 0 && other == 0 && c.wrapped() > 0:
		return Machine
	case words == 0 && other == 0:
		return Nothing
	case c.machine():
		return Machine
	case other > 0 || words > passLength || greets+goesOn == 0:
		return ""
	case goesOn > greets || greets == 0:
		return Continuation
	default:
		return Greeting
	}
}

// thanks returns the length of the words at a token that thank for something, or
// 0.
func (c *compiler) thanks(i int) int {
	n := 2
	if c.is(i, "thank") && c.is(i+1, "you") {
		n = 3
	} else if !c.is(i, "thanks", "thx") {
		return 0
	}
	if !c.is(i+n-1, "for") {
		return 0
	}
	return c.rest(i, n)
}

// rest returns how many words there are at a token up to the end of the clause,
// of which n belong to it in any case.
func (c *compiler) rest(i, n int) int {
	for n < passLength && i+n < len(c.tokens) && c.tokens[i+n].kind == word && !c.is(i+n, "and", "but", "then", "please") {
		n++
	}
	return n
}

// resumes are ways to tell somebody to go on, before the words that say with
// what.
var resumes = lazy.Value(func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, "proceed to, continue/proceed/resume with/from/where/at/on/until/working, carry/go/move/keep on with/from/to/working, keep going with/from/until, keep/continue working on, go ahead with, keep at")
	return p.sorted()
})

// goesOn returns the length of the words at a token that tell to go on with
// what is under way, or 0. An indefinite article names something new: "continue
// with a chapter about bees".
func (c *compiler) goesOn(i int) int {
	_, n := resumes().at(c.tokens[i:])
	if n == 0 || c.is(i+n, "a", "an", "another", "some") {
		return 0
	}
	return c.rest(i, n)
}

// machine reports whether a program wrote the prompt: because no word of a
// person is in it, by the way it begins, or because all of it is JSON or one
// element of XML.
func (c *compiler) machine() bool {
	text := strings.TrimSpace(c.text[c.wrapped():])
	if text == "" {
		return false
	}
	if transcript.Words(text) == "" {
		return true
	}
	head := strings.ToLower(text[:min(len(text), 32)])
	tag, behind, tagged := strings.Cut(head, "] ")
	tagged = tagged && tag[0] == '[' && !strings.Contains(tag, " ")
	for _, h := range machineHeads {
		if strings.HasPrefix(head, h) || tagged && strings.HasPrefix(behind, h) {
			return true
		}
	}
	if text[0] == '{' || text[0] == '[' {
		return json.Valid([]byte(text))
	}
	if text[0] == '<' && text[len(text)-1] == '>' {
		name := text[1:min(len(text), 64)]
		if end := strings.IndexAny(name, " />"); end > 0 {
			return strings.HasSuffix(text, "</"+name[:end]+">")
		}
	}
	return false
}
