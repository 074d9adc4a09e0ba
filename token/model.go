package token

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// The factors of [ForModel], in percent of an o200k_base count.
//
// The factor of older Claude models was fitted to the charges of 34 sessions
// of Claude Code, of two projects, with Claude Opus, Sonnet and Haiku 4.5 and
// 4.6: 843 requests, each compared with the messages that it added to the one
// before, with the framing of [FramingOf]. The sessions need 0.84 to 1.28
// times the o200k_base count (median 1.16); the factor is the largest need
// plus five percent, 1.34, rounded up. It is 5 to 59 percent above the charge
// (median 16). Cross-check: the factor fitted to one project, 1.34, holds for
// all 15 sessions of the other; the factor fitted to the other, 1.27, holds
// for 18 of the 19 sessions of the first and is 1 percent too low for one.
// Text that clients send but do not record is not counted: 22 requests that
// were charged more than twice their bound were left out. The program is
// bench/bounds.
//
// Newer Claude models count up to 1.35 times as many tokens, according to
// their documentation; without data, their factor is 1.35 times 1.20, rounded
// up, which covers the median need but not the largest. Gemini and unknown
// models have the factor of older Claude models.
const (
	factorCommon = 135 // Claude before the change, Gemini, unknown models
	factorClaude = 165 // Claude since the change, and Claude models of unknown age
)

// defaultWindow is the context window taken for a model that is not known, in
// tokens.
const defaultWindow Count = 200_000

// A family is a group of models that share a tokenizer and a window.
type family struct {
	prefix  string // prefix of the names of its models, as [BareName] returns them
	counter Counter
	window  Count
}

// families has the known families. The first family whose prefix fits a model is its family.
// The list is made on first use, so that a program that never counts links no encoding.
var families = lazy.Value[[]family]{Make: func() []family {
	older, newer := Bound(o200k, factorCommon), Bound(o200k, factorClaude)
	return []family{
		{"gpt-5-chat", o200k, 128_000},
		{"gpt-5.1-chat", o200k, 128_000},
		{"gpt-5.2-chat", o200k, 128_000},
		{"gpt-5.3-chat", o200k, 128_000},
		{"gpt-5", o200k, 400_000},
		{"gpt-4.1", o200k, 1_047_576},
		{"gpt-4.5", o200k, 128_000},
		{"gpt-4o", o200k, 128_000},
		{"chatgpt-4o", o200k, 128_000},
		{"gpt-oss", o200k, 131_072},
		{"o1-mini", o200k, 128_000},
		{"o1-preview", o200k, 128_000},
		{"o1", o200k, 200_000},
		{"o3", o200k, 200_000},
		{"o4-mini", o200k, 200_000},
		{"codex-mini", o200k, 200_000},

		{"gpt-4-turbo", cl100k, 128_000},
		{"gpt-4-1106", cl100k, 128_000},
		{"gpt-4-0125", cl100k, 128_000},
		{"gpt-4-32k", cl100k, 32_768},
		{"gpt-4", cl100k, 8_192},
		{"gpt-3.5-turbo-instruct", cl100k, 4_096},
		{"gpt-3.5", cl100k, 16_385},
		{"gpt-35", cl100k, 16_385},
		{"text-embedding-3", cl100k, 8_191},
		{"text-embedding-ada-002", cl100k, 8_191},
		{"davinci-002", cl100k, 16_384},
		{"babbage-002", cl100k, 16_384},

		{"claude-v2:1", older, 200_000},
		{"claude-v2", older, 100_000},
		{"claude-2", older, 100_000},
		{"claude-instant", older, 100_000},
		{"claude-3", older, 200_000},
		{"claude-opus-4-7", newer, 200_000},
		{"claude-opus-4-8", newer, 200_000},
		{"claude-opus-4.7", newer, 200_000},
		{"claude-opus-4.8", newer, 200_000},
		{"claude-opus-4", older, 200_000},
		{"claude-sonnet-4", older, 200_000},
		{"claude-haiku-4", older, 200_000},
		{"claude", newer, 200_000},

		{"gemini-1.5-pro", older, 2_097_152},
		{"gemini-2.5-flash-image", older, 32_768},
		{"gemini", older, 1_048_576},

		{"", older, defaultWindow},
	}
}}

// ForModel returns the Counter for a model, by the provider's name for it:
// exact for OpenAI models with a public encoding, an upper bound for Claude,
// Gemini and unknown models. It accepts the prefixes and suffixes of
// gateways, as in "openai/gpt-4o", "ft:gpt-4o:acme",
// "us.anthropic.claude-3-haiku" or "claude-opus-4-1[1m]".
func ForModel(model string) Counter { return familyOf(model).counter }

// ContextWindow returns the context window of a model, in tokens, including
// the reply. If a provider offers several windows under one name, it returns
// the smallest; a name with the suffix "[1m]" has a million. An unknown model
// has 200,000.
func ContextWindow(model string) Count {
	if strings.HasSuffix(strings.ToLower(model), "[1m]") {
		return 1_000_000
	}
	return familyOf(model).window
}

// familyOf returns the family of a model. The last family has all the rest.
func familyOf(model string) family {
	name := BareName(model)
	all := families.Get()
	return all[slices.IndexFunc(all, func(f family) bool { // the empty prefix fits
		rest, ok := strings.CutPrefix(name, f.prefix)
		return ok && (f.prefix == "" || endsWord(rest))
	})]
}

// BareName returns the name of a model in lower case without the prefixes and
// suffixes of gateways: folders, regions, and marks of fine-tuning.
func BareName(model string) string {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:]
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		return tuned // the suffix is the user's
	}
	if i := strings.Index(name, "claude"); i > 0 {
		name = name[i:]
	}
	return name
}

// endsWord reports whether the name of a family may end before rest, the remaining part of a model's
// name: "o1" is no prefix of the model "o11".
func endsWord(rest string) bool {
	if rest == "" {
		return true
	}
	c := rest[0]
	return (c < '0' || c > '9') && (c < 'a' || c > 'z')
}
