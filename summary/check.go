package summary

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A CheckRule names a rule that a summary can break. It is stored as its text:
//
//   - "missing": a required section is missing
//   - "empty": a section has neither an entry nor None, or an entry has no text
//   - "placeholder": an entry is a placeholder such as "etc." or "N/A"
//   - "vague": the intent is so general that it fits any session
//   - "refusal", "failure", "echo": see the constants
//   - "rationale": a decision has no rationale, not even [NotStated]
//   - "duplicate": a section has the same entry twice
//   - "injection": an entry gives orders to the reader, such as to ignore
//     earlier instructions
//   - "longer": the summary is longer than its source
//   - "invented": an entry has a path, a command, a number or an identifier that
//     is not in the source
//   - "file": a changed file is missing from the section of files
//   - "syntax": the text cannot be parsed as a summary
//   - "truncated": the text ends in the middle of a summary
type CheckRule string

// The rules that are checked on the summary, for some with its [Original].
const (
	ruleMissing     CheckRule = "missing"
	ruleEmpty       CheckRule = "empty"
	rulePlaceholder CheckRule = "placeholder"
	ruleVague       CheckRule = "vague"
	// RuleRefusal: the text is a model's refusal instead of content.
	RuleRefusal CheckRule = "refusal"
	// RuleFailure: the text is an error of a provider, a gateway or a client
	// instead of content.
	RuleFailure CheckRule = "failure"
	// RuleEcho: the text repeats instructions or questions of the prompt.
	RuleEcho      CheckRule = "echo"
	ruleRationale CheckRule = "rationale"
	ruleDuplicate CheckRule = "duplicate"
	ruleInjection CheckRule = "injection"
)

// The rules that compare the summary with its [Original].
const (
	ruleLonger   CheckRule = "longer"
	ruleInvented CheckRule = "invented"
	ruleFile     CheckRule = "file"
)

// The rules for a text that may not be a summary at all.
const (
	ruleSyntax    CheckRule = "syntax"
	ruleTruncated CheckRule = "truncated"
)

// A Problem is one rule that a summary breaks.
type Problem struct {
	Section Section   `json:"section,omitempty"` // empty if the problem is about the whole summary
	Entry   string    `json:"entry,omitempty"`   // empty if the problem is about the whole section
	Rule    CheckRule `json:"rule"`
	Text    string    `json:"text"` // an explanation for people
}

// An Original is the source of a summary: the conversation that was summarized.
type Original struct {
	// Text is the whole conversation, including tool calls and results and the
	// earlier summary.
	Text string

	// Names returns the identifiers in a text, which the summary must not invent.
	// If Names is nil, only code spans, paths and numbers are checked.
	Names func(text string) []string

	// Prompt is the prompt that asked a model for the summary, without Text.
	Prompt string

	// Changed are the paths of the changed files.
	Changed []string

	// Asked are the messages of users, in order.
	Asked []string
}

// Check returns the problems of a summary, in the order of its sections, with at
// most one problem for each rule and entry. If there are none, the summary may be
// used. If src is not nil, Check also compares the summary with src: the names
// and numbers in the summary must be in src, in a passage about the same subject.
// The wording is free, and Check does not find contradictions between s and src.
//
// The rules would rather miss a problem than refuse a good summary. A text of
// four words or more that is in the source word for word is never a placeholder,
// a refusal, a failure, an echo or vague. An order to the reader is an injection
// unless a message in [Original.Asked] has it.
// Case, punctuation and the notation of paths and numbers are ignored. A path may be
// shortened to its last segments, a number may be rounded, and small counts need not
// be in the source.
func Check(s *Summary, src *Original) []Problem {
	if s == nil {
		s = &Summary{}
	}
	c := checker{s: s}
	if src != nil {
		c.src, c.origin = src, newOrigin(src)
	}
	for _, sec := range Sections() {
		c.section(sec)
	}
	if src != nil {
		c.compare()
	}
	return c.problems
}

// Examine parses a summary and returns it with the problems that [CheckText] and
// [Check] find. If data cannot be parsed, the summary is nil and a problem says why.
func Examine(data []byte, src *Original) (*Summary, []Problem) {
	problems := CheckText(string(data), src)
	s, err := Parse(data)
	if err != nil {
		return nil, append(problems, Problem{Rule: ruleSyntax, Text: err.Error()})
	}
	return s, append(problems, Check(s, src)...)
}

// CheckText returns the problems of a text that should be a summary: it is empty,
// a refusal, an error, an echo of the prompt, cut off, much longer than its source,
// or cannot be parsed. src may be nil. If there is no problem, [Parse] reads raw;
// [Check] then checks the content.
func CheckText(raw string, src *Original) []Problem {
	c := checker{src: src}
	s := strings.TrimSpace(raw)
	if s == "" {
		c.add("", "", ruleEmpty, "there is no text")
		return c.problems
	}
	_, err := Parse([]byte(s))
	// A summary may quote an error, so only a text that is no summary is checked here.
	if err != nil {
		head := text.Short(text.Fold(s), 600)
		switch {
		case isRefusal(head):
			c.add("", head, RuleRefusal, "a refusal in place of a summary")
		case isFailure(head):
			c.add("", head, RuleFailure, "an error in place of a summary")
		}
	}
	var prompt string
	if src != nil {
		prompt = src.Prompt
		if len(src.Text) > 0 && utf8.RuneCountInString(s) > max(2*utf8.RuneCountInString(src.Text), 2000) {
			c.add("", "", ruleLonger, "the draft is more than twice as long as its source")
		}
	}
	if isTemplate(s, prompt) {
		c.add("", text.Short(text.Fold(s), 80), RuleEcho, "the text repeats the prompt instead of answering it")
	}
	if err == nil || len(c.problems) > 0 {
		return c.problems
	}
	rule := ruleSyntax
	if e, ok := err.(*SyntaxError); ok && strings.Contains(e.Text, "ends in the middle") { //nolint:errorlint // Parse wraps nothing
		rule = ruleTruncated
	}
	c.add("", text.Short(text.Fold(s), 80), rule, "%v", err)
	return c.problems
}

// A checker collects problems.
type checker struct {
	s        *Summary
	src      *Original // may be nil
	origin   *origin   // nil without src
	problems []Problem
	told     map[Problem]bool // the problems, without their texts
}

// add adds a problem unless the entry has one of this rule.
func (c *checker) add(sec Section, entry string, rule CheckRule, format string, args ...any) {
	p := Problem{Section: sec, Entry: entry, Rule: rule}
	if c.told[p] {
		return
	}
	if c.told == nil {
		c.told = make(map[Problem]bool)
	}
	c.told[p] = true
	c.problems = append(c.problems, Problem{sec, entry, rule, fmt.Sprintf(format, args...)})
}

// section checks one section by itself.
func (c *checker) section(sec Section) {
	s := c.s
	if !s.said(sec) {
		if sec != SectionArtifacts {
			c.add(sec, "", ruleMissing, "the section %s is missing; if it has no content, write %s", sec.title(), None)
		}
		return
	}
	texts := s.texts(sec)
	if len(texts) == 0 && sec == SectionFiles && c.src != nil && len(c.src.Changed) == 0 {
		return // no file was changed, so the list of files may be empty
	}
	if len(texts) == 0 || sec == SectionIntent && isNone(s.Intent) {
		c.add(sec, "", ruleEmpty, "the section %s has no content", sec.title())
		return
	}
	seen := make(map[string]bool, len(texts))
	for _, t := range texts {
		if t.text == "" {
			c.add(sec, "", ruleEmpty, "an entry has no text")
			continue
		}
		c.entry(sec, t.text)
		if key := norm(t.key); t.key != "" && seen[key] {
			c.add(sec, t.key, ruleDuplicate, "the section has this entry twice")
		} else {
			seen[key] = true
		}
	}
	if sec == SectionIntent {
		c.intent()
	}
	if sec == sectionDecisions {
		for _, d := range s.Decisions {
			if strings.TrimSpace(d.Rationale) == "" && !isNone(d.Decision) {
				c.add(sec, d.Decision, ruleRationale, "the decision has no rationale; if nobody gave one, write %q", NotStated)
			}
		}
	}
}

// A sectionText is a text of a section that is checked. Two texts of a section may not have the
// same key, unless the key is empty. The field with has the other part of the same entry, such as
// the rationale of a decision.
type sectionText struct{ text, key, with string }

// texts returns the texts of a section, with one element for each part of an entry.
func (s *Summary) texts(sec Section) []sectionText {
	var list []sectionText
	add := func(said, key, with string) { list = append(list, sectionText{text.Fold(said), key, with}) }
	switch sec {
	case SectionIntent, SectionState:
		for line := range strings.Lines(s.prose(sec)) {
			if strings.TrimSpace(line) != "" {
				add(line, "", "")
			}
		}
	case SectionFiles:
		for _, f := range s.Files {
			add(f.Path, f.Path, "")
			for _, ch := range f.Changes {
				add(ch.Text, f.Path+": "+ch.Text, f.Path)
			}
		}
	case sectionDecisions:
		for _, d := range s.Decisions {
			add(d.Decision, d.Decision, d.Rationale)
			if n := norm(d.Rationale); n != NotStated && d.Rationale != "" && !isNone(n) {
				add(d.Rationale, "", d.Decision)
			}
		}
	case sectionErrors:
		for _, e := range s.Errors {
			add(e.Error, e.Error, e.Note)
			if e.Note != "" {
				add(e.Note, "", e.Error)
			}
		}
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
		for _, it := range *s.items(sec) {
			add(it.Text, it.Text, "")
		}
	}
	return list
}

// entry checks that a text is no order to the reader and has content: that it is no placeholder, no
// refusal of a model, no error of a program and no repetition of the prompt.
func (c *checker) entry(sec Section, text string) {
	if injected(text) && !c.asked(text) {
		c.add(sec, text, ruleInjection, "the entry gives an order to the reader of the summary, which it must not")
		return
	}
	if c.origin.quotes(text) {
		return
	}
	if first := sentences(text); len(first) > 0 && c.origin.quotes(first[0]) {
		return
	}
	var prompt string
	if c.src != nil {
		prompt = c.src.Prompt
	}
	switch {
	case isPlaceholder(text) && !c.origin.hasMark(text):
		c.add(sec, text, rulePlaceholder, "a placeholder is no content")
	case isRefusal(text):
		c.add(sec, text, RuleRefusal, "a refusal is no content")
	case sec != sectionErrors && sec != SectionContext && sec != sectionBlockers && isFailure(text):
		c.add(sec, text, RuleFailure, "an error of a provider or client is no content")
	case isEcho(text, prompt):
		c.add(sec, text, RuleEcho, "the entry repeats the prompt")
	}
}

// asked reports whether a message of a user has the text, word for word.
func (c *checker) asked(text string) bool {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "User: "), "…")
	return c.src != nil && len(strings.Fields(text)) >= 4 &&
		slices.ContainsFunc(c.src.Asked, func(said string) bool { return contains(said, text) })
}

// intent checks that the intent is about this session.
func (c *checker) intent() {
	base, _ := cutNow(c.s.Intent)
	if !isVague(base) || c.origin.quotes(text.Fold(base)) || isPlaceholder(text.Fold(base)) {
		return
	}
	// If all messages of users are as vague as "continue", the intent may be, too.
	if c.src != nil && len(c.src.Asked) > 0 && !slices.ContainsFunc(c.src.Asked, func(text string) bool { return !isVague(text) }) {
		return
	}
	c.add(SectionIntent, text.Fold(base), ruleVague, "the intent would fit any session; write what is to be made or found in this one")
}

var placeholders = lazy.Words("tbd tba todo fixme xxx n/a na n.a ... … - -- — ? ?? unknown unspecified placeholder pending-content " +
	"etc null nil undefined string text [] {} blank ibid")

var (
	placeholderText = lazy.Regexp(`(?i)^(?:to be (?:determined|decided|added|filled(?: in)?|written|done)|same as (?:above|before)|see above|as (?:above|before|discussed(?: above)?)|not applicable|lorem ipsum.*|no content|content here|fill (?:this )?in(?: later)?|insert .{0,40} here|your .{0,30} here|(?:details|more) to (?:come|follow)|various(?: (?:files|changes|fixes|things|updates))?|(?:some|several|multiple) (?:files|changes|things|updates)|and (?:so on|more|others))\.?$`)
	placeholderMark = lazy.Regexp(`(?i)\[\s*(?:tbd|tba|todo|rationale|condition|placeholder|reason|path|describe[^\]]*|insert[^\]]*|fill[^\]]*|list[^\]]*|your[^\]]*|what we[^\]]*|where we[^\]]*|what needs[^\]]*|…)\s*\]|<(?:path|file|rationale|description|reason|insert[^>]*|placeholder)>|\{\{[^}]*\}\}|^(?:todo|tbd|fixme)\b\s*[:(-]`)
	placeholderTail = lazy.Regexp(`(?i)(?:[,;]|\band)\s*(?:etc\.?|and so on|and so forth)\.?\)?$|\betc\.?$|^.{0,60}[,;]\s*(?:…|\.\.\.)$`)
	bracketed       = lazy.Regexp(`^(?:\[[^\]]{2,}\]|<[^>]{2,}>)\.?$`)
)

// templates are the examples of the published template, normalized.
var templates = []string{
	"path/to/file.ts", "path/to/other.py", "path/to/file", "added function x, modified class y", "added function x",
	"modified class y", "fixed bug in method z", "fixed bug in method z.", "decision 1", "decision 2", "chose x over y",
	"chose x over y because", "deferred z until", "question 1", "awaiting user input on", "question 1: awaiting user input on",
	"complete x", "test y", "deploy z", "what we're trying to accomplish - never lose this",
	"where we are in the task - progress indicator",
}

// isPlaceholder reports whether a text is a placeholder.
func isPlaceholder(text string) bool {
	t := strings.ToLower(strings.Trim(text, " *_`\"'"))
	if placeholders.Get()[strings.Trim(t, "[]()<>")] || placeholders.Get()[strings.TrimRight(strings.Trim(t, "[]()<>"), ".:")] ||
		strings.Trim(t, ".…-_ ") == "" {
		return true
	}
	if slices.Contains(templates, strings.TrimRight(norm(strings.Trim(t, "[]")), ". …")) {
		return true
	}
	// A longer text that ends in an ellipsis has been cut, not left open.
	return placeholderText.Get().MatchString(t) || placeholderMark.Get().MatchString(text) || placeholderTail.Get().MatchString(t) ||
		bracketed.Get().MatchString(t) && !tailSource.Get().MatchString(t)
}

// generic are words that are as likely in one session as in another.
var generic = lazy.Words("continue continuing continued keep going proceed help helping assist assisting support user user's users task tasks " +
	"work working works project conversation session discussion chat code coding codebase software engineering development " +
	"develop various thing things stuff something request requests requested issue issues bug bugs problem problems complete " +
	"completing finish finishing accomplish achieve goal goals do doing done make making improve improving fix fixing general " +
	"programming question questions answer answering need needs want wants wanted current previous ongoing multiple several " +
	"some their his her them they what whatever whichever there where about more other further next step steps instructions " +
	"follow following provide providing summary summarize assistance please let's lets get started best try trying try's " +
	"changes change updates update implement implementation implementing feature features today's different asked asks ask " +
	"he she per up out can could would should not no")

// isVague reports whether an intent has almost only generic words.
func isVague(intent string) bool {
	n := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(intent), notWord) {
		if !generic.Get()[w] && !stops.Get()[w] {
			n++
		}
	}
	words := len(strings.Fields(intent))
	return n == 0 || n < 2 && (words < 2 || words > 4) && !strings.ContainsAny(intent, "/_`.#0123456789") && utf8.RuneCountInString(intent) < 80
}

var refusal = lazy.Regexp(`(?i)^["'*\s]*(?:(?:i['’]?m|i am) (?:really |very |so )?sorry,? (?:but|i|for|as|that)|sorry,? (?:but )?i\b|i apologi[sz]e,? (?:but|for|that)|(?:unfortunately|regrettably),? (?:i|as an ai)\b|as an? (?:ai|artificial|large) (?:language )?(?:model|assistant|intelligence)?|(?:i|we)(?: (?:can ?not|can['’]t|could not|couldn['’]t|won['’]t|will not|do not|don['’]t|am unable to|am not able to)|['’]m (?:unable to|not able to)) (?:\w+ly )?(?:assist|help|comply|fulfill|provide|process|summari[sz]e|continue with|do that|access|see any|have access|have (?:enough|any|the) |engage|generate|create|produce|complete this|discuss|share|answer that))`)

// isRefusal reports whether a text begins like the refusal of a model.
func isRefusal(text string) bool { return refusal.Get().MatchString(text) }

var failure = lazy.Regexp(`(?i)^\W{0,4}(?:api |request |http )?error(?: code)?:? ?[45]\d\d\b|^\W{0,4}[45]\d\d (?:bad gateway|service unavailable|gateway time-?out|too many requests|internal server error|unauthorized|forbidden|bad request|request timeout|payload too large)|"?type"?\s*:\s*"error"|^\s*\{\s*"(?:error|detail|message|errors)"\s*:|\b(?:overloaded_error|rate_limit_error|rate_limit_exceeded|context_length_exceeded|invalid_request_error|authentication_error|insufficient_quota|api_error|server_error|internal_server_error)\b|^\s*<(?:!doctype|html|head|body|\?xml)\b|</(?:html|body|head)>|^traceback \(most recent call last\)|\b(?:openai|anthropic|httpx|requests\.exceptions|aiohttp|urllib3)\.\w*(?:error|timeout|exception)\b|^\W{0,4}(?:api|connection|network|request|read|fetch|rate limit|timeout|server|internal|unexpected|stream|model)[ _]?(?:connection |timeout |server )?error\b:?|^\W{0,4}(?:prompt|input|context) is too long\b|maximum context length|^(?:request|connection|operation) (?:timed out|reset|refused|aborted)|^\W{0,4}(?:ECONNRESET|ETIMEDOUT|ECONNREFUSED|ENOTFOUND|EPIPE)\b|^(?:too many requests|rate limit (?:reached|exceeded)|service unavailable|bad gateway|gateway time-?out|overloaded)\.?\b|^(?:context deadline exceeded|unexpected eof|i/o timeout)\b|^(?:you have |you've )?exceeded your (?:current )?quota|^\s*at \S+ \([^)]*:\d+:\d+\)`)

// isFailure reports whether a text is the error of a provider, a gateway or a
// client.
func isFailure(text string) bool { return failure.Get().MatchString(text) }

// promptTexts are the instructions of the published prompt, and questions of other
// prompts for summaries.
var promptTexts = []string{
	"what is the user trying to accomplish", "list each file path and what changed", "key decisions with rationale",
	"where are we in the task", "any open questions or blockers", "what needs to happen next",
	"analyze these conversation messages and extract structured information",
	"extract into these required sections", "respond in json format matching anchoredsummary schema",
	"what changes were made to", "what key decisions were made", "what errors or blockers were encountered",
}

// isEcho reports whether a text is a sentence of the prompt.
func isEcho(text, prompt string) bool {
	t := strings.TrimRight(norm(text), "?")
	for _, p := range promptTexts {
		if strings.Contains(t, p) && len(t) < len(p)+24 {
			return true
		}
	}
	if len(strings.Fields(t)) < 4 {
		return false
	}
	for _, p := range sentences(prompt) {
		if p = strings.TrimRight(norm(p), "?"); p == t || len(strings.Fields(p)) >= 5 && strings.Contains(t, p) {
			return true
		}
	}
	return false
}

// isTemplate reports whether a text mostly repeats the prompt or the published
// template.
func isTemplate(text, prompt string) bool {
	t := norm(text)
	builtin := 0
	for _, p := range promptTexts[:9] {
		if strings.Contains(t, p) {
			builtin++
		}
	}
	if builtin >= 3 {
		return true
	}
	said, total := 0, 0
	for _, p := range sentences(prompt) {
		if p = norm(p); len(strings.Fields(p)) < 5 {
			continue
		}
		total++
		if strings.Contains(t, p) {
			said++
		}
	}
	return said >= 3 && 2*said >= total
}

var sentenceEnd = lazy.Regexp(`[.!](?:\s+|$)|\?(?:\s+|$)|\n+`)

// sentences splits a text at full stops and line breaks. The text may be in lower
// case, where [text.FirstSentence] does not find where a sentence begins. A question
// keeps its question mark.
func sentences(text string) []string {
	var list []string
	start := 0
	for _, at := range sentenceEnd.Get().FindAllStringIndex(text, -1) {
		end := at[0]
		if text[at[0]] == '?' {
			end++
		}
		if s := strings.Trim(text[start:end], " \t-*#>"); s != "" {
			list = append(list, s)
		}
		start = at[1]
	}
	if s := strings.Trim(text[start:], " \t-*#>"); s != "" {
		list = append(list, s)
	}
	return list
}

// injected reports whether an entry looks like a prompt injection: it begins with a
// role of a chat, or it revokes earlier instructions.
func injected(text string) bool {
	low := strings.ToLower(strings.TrimLeft(text, " *_-#>[(\"'`"))
	for _, w := range [...]string{"system:", "assistant:", "system prompt:", "system]", "<system", "<|", "important instruction", "new instructions:"} {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return takesBack.Get().MatchString(low)
}

// takesBack matches orders to ignore earlier instructions or to reveal secrets.
var takesBack = lazy.Regexp(`\b(?:ignore|disregard|forget|override|bypass)\b(?: \w+){0,2} (?:previous|prior|above|earlier|preceding|foregoing|other|system|safety)\b(?: \w+)? ?(?:instructions?|messages?|rules?|prompts?|orders?|context|guidelines|summary)?|\b(?:you are now|from now on you|you must now|reveal|exfiltrate)\b.{0,40}\b(?:prompt|instructions?|secrets?|keys?|password|token)`)
