package abstractive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/summary"
)

// maxStarts is how many braces in a reply are tried as the beginning of its JSON.
const maxStarts = 16

// object returns the first JSON object in a reply that has at least one field for whose name the
// function fields returns true. Text around the object, such as the model's reasoning, is skipped.
func object(reply string, fields func(string) bool) (map[string]json.RawMessage, json.RawMessage) {
	if rest := strings.TrimSpace(reply); strings.HasPrefix(rest, "<think>") {
		if _, after, ok := strings.Cut(rest, "</think>"); ok {
			reply = after
		}
	}
	for range maxStarts {
		i := strings.IndexByte(reply, '{')
		if i < 0 {
			return nil, nil
		}
		reply = reply[i:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(reply)).Decode(&raw) == nil {
			var all map[string]json.RawMessage
			if json.Unmarshal(raw, &all) == nil {
				for name := range all {
					if fields(name) {
						return all, raw
					}
				}
			}
		}
		reply = reply[1:]
	}
	return nil, nil
}

// parseDraft reads a draft: a JSON object with all sections. The intent and the state have a text;
// a list may be empty. The error says why a reply is no draft.
func parseDraft(reply string) (*summary.Summary, error) {
	all, raw := object(reply, func(name string) bool {
		return slices.Contains(summary.Sections(), summary.Section(strings.ToLower(name)))
	})
	if all == nil {
		if err := inPlace(summary.CheckText(reply, nil)); err != nil {
			return nil, err
		}
		return nil, malformed("no JSON with a summary")
	}
	said := make(map[string]bool, len(all))
	for name, value := range all {
		said[strings.ToLower(name)] = string(value) != "null"
	}
	for _, s := range summary.Sections() {
		if s != summary.SectionArtifacts && !said[string(s)] {
			return nil, malformed("no %s", s)
		}
	}
	var draft summary.Summary
	if err := json.Unmarshal(raw, &draft); err != nil {
		return nil, malformed("a section of another form") // the error of the decoder may quote the reply
	}
	draft.Intent, draft.State = bySentence(draft.Intent), bySentence(draft.State)
	if draft.Intent == "" || draft.State == "" {
		return nil, malformed("intent or state is empty")
	}
	for i := range draft.Decisions {
		if d := &draft.Decisions[i]; strings.TrimSpace(d.Rationale) == "" && !isNone(d.Decision) {
			d.Rationale = summary.NotStated
		}
	}
	return &draft, nil
}

// bySentence returns a text with each sentence on a line of its own, so that a single one can be left
// out.
func bySentence(prose string) string {
	var list []string
	for line := range strings.Lines(prose) {
		for rest := strings.TrimSpace(line); rest != ""; {
			var first string
			first, rest = text.FirstSentence(rest)
			list = append(list, first)
		}
	}
	return strings.Join(list, "\n")
}

// isNone reports whether a text is None, the word that the prompt prescribes for an empty
// section.
func isNone(text string) bool { return strings.EqualFold(strings.Trim(text, " ."), summary.None) }

// inPlace returns an error if problems has one which says that the reply has a refusal, an error
// text or a part of the prompt in place of content.
func inPlace(problems []summary.Problem) error {
	for _, p := range problems {
		switch p.Rule {
		case summary.RuleRefusal, summary.RuleFailure, summary.RuleEcho:
			return badReply("%s", strings.TrimSpace(string(p.Rule)+" in place of content "+string(p.Section)))
		}
	}
	return nil
}

// A formError is an [llm.ErrReply] that a second try may avoid.
type formError struct{ error }

func (e *formError) Unwrap() error { return e.error }

// malformed returns the error for a reply of a wrong form.
func malformed(format string, args ...any) error { return &formError{badReply(format, args...)} }

// badReply returns an [llm.ErrReply] with a reason. The reason must not quote the reply.
func badReply(format string, args ...any) error {
	return fmt.Errorf("%w: %s", llm.ErrReply, fmt.Sprintf(format, args...))
}
