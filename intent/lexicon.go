package intent

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// An opener is a phrase with which a request begins.
type opener struct {
	verb Verb
	form Phrasing
	noun bool // also a noun: in the middle of a sentence it needs an object
	own  bool // the verb names the target form itself, as shorten does
	how  special
}

// A special is a further rule for the meaning of an opener; resolve applies it.
type special byte

const (
	plain      special = iota
	making             // make: a thing, or a change of a thing
	giving             // give me: the verb depends on the thing
	telling            // tell me: the verb depends on the question
	helping            // help me: with what?
	wanting            // I want: a thing, or to do something
	yesNo              // is it, does it: a question that inspection answers
	whyMine            // why does my thing not work
	getting            // get the build green
	naming             // extract X from Y: the form comes first
	stopping           // stop X from failing
	breaking           // break X down
	showing            // what do X tell us
	inventing          // who invented X: the next word is the deed
	picking            // what phone should I get: a noun and a choice
	letting            // let the user do X: X is to be made possible
	looking            // what would X look like: X is to be made
	bringing           // get me from A to B: a goal
	addressing         // invite the team: a message to somebody
)

// openers are the phrases with which requests begin. They were written by hand, not taken from a
// corpus.
var openers = lazy.Value[phrases[opener]]{Make: func() phrases[opener] {
	p := make(phrases[opener])
	verb := func(v Verb, list string) { p.add(opener{verb: v, form: formVerbFirst}, list) }
	noun := func(v Verb, list string) { p.add(opener{verb: v, form: formVerbFirst, noun: true}, list) }
	asks := func(v Verb, list string) { p.add(opener{verb: v, form: formQuestion}, list) }
	rule := func(h special, v Verb, f Phrasing, list string) { p.add(opener{verb: v, form: f, how: h}, list) }

	verb(Explain, `explain, explain to me, explain me, describe, clarify, define, elaborate on, walk me through, teach me, show me how,
		tell me about, tell me more about, eli5, introduce me to, remind me, illustrate, talk about, elaborate, go into detail on, go into more detail on, show me, show us`)
	asks(Explain, `what is/are/was/were, what's, whats, what're, what does/do/did, what happens/happened, what means, how does/do/did,
		how is/are/was/were, how come, why do/does/did/is/are/was/were/isn't/doesn't/don't, who is/are/was/were/wrote/made, who's,
		when is/was/did/does/do/should, where does/do/did, is/are there a/any reason, is/are there reasons, what would happen, what causes,
		what makes, how much, how many, how long, what kind of, how far/old/big/tall/deep/heavy/fast/high, in which/what, is it true that`)
	p.add(opener{verb: Explain, form: formStatement}, "i don't/dont understand/get, i do not understand/get, i'd love/like to know, i would love/like to know, i want to know, i'm curious about/how/why/what, i'm confused about/by")
	verb(Create, `write, draft, create, generate, compose, produce, implement, scaffold, prepare, set up, setup, come up with, invent,
		build me, make me, write me, write up, code up, author, bootstrap, introduce, add, append, insert, set up, script, brainstorm, attach, draw up, reply to, respond to, put/throw together, whip up`)
	noun(Create, `build, design, document, develop, sketch, code, install, configure, continue, deploy, log, integrate, open, send, start, suggest, propose, name, include, support`)
	verb(Transform, `translate, rewrite, rewrite it, convert, turn, transform, port, rename, adapt, put,
		replace, migrate, traduce, render, express`)
	noun(Transform, `change, move, swap, modify, switch, set`)
	p.add(opener{verb: Transform, form: formVerbFirst, noun: true, own: true}, `split, format, update, upgrade, merge, bump, cut, edit, expand, extend, reduce,
		adjust, limit, apply, turn off/on, switch off/on, shut down, combine, concatenate, join, reverse, invert, flip, rotate, resize, crop, round, normalize, center, indent, highlight, hide, tighten, rework, flesh out, lengthen, enhance, refine, enable, disable, use, align, increase, decrease, wrap, inline`)
	p.add(opener{verb: Transform, form: formVerbFirst, own: true}, `summarize, sum up, shorten, simplify, refactor, paraphrase,
		proofread, reformat, rephrase, reword, restructure, reorganize, reorder, cut down, boil down, transcribe, delete, remove, drop, clean up, cleanup, condense, compress, minify, anonymize, alphabetize, deduplicate, modernize,
		tidy up, polish, trim, improve, optimize, strip, capitalize, sort, commit, push, rebase, squash, revert, undo, rollback, roll back, restore, clean, cancel, rerun, pull, stash`)
	rule(naming, Transform, formVerbFirst, "extract, pull out")
	verb(Analyze, `analyze, evaluate, assess, look at, look into, look through, inspect, examine, compare, diagnose, verify,
		find out, investigate, critique, go over, go through, read through, double check, take a look at, have a look at, proof, confirm, sweep for, look for, calculate, compute, see if, see whether, think through, study`)
	noun(Analyze, `read, review, audit, check, measure, profile, judge, run, count, search, find, test, validate, scan, benchmark, rate, score,
		rank, grade, estimate, identify, list, trace, spot`)
	asks(Analyze, `what do you think, what do you think of/about, what could/can/might go wrong with/in, what did i miss in, what am i missing in, any thoughts/feedback/comments/opinion on, thoughts on, what's your opinion/take on/of, what is your opinion/take on/of, what are the strengths and weaknesses of, where is/are, pros and cons of, what are the pros and
		cons of, how good/bad/safe/secure is/are`)
	rule(yesNo, Analyze, formQuestion, "is/are/was/does/do/did/can/has/have/will/isn't/aren't/wasn't/doesn't/didn't/can't/haven't/won't")
	verb(Decide, "choose, pick, decide, recommend, select, choose between, pick between, decide between, decide on, help me choose/decide/pick, help us choose/decide/pick")
	asks(Decide, `should i/we, who/where/when should i/we, what do you suggest/recommend, any recommendations for, do you recommend/prefer/suggest, what's better, what is better, what should i/we, which, would you go with, would you choose/pick/recommend/use, do i/we need,
		do i/we really need, is it better to, is it worth, is it worth it to, would it be better to, what would you choose/pick/recommend, am i better off`)
	p.add(opener{verb: Decide, form: formStatement}, `i can't/cannot/cant decide, we can't/cannot/cant decide, i can't/cannot/cant decide whether to,
		i can't/cannot/cant decide between, i am/i'm between, i am torn between, i'm torn between, i'm between, whether i/we should,
		help me choose between, help me decide between, help me decide whether to, we are torn between, we're torn between, tell me if/whether i/we should, can't/cannot/cant decide between, torn between, i don't know whether to, i'm wondering whether to, i'm wondering if i should, i wonder whether to, i wonder if i should, i'm not sure whether to, not sure whether to, not sure if i should, i'm debating whether to, i'm unsure whether to`)
	noun(Plan, "plan, schedule, outline, organize, break down, map out, lay out, strategize, propose steps for/to, suggest steps for/to")
	asks(Plan, `how do/can/should/would/could/must i/we/you/one, how to, how i/we can/could/should, what's the best way to, whats the best way to, what's/whats a good way to, what is a good way to, what's the easiest/fastest/quickest/simplest way to, what is the easiest/fastest/quickest/simplest way to, what should be our/my first/next step, what should our/my first/next step be, what are the next steps for/to, what do i/we need to do to, what do i/we have to do to, what does it take to, what's/whats the procedure/process to/for, what is the procedure/process to/for,
		what is the best way to, what are the steps to/for, what steps, what steps do/should/must i/we need to take to, what steps do/should/must i/we take/follow to, where do/should i/we start/begin, best way to, steps to/for, what is the best approach to,
		how might i/we, how would you go about`)
	noun(Fix, "fix, debug, address, repair, correct, resolve, solve, troubleshoot, handle, patch, mend, hotfix, unbreak, sort out, get rid of")
	asks(Fix, "what's wrong with, whats wrong with, what is wrong with, what's the matter with, what is the matter with, why am i getting/seeing, why are we getting/seeing, why do i/we get/see, why do i/we keep getting/seeing")
	p.add(opener{verb: Fix, form: formStatement}, "i broke, i messed up, there's something wrong with, there is something wrong with, something is wrong with, i/we have a problem with, i'm/we're having trouble/problems/issues with, having trouble/problems/issues with")
	asks(Transform, "how do you/i/we say")
	asks(Fix, "what am i doing wrong, what did i do wrong, what do i do wrong, what am i missing, what went wrong, what's going wrong, what is going wrong, what's broken, any idea why, any clue why, any ideas why, no idea why, i wonder why, do you know why, do you see why")
	asks(Explain, `any idea/clue what/how/where/when/who, do you know what/how/where/when/who/if/whether, do you happen to know, i wonder what/how/where/when/who/if/whether, does anyone know, what about, what's the point/deal, how's, what do you mean by, difference between`)
	asks(Plan, `any tips/advice/ideas/suggestions/pointers on/for how to, any tips/advice/pointers on/for/to, tips/advice on/for how to, what's the plan for, how do we best, how do i best, how best to, how should i/we go about, how do i/we go about, how would i/we go about, how can i/we go about, who does what, what would it take to, what will it take to, what should my/our`)
	asks(Decide, `what would you do, what should i/we do, which way, would you rather, would it make sense to, does it make sense to, is it time to, is it smart/wise/sensible/reasonable/better to, is it a good/bad idea to, is it a good/bad idea, would it be wise/smart/better to, are we/i better off, is it worthwhile to, would it be worth, worth it to, do you think i/we should, when's the best time to, when is the best time to, what's the best, what is the best, what's your pick, what's a good, what is a good`)
	p.add(opener{verb: Decide, form: formStatement}, `i'm torn, i am torn, we're torn, we are torn, we can't/cannot/cant agree, i'm undecided, i am undecided, we're undecided, i'm on the fence, i am on the fence, can't/cannot make up my mind, i can't/cannot make up my mind, i'm considering, i am considering, we are considering, we're considering, we can't/cannot settle on`)
	rule(wanting, Create, formStatement, "would love, i'd love, i would love, how about, what about, can/could/may i/we get/have, i could use, we could use, i'm after, there should be, we should have, it should have, it needs, we're missing")
	rule(yesNo, Analyze, formQuestion, "could, might, couldn't, wouldn't")
	asks(Analyze, "what do you make of, what do you say about, what do you see in, what can you say/tell about, what can you tell me about this/these/my, any red flags in")
	p.add(opener{verb: Plan, form: formStatement}, "my/our goal/aim/plan/dream/target/objective/resolution is to, the goal/aim/plan is to, i aim to, we aim to, i hope to, we hope to, i plan to, we plan to, i intend to, we intend to, i'd love to, i would love to, i dream of")
	p.add(opener{verb: Decide, form: formStatement}, `i don't/dont know if/whether i/we should, don't/dont know if/whether i/we should, i can't/cannot/cant decide whether/if/which/what/on, can't/cannot/cant decide whether/if/which/what/on, i don't/dont know which/what to, we don't know whether/which, not sure which, i'm not sure which, not sure if/whether i/we, unsure whether/which/if, i'm looking for a good/decent/nice/cheap/reliable/better, i am looking for a good/decent/nice/cheap/reliable/better, looking for a good/decent/nice/cheap/reliable/better`)
	verb(Transform, "say this/that/it in english/german/french/spanish/italian/portuguese/dutch/polish/russian/japanese/chinese/latin, halve, double, triple, scale, give me this/that/it/these/those in/as, give it to me in/as")
	verb(Explain, "go over with me, i never understood, i've never understood")
	asks(Fix, "what can i/we do about, what can i/we do against, what do i/we do about, what to do about, what can i/we do, any idea how to stop/fix/solve")
	verb(Fix, "put a stop to, have a go at, take a stab at, do something about, remedy, rectify, restore order to, deal with")
	asks(Decide, "who/where/when should, does it pay to, is it pointless to, am i/are we right to, is it too late/early/soon to")
	asks(Analyze, "what's wrong in, any idea which, who do you think")
	p.add(opener{verb: Decide, form: formStatement}, "i'm/we're wavering/hesitating/choosing/deciding/undecided/thinking between/whether/about, i am/we are wavering/hesitating/choosing/deciding between/whether")
	asks(Fix, "why can't/cant/cannot i, why am i, why are we unable to")
	asks(Transform, "how would/do/can/could/should you/i/we say/put/phrase/word, how to say")
	asks(Analyze, "where in, how reliable/accurate/realistic/fair/strict/credible/strong/clear/readable/efficient/consistent/similar/likely/convincing/professional/original/complete/expensive/risky is/are this/these/my/our/the/that")
	asks(Decide, "what would be the/a best/better/good/nice/smart, what's best, what is best, whats best")
	asks(Analyze, `anything/something missing/wrong/unclear/odd/off/unusual/suspicious in/with/about, what stands/jumps out, what sticks out, what can/could/should be improved/better/optimized/simplified/shortened, what would you improve/change/cut, what's missing, what is missing, what do you notice, what changed, what has changed, what's different, what is different`)
	rule(letting, Create, formVerbFirst, "let, allow, enable, permit")
	rule(looking, Create, formQuestion, "what would/should/might/could, how would/should/might/could")
	rule(bringing, Plan, formVerbFirst, "take, bring, coach, guide, train, lead")
	rule(addressing, Create, formVerbFirst, "invite, congratulate, remind, notify, inform, email, e-mail, mail, text, message, thank, ask, tell, wish, persuade, convince, apologize to, write to, write back to")
	verb(Create, "type up, write down, jot down, note down, write out, devise, formulate, craft, pen, assemble, draft up, make up, think up, dream up, cook up, stub out, mock up, wire up, hook up, spin up, fill in, fill out, announce, apologize for, knock together, improvise, pitch, paint, answer")
	verb(Transform, "reshape, rebuild, recast, redo, transpose, transliterate, localize, digitize, decode, encode, encrypt, decrypt, serialize, unpack")
	p.add(opener{verb: Transform, form: formVerbFirst, own: true}, `soften, tone down, dumb down, water down, jazz up, spice up, beef up, liven up, smooth out, break up, pare down, trim down, unify, standardize, harmonize, flatten, sanitize, redact, mask, prettify, beautify, modularize, decouple, parametrize, parameterize, generalize, parallelize, vectorize, declutter, streamline, abridge, abbreviate, punch up, touch up, brush up, spruce up, rearrange, regroup, renumber, uppercase, lowercase, retitle, copyedit, copy-edit, edit down, replace, consolidate, distill, digest, recap`)
	verb(Analyze, "read over, look up, skim, scrutinize, figure out, work out, determine, detect, classify, categorize, cluster, tally, monitor, contrast, cross-check, sanity-check, sanity check, fact-check, fact check, double-check, proof-read, poke holes in, comment on, gauge, weigh up, weigh, point out, keep an eye on, track, add up, total, quantify, interpret, dissect, probe, vet, survey, explore, dig into, give feedback on, find, locate, hunt for, check on, check over, flag")
	verb(Analyze, "have/take a close/closer/quick/good/careful/critical/short/hard look at, have/take another look at, have/take a look through, take stock of, keep tabs on, report on")
	verb(Explain, "guide me through, lead me through")
	verb(Create, "expose, publish, release, register, log, send out, hand out, fill, populate, knock up, knock out")
	verb(Decide, "settle on, advise me on, advise me, advise us, advise, vote on, vote, rule on, tell me what to do")
	verb(Plan, "set out, chart, coordinate, arrange, plan out, budget for, work out how to, figure out how to")
	verb(Fix, "iron out, straighten out, track down, hunt down, clear up, rescue, recover, unblock, eliminate, get to the bottom of, bring back to life, deal with, revive, salvage, heal, cure")
	verb(Explain, "enlighten me on, enlighten me, shed light on, spell out, break it down for me, take me through, talk me through, give me an idea of, help me understand, help us understand, help me grasp, make sense of, demystify, unpack for me")
	rule(making, Create, formVerbFirst, "make")
	rule(giving, Create, formVerbFirst, "give, give me/us, send me/us, get me, provide, provide me with, do")
	rule(telling, Explain, formVerbFirst, "tell me/us")
	rule(helping, Plan, formVerbFirst, "help me/us, help me/us to, help")
	rule(wanting, Create, formStatement, "i need/want, i/i'd/we'd like, i would/i'd/we'd like, we need/want, i'm looking for, i am looking for, need, would like, can/could/may i/we get/have, i/we have to, i/we must, i've got to")
	rule(whyMine, Explain, formQuestion, "why does/do/is/are/did/isn't/doesn't/don't my/our/the/this/it/that, why my/our/the/this, why won't/can't/wont/cant")
	rule(getting, Fix, formVerbFirst, "get")
	rule(stopping, Fix, formVerbFirst, "stop, prevent, keep")
	rule(breaking, Plan, formVerbFirst, "break")
	rule(inventing, Explain, formQuestion, "who")
	rule(yesNo, Decide, formQuestion, "should, would")
	rule(picking, Decide, formQuestion, "what")
	return p.sorted()
}}

// things are nouns that change the verb: "write a plan" has the verb plan, and not create.
var things = lazy.Value[map[string]Verb]{Make: func() map[string]Verb {
	m := make(map[string]Verb)
	for v, words := range map[Verb]string{
		Plan:      "plan roadmap strategy schedule workflow approach timeline timetable itinerary curriculum regimen",
		Analyze:   "review analysis assessment evaluation comparison audit feedback critique diagnosis opinion",
		Explain:   "gist rundown explanation overview introduction walk-through walkthrough primer description tour",
		Transform: "summary translation paraphrase rewrite refactor recap tl;dr",
		Decide:    "recommendation",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = v
		}
	}
	return m
}}

// fillers may stand before a request and do not change its meaning.
var fillers = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, `please, pls, plz, kindly, can/could/would/will/can/may you/u, can/could/would/will you please, can/could/will we, hi, hello, hey, hi there, hello there,
		ok, okay, now, first, firstly, second, then, next, also, and, but, so, just, finally, lastly, afterwards, after that, later,
		at the end, in the end, i want/need you to, i would/i'd like you to, i'd like you to, we want/need you to, let's, lets, let us, go ahead and,
		try to, i wonder if you could, i was wondering if you could, maybe, perhaps, yes, yeah, no, wait, sorry, thanks, thank you, i think, i guess, i believe,
		your task is to, your job is to, you should, you must, a favor, quickly, one more thing, simply, actually, instead, again, or,
		it would be great if you could, i would rather, i'd rather, we should, we could, we need to, you need to, need to, we must, you could, ah, alright, hmm, well, great, cool, perfect, nice, all good, q, would you mind, i'd like to ask, i have a question, quick question, stupid question, dumb question,
		could u, can u, i was hoping you could/would/can, i hope you can/could, any chance you could/can, is there any chance you could, it'd be great/nice/helpful if you could, it would be nice/helpful if you could, it'd/it be great/nice to have, it would be great/nice to have, i'd appreciate it if you could, i'd be grateful if you could, do you think you could, do you mind, if you could, if possible, urgent, todo, question, after this, next to it, to start, once more, meanwhile, additionally, besides, good morning, good evening, dear,
		would it be possible to, would it be possible for you to, is it possible to, is it possible for you to, is there a/any way to, is there a/any way you could/can, is there any chance to, do me a favor and, could somebody/someone/anyone, can somebody/someone/anyone, how about you, why don't you, why don't we, why not,
		i need your help to, i need help to, i need you, i want you, you can, your turn, all right, right, oh, okay so, so now, hey there, as a favor, if you can, if you don't mind, when you have time, when you have a minute/moment, in your own words, feel free to, be so kind and/to, would you be so kind and/to, would you be able to, will you be able to, are you able to, can you try to, can you help me, could you help me, i would love you to, i'd love you to, i'd love for you to, i'd love it if you could, i would love it if you could, i would be glad/happy/grateful if you could, it would help if you could, it would help me if you could, it would be lovely if you could, we'd like you to, we would like you to, my boss wants me to, i've been asked to, i was asked to, time to, you're to, you are to, task, request, reminder, hint`)
	return p.sorted()
}}

// polite phrases make the words after them a request, anywhere in a sentence.
var polite = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, `please, pls, plz, can/could/would/will you, can/could/would/will you please, can/could we, let's, lets, let us, i would like to, i'd like to,
		i want you to, i need you to, i'd like you to, i want to, we need to`)
	return p.sorted()
}}

// negations begin a clause that forbids something, whatever verb follows.
var negations = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, `don't, do not, dont, never, no need to, without, avoid, not, please don't, please do not, you don't need to, do nothing,
		make sure, be sure, ensure, keep it, keep in mind, be careful, use the same, remember to, optimize for, focus on`)
	return p.sorted()
}}

// symptoms are phrases for something that does not work.
var symptoms = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
	p := make(phrases[bool])
	p.add(true, `fails, fail, failing, failed, keeps failing, crashes, crash, crashing, crashed, hangs, hang, hanging, freezes, frozen, broken, is broken, breaks,
		doesn't/don't/doesnt/dont/didn't/won't/wont/can't/cant/cannot work/start/load/open/compile/build/run/connect/rise/show/respond/save,
		does not work/start/load/open/compile/build/run/connect/rise/show/respond/save, do not work, do/does nothing, nothing works/compiles/happens/loads/starts/helps/builds/runs/renders,
		not working, is/are not working, isn't/aren't working, not loading, is/are not loading, isn't loading, stopped working, stops working, is down, are down,
		returns/return/gives/throws/shows/says/prints/reports/exits/raises, leaks, leaking, so slow, is slow, too slow, very slow, is so/too/very slow, times out, timing out,
		disconnects, overlap, overlaps, collapse, collapses, flickers, is/are/was/were not, isn't, aren't, wasn't, doesn't, does not, didn't, is/are wrong, is stale, is missing, are missing, is empty, disappeared, disappears, is/are red, stuck at, is stuck, keeps crashing/restarting/disconnecting,
		panics, deadlocks, unexpected, wrong output, out of memory, segfaults, loops forever, errors out, see/sees old, went down, is flaky, rejects, refuses, is/are black/blank/frozen/dead/offline/unresponsive/unreachable/corrupted, loads/load forever, unable to, take/takes so/too long, take/takes forever, don't/doesn't add/match/fit, cannot/can't/couldn't find/resolve/import/access, could not find/resolve/import/access/connect/open/load`)
	return p.sorted()
}}
