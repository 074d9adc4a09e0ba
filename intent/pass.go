package intent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// passLength is the largest number of words of a prompt that can be small talk or only ask to go
// on.
const passLength = 24

var (
	// greetings are words of small talk: greetings, thanks, praise, moods and the weather.
	greetings = lazy.Words(`hi hello hey hiya howdy thanks thank thx ty great good morning evening afternoon night bye goodbye nice cool perfect awesome excellent work job done
		welcome cheers wonderful amazing lovely brilliant well you're that's fantastic super smart clever helpful kind sweet neat wow yay haha hahaha hehe lol works worked helps helped
		hola bonjour salut ciao hallo servus moin danke merci gracias grazie obrigado obrigada tschüss adios yo congrats congratulations merhaba ahoj ola olá salam namaskar aloha privet bon bonne toll schön prima geil genial parfait perfecto perfetto ottimo bravissimo bitte gerne gern super guten
		greetings heya hej gm gn goodnight cya laters farewell namaste bis morgen bald abend tag nacht schönen bonsoir bonne soirée buenos días noches hasta luego mañana demain arrivederci
		outstanding superb terrific splendid marvelous magnificent impressive incredible gorgeous beautiful stunning delightful charming funny hilarious interesting fascinating adorable
		love loved like liked enjoy enjoyed impressed grateful thankful glad happy pleased excited proud relieved thrilled delighted satisfied curious
		tired sleepy exhausted bored sad lonely hungry thirsty sick cold hot busy late early back home alive human person machine robot bot ai star legend lifesaver genius hero champ champion gem angel
		coffee tea lunch dinner breakfast weather sunny rainy weekend holiday holidays vacation birthday christmas luck fun joke life day week long rough hard crazy weird wild
		oh ah aha ooh oops whoops ouch phew ugh hm hmm huh meh omg whoa bravo kudos hooray hurray woohoo sorry pardon apologies amen fingers crossed lucky
		pleasure respect trick spot legendary flawless flawlessly beautifully perfectly nicely brilliantly better best wonder wonderfully appreciated appreciate means lot lots`)
	continuations = lazy.Words(`yes y yep yeah yup no n nope nah ok okay k sure continue next proceed go on ahead keep going carry do lgtm right correct agreed approved fine sounds resume more again wait stop ready alright finish
		aye yea yess yessir indeed exactly absolutely definitely certainly totally precisely gladly true accepted confirmed confirm deal roger copy affirmative negative possibly probably
		first second third fourth fifth last latter former both either neither option options none whichever whatever other others previous b c d pause halt hold abort quit enough bingo yours number nr ja jo nein oui non sí si vale claro genau weiter los okey okej da hai bof d'accord voilà everything`)
	// passFillers are words without a meaning of their own.
	passFillers = lazy.Words(`there you so much please pls it very a lot all that is this me to for now then and the with us everyone team ! looks too really are was such kindly thing still today tomorrow later soon just friend buddy mate guys folks let's lets
		i i'm i've i'd i'll my mine we we're we'll our your he she they them am be been were have has had will would it's it'll that'll there's he's she's an of at in by from as but than because
		some any every each one ones two three u ya quite pretty totally super truly always never already here up out off down back over only also even ever yet well once gonna gotta got get
		how's leave call tonight yesterday monday tuesday wednesday thursday friday saturday sunday feel feeling feels seems look looking sound sounding except number don't not side end part`)

	// asides begin a sentence that is an acknowledgment, a plan of the person, or small talk,
	// whatever words follow in it.
	//nolint:misspell // people write favorite in either way
	asides = lazy.Value[phrases[PassReason]]{Make: func() phrases[PassReason] {
		p := make(phrases[PassReason])
		p.add(passContinuation, `go with, let's go with, i'll take, i'd take, i prefer, i'd prefer, i choose, i pick, let's take, i vote for, i'm for, leave it, keep it as/that/like, skip it/that, drop it, as you, whatever you, do as, do what you, your call/choice, it's your, up to you, it's up to, i trust, same as, like last, like before, as before,
			as discussed/agreed/planned/always/usual, make it so, go for, hang on, hold that, start over/again, from the top/start/beginning, the rest, you may, you can go/proceed/continue/start/stop, not now, not today, not that, let's go/begin/start/proceed/continue/roll, we can go/proceed/continue/stop/start, that one, this one, all of it/them/that/the, any of, none of, either of, both of, ready for`)
		p.add(passGreeting, `happy/merry new/birthday/christmas/easter/holidays/friday/monday/anniversary/diwali/halloween, good luck, best of luck, enjoy your/the, have fun, have a good/nice/great/lovely/wonderful/safe/beautiful/relaxing/blessed/pleasant, sleep well, sweet dreams, see you, see ya, talk to you, catch you, until, till,
			glad to, glad you/that, good to know/hear/see/be/have, nice to know/hear/see/meet/be/have, great to know/hear/see/meet/be/have, happy to hear/see/help, exactly what/how/as, just what, precisely what, that's exactly/just/precisely what/how/it,
			i'll be, i'll try, i'll check, i'll let, i'll get back, i'll come, i'll do, i'll take it, i'll see, i'll go, i will try/check/be/let/do, let me try/check/see/think/read/know/sleep, brb, gotta go, got to go, i have to go, i need to go, i gotta, i must go, i'm going to bed/sleep/lunch,
			i'm off, i'm heading, i'm so glad/happy, you made my, you're too, you are too, i owe you, couldn't have, could not have, how's/hows your/yours/everyone/everybody, how is/are/was/were your/yours/everyone/everybody, how've you,
			how did you sleep/like/enjoy, how do you feel/sleep, are you a/an/ok/okay/well/alright/real/human/alive/there/still/tired/happy/sad/sentient/conscious/awake/busy/free/male/female/married/chatgpt/claude/gpt, were you, have you ever/been/had/eaten/slept,
			do you like/love/enjoy/ever/dream/sleep/eat/drink/feel/believe/remember/miss/get/speak, do you have feelings/friends/family/hobbies/pets/emotions, do you have a/any/your name/favourite/favorite/feelings/friends/hobbies/pets/family/birthday/soul/body/dreams/siblings,
			what's/whats your favourite/favorite/name/age/hobby/sign/mood/secret/story, what is/are/was your favourite/favorite/name/age/hobby/sign/mood/plans/hobbies, what are you up/doing, what have you been, what do you do, which is your favourite/favorite, where are you, where do you live/come, when were you, when is your birthday,
			did you sleep/miss/enjoy/have, who made/built/created/trained you, tell me about yourself, long/busy/rough/hard/tough/quiet day/week/night/morning, what a, such a, sorry for, sorry about that, my apologies, thanks to, i missed, it's been, off to bed/work/lunch/sleep, don't/dont worry, do not worry, nothing else/more/for/special, guess what, what's on your, what languages do you, what time is, what day is, who won, anyone there, anybody there, my cat/dog/wife/husband/son/daughter/kid/kids is/are/was/were/says/said, my day/week/weekend/night/morning is/was, why not, fair/good/great/valid/excellent point, thanks/thank again, thank you again, sorry to, what's/how's/whats the weather, what is the weather, good/great/nice/excellent/brilliant/interesting/fantastic idea/plan/question/job/one/work/choice/start/stuff/news,
			nothing for, that's all, that is all, that'll be all, that will be all, let's leave, let's call it, let's stop, let's take a break, let's pause, let's wrap, call it a day, we're done, we are done, i'm done, no need, no more`)
		return p.sorted()
	}}

	// smallTalk are phrases without a word about a task, and questions about the assistant.
	smallTalk = lazy.Value[phrases[PassReason]]{Make: func() phrases[PassReason] {
		p := make(phrases[PassReason])
		p.add(passGreeting, `how are you, how are you doing, how're you, how do you do, how are things, how's it going, how is it going, hows it going, how's life/everything, how have you been,
			how was your day/weekend, how's your day, what's up, whats up, what's new, sup, long time no see, nice/good/great/pleased to meet/see you, are you there, can you hear me,
			who are you, what are you, what's/whats your name, what is your name, are you a/an bot/robot/human/ai/person, are you human/real, what can you do, who made you,
			i hope you're, i hope you are, hope you're, hope you are, doing well, hope your day/week/weekend is/was/went, exactly what i needed/wanted, my bad, i'm just testing, just testing, not bad, what can you help me with,
			have a nice/good/great/lovely day/evening/weekend/night/one, what a nice/great/lovely/beautiful day, hope you had a, i hope you had a, i'm fine, i am fine, as you wish/like, good point, that's enough, enough for now/today, i'll think about it, let me think, just saying hi, nothing much, can/could we talk/chat, how's/how is the weather, hope all is, see you, see ya, talk tomorrow/soon/later, you too, same to you, nice one, a bunch/ton/million, sounds like a plan, fine by/with me, that'll do, ça va, comment ça va, wie geht's, happy birthday/holidays, happy new year, merry christmas, how old are you, i'm bored/tired, take your time, for your help/time/work/patience, my mistake/fault, your/that last one, on that, that/this fixed/solved/did it, talk to you, take care, no problem, no worries, no thanks, got it, gotcha, understood, noted,
			makes sense, i see, i understand, i agree, fair enough, never mind, nevermind, forget it, forget about it, i figured it out, figured it out, i got it, i found it, i'm good/fine/back/done,
			it's working, like a charm, did the trick, you saved me, you saved my day/life, hours/days of work/time, a lot of time/work, you rock, you're the best, much appreciated, i appreciate it, appreciate it,
			i like it, i love it, love it, that's funny/it/all, that is funny/it/all, that was it/all/funny/fun/quick, quick question, i have a question, can/could i ask you something, guten morgen/tag/abend, bis bald, qué/que tal`)
		p.add(passContinuation, "can/could/would you continue/proceed, can/could/would you go on, can/could/would you keep going, can/could/would you carry on, let's do it/that, move on, keep working, finish it/up, same as before, hold on, one sec/second/moment/minute, keep it up, and then, and now, what now, now what, what next, what's next, next step/task/item/part/page, one more, another one, one more time, once more, once again, try again, tell me more, next one, the next one, i'm ready, ready when you are, whenever you're ready, where were we")
		return p.sorted()
	}}

	machineHeads = []string{
		"<system", "<tool", "[tool", "<function", "<environment", "<context", "[system", "[ci]", "[pipeline", "[info]", "[debug]", "[warn", "[error]",
		"=== run", "--- pass", "--- fail", "exit code", "exit status", "http/1", "http/2", "::group::", "##[", "traceback (most", "$ ", "stdout:", "stderr:", "system:", "tool:", "diff --git",
	}
)

// pass returns why the prompt asks for nothing, or "" if it asks for something.
func (c *compiler) pass() PassReason {
	words, other := 0, 0
	said := make(map[PassReason]int)
	for i := 0; i < len(c.tokens); {
		t := c.tokens[i]
		if t.kind == word || t.kind == literal {
			words++
		}
		why, n := c.talk(i)
		if n == 0 {
			n = 1
			if t.kind == literal || t.kind == gap || i == 0 && c.asks() || t.kind == word && !passFillers.Get()[t.low] && (!isNumber(t.low) || len(t.low) > 2) {
				other++
			}
		}
		if why != "" {
			said[why]++
		}
		i += n
	}
	greets, goesOn := said[passGreeting], said[passContinuation]
	switch {
	case words == 0 && other == 0 && c.wrapped() > 0:
		return passMachine
	case words == 0 && other == 0:
		return passNothing
	case c.machine():
		return passMachine
	case other > 0 || words > passLength || greets+goesOn == 0:
		return ""
	case goesOn > greets:
		return passContinuation
	default:
		return passGreeting
	}
}

// talk returns how many tokens from i on ask for nothing, and the reason. The number is 0 if the
// token at i asks for something.
func (c *compiler) talk(i int) (PassReason, int) {
	if n := c.goesOn(i); n > 0 {
		return passContinuation, n
	}
	if n := c.thanks(i); n > 0 {
		return passGreeting, n
	}
	begins := c.begins(i)
	if why, n := asides.Get().at(c.tokens[i:]); n > 0 && begins && !c.tasked(i+n) {
		return why, c.rest(i, n)
	}
	if n := c.personal(i); n > 0 && begins && !c.tasked(i+n) {
		return passGreeting, c.rest(i, n)
	}
	if why, n := smallTalk.Get().at(c.tokens[i:]); n > 0 {
		return why, n
	}
	t := c.tokens[i]
	switch {
	case t.kind != word || i == 0 && c.asks() || isNumber(t.low) && len(t.low) < 3:
	case greetings.Get()[t.low]:
		return passGreeting, 1
	case continuations.Get()[t.low]:
		return passContinuation, 1
	}
	return "", 0
}

// personal returns how many tokens from i on are about the assistant or about the feelings of
// the person, or 0: "do you ever sleep", "you made my day", "I slept badly".
func (c *compiler) personal(i int) int {
	k := i
	switch {
	case c.is(k, "you", "u") && !c.is(k+1, "should", "must", "can", "could", "need", "may", "will", "might", "have"):
		return 2
	case c.is(k, "i", "we") && c.is(k+1, "love", "loved", "like", "liked", "appreciate", "feel", "felt", "miss", "missed", "enjoy", "enjoyed", "slept", "ate", "went", "agree", "guess", "knew", "doubt", "promise", "laughed", "hate", "believe", "suppose", "disagree", "forgot", "remember") && !c.is(k+2, "to"):
		return 2
	case c.is(k, "what", "where", "when", "how", "who", "why", "which"):
		k++
		if c.is(k, "old", "long", "often", "many", "much", "tall") {
			k++
		}
	}
	if !c.is(k, "do", "did", "are", "were", "have", "will", "would") || !c.is(k+1, "you", "u") {
		return 0
	}
	if c.is(i, "how", "why") && c.is(i+1, "do", "would", "did", "are", "were", "have", "will") || c.is(k+2, "know", "think", "see", "recommend", "prefer", "suggest", "mean", "understand", "need", "offer", "support", "able", "sure", "aware", "familiar", "make", "say", "go", "choose", "pick", "take", "use", "please", "mind", "rather", "write", "explain", "find", "fix", "help", "advise", "handle", "do", "buy", "call", "put", "give", "notice", "get", "advise", "change", "happen", "kindly") ||
		c.is(k, "will", "would") || c.is(k, "have", "do") && c.is(k+2, "a", "an", "any") {
		return 0
	}
	return k + 2 - i
}

// begins reports whether a sentence, or a part of one, begins at token i.
func (c *compiler) begins(i int) bool {
	return i == 0 || c.tokens[i-1].kind != word && c.tokens[i-1].kind != literal || c.is(i-1, "and", "but", "so", "oh", "well", "hey", "hi", "hello", "ok", "okay", "yes", "no", "then")
}

// tasked reports whether the rest of a sentence names something at hand, such as a file or
// quoted text.
func (c *compiler) tasked(i int) bool {
	for last := c.rest(i, 0) + i; i <= last && i < len(c.tokens); i++ {
		if t := c.tokens[i]; t.kind == literal || t.kind == colon || t.kind == word && (strings.ContainsAny(t.low, "/._") || faultWords.Get()[t.low] && !c.is(i, "off", "missing", "lost", "wrong", "weird") || wanted.Get()[t.low] == Create && c.is(i-1, "my", "the", "this", "our")) {
			return true
		}
	}
	return false
}

// asks reports whether the prompt begins with a question that is not about the assistant: "is
// that ok?", "does it work".
func (c *compiler) asks() bool {
	if c.is(0, "is", "are") {
		return true
	}
	return c.is(0, "was", "were", "has", "have", "will", "would", "do", "does", "did") && c.is(1, "it", "this", "that", "these", "those", "the", "my", "our", "we", "i", "they", "there", "he", "she") &&
		(!c.is(0, "do") || c.tokens[len(c.tokens)-1].kind == ask)
}

// statementLength is the most words of a statement that asks for nothing.
const statementLength = 20

// greetingWords are words that surely greet or thank.
var greetingWords = lazy.Words("hello hi hey thanks thank thx bye goodbye goodnight danke merci gracias grazie cheers hola bonjour ciao hallo servus")

// statementPass returns why a prompt without a request passes through, or "": the prompt answers a
// question, picks something, or only makes a statement.
func (c *compiler) statementPass() PassReason {
	count, words, plain, greets := 0, 0, true, false
	for i, t := range c.tokens {
		switch t.kind {
		case word:
			count, words = count+1, i+1
			greets = greets || greetingWords.Get()[t.low]
			plain = plain && !strings.ContainsAny(t.low, "/._@")
		case ask, literal, colon, line, gap:
			plain = false
		case comma, stop, semi, mark:
		}
	}
	short := count <= statementLength
	switch {
	case count <= passLength/2 && greets:
		return passGreeting
	case !plain:
		return ""
	case count <= passLength && c.replies(), c.picks(words):
		return passContinuation
	case short && words > 2 && !c.is(0, "the", "a", "an") && slices.ContainsFunc(c.tokens[:3], func(t token) bool {
		return slices.Contains([]string{"i", "you", "it's", "that's", "i'm", "me"}, t.low)
	}):
		return passGreeting
	case short && c.is(c.skip(0, len(c.tokens)), "i", "i'm", "i've", "i'll", "i'd", "it's", "it", "that's", "that", "you're", "we're", "she's", "he's", "you", "there's"):
		return passGreeting
	default:
		return ""
	}
}

// picks reports whether a prompt of some words picks one of several things: "the second one",
// "not now".
func (c *compiler) picks(words int) bool {
	return words <= 5 && (c.is(0, "the", "that", "this") || words <= 2) && c.is(words-1, "one", "ones") ||
		words <= 3 && c.is(0, "not", "same", "maybe", "perhaps", "later")
}

// replies reports whether the prompt answers a question: it begins with a word such as yes or
// no.
func (c *compiler) replies() bool {
	i := 0
	for c.is(i, "oh", "ah", "well", "hmm", "um") {
		i++
	}
	return c.is(i, "yes", "y", "yep", "yeah", "yup", "no", "n", "nope", "nah", "ok", "okay", "sure", "right", "correct", "exactly", "agreed", "fine", "neither", "both", "either")
}

// thanks returns how many tokens from i on thank for something, or 0.
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

// rest returns the number of tokens from i to the end of the clause, at least n.
func (c *compiler) rest(i, n int) int {
	for n < passLength && i+n < len(c.tokens) && c.tokens[i+n].kind == word && !c.is(i+n, "and", "but", "then", "please") {
		n++
	}
	return n
}

// resumes are phrases such as "continue with", before the words for the work.
var resumes = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, "proceed to, continue/proceed/resume with/from/where/at/on/until/working, carry/go/move/keep on with/from/to/working, keep going with/from/until, keep/continue working on, go ahead with, keep at")
	return p.sorted()
}}

// goesOn returns how many tokens from i on ask to continue the current work, or 0. An indefinite
// article names new work: "continue with a chapter about bees".
func (c *compiler) goesOn(i int) int {
	_, n := resumes.Get().at(c.tokens[i:])
	if n == 0 || c.is(i+n, "a", "an", "another", "some") {
		return 0
	}
	return c.rest(i, n)
}

// machine reports whether a program wrote the prompt: it has no word of a person, it begins with
// one of machineHeads, or it is JSON or one XML element as a whole.
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
	tagged = tagged && strings.HasPrefix(tag, "[") && !strings.Contains(tag, " ")
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
