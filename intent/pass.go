package intent

import (
	"encoding/json"
	"strings"
)

// passLength is how many words a greeting or a "go on" has at most.
const passLength = 10

var (
	greetings = set(`hi hello hey hiya howdy thanks thank thx ty great good morning evening afternoon night bye goodbye nice cool perfect awesome excellent work job done
		welcome cheers wonderful amazing lovely brilliant well you're that's`)
	continuations = set("yes y yep yeah no n nope ok okay k sure continue next proceed go on ahead keep going carry do lgtm right correct agreed approved fine sounds resume")
	passFillers   = set("there you so much please pls it very a lot all that is this me to for again now then and the with us everyone team ! looks")

	machineHeads = []string{
		"<system", "<tool", "[tool", "<function", "<command", "<local-command", "<environment", "<context", "[system", "[ci]", "[pipeline", "[info]", "[debug]", "[warn", "[error]",
		"=== run", "--- pass", "--- fail", "exit code", "exit status", "http/1", "http/2", "::group::", "##[", "traceback (most", "$ ", "stdout:", "stderr:", "system:", "tool:", "diff --git", "base directory for this skill", "this session is being continued from", "caveat: the messages below",
	}
)

// pass returns why the prompt asks for nothing by itself, or nothing if it
// does.
func (c *compiler) pass() Pass {
	words, greets, goesOn, other := 0, 0, 0, 0
	for _, t := range c.tokens {
		switch {
		case t.kind == literal || t.kind == gap:
			other++
		case t.kind != word:
		case greetings()[t.low]:
			greets++
		case continuations()[t.low]:
			goesOn++
		case !passFillers()[t.low]:
			other++
		}
		if t.kind == word || t.kind == literal {
			words++
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

// machine reports whether a program wrote the prompt: by the way it begins, or
// because all of it is JSON or one element of XML.
func (c *compiler) machine() bool {
	text := strings.TrimSpace(c.text[c.wrapped():])
	if text == "" {
		return false
	}
	head := strings.ToLower(text[:min(len(text), 32)])
	for _, h := range machineHeads {
		if strings.HasPrefix(head, h) {
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
