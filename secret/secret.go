// Package secret finds credentials in text, so that they are not stored, sent or shown.
//
// [Scan] finds two sorts. Structured credentials have a form of their issuer, such as a prefix
// and a length: keys of clouds and model providers, tokens of code hosts, registries and chat
// services, signed web tokens, private keys. Scan finds nearly all of these. It finds others by
// their place: behind the name of a variable such as api_key, behind "Bearer", or before the @
// of a URL. There it takes values that look random and are no placeholders. Behind the name of
// a password it also takes values that a person may have made up. They have these forms, where
// "digit or sign" means one of 0–9 and !@#$%^*?~+=:
//
//	form                                     example                  least
//	in quotes, with a digit or sign          password = "n1ght!"      5 bytes
//	in quotes, a plain word                  "passwd": "nightowl"     6 letters
//	in quotes, a number                      pwd: '48213097'          6 digits
//	bare, with a digit or sign               user=x password=n1ght!   5 bytes
//	bare, a plain word alone on its line     passwd: nightowl         6 letters
//	behind a flag                            --password n1ght!        as in quotes or bare
//
// Values that describe a password or its source, such as required, $VAR or a type, are not
// taken, nor are names, paths and calls. Scan misses a plain word inside a line, a word with
// capitals, a password of several words, and passwords stated in prose. doc/guide/secrets.md
// states how precise each form is.
//
// [Personal] finds e-mail addresses and telephone numbers. They are no credentials, and Scan
// ignores them.
//
// A [Finding] has the kind and the place of a credential, never its text.
//
//	clean := secret.Redact(`password = "n1ght!"`) // password = "[secret: password]"
//
// # Determinism and cost
//
// The package is a function of the text and has no state. Time is linear in the length of the
// text, for any text. Offsets are in bytes.
package secret

import (
	"cmp"
	"slices"
	"strings"
)

// A Kind is the kind of a finding. It is stored as its text: anthropic-key, assignment (the value
// of a variable with a name such as api_key), aws-key, bearer-token, carrel-token, github-token,
// gitlab-token, google-key, huggingface-token, jwt, npm-token, openai-key, password, private-key,
// pypi-token, slack-token, stripe-key or url-password, and of personal data email or phone.
type Kind string

// The kinds of credentials.
const (
	kindAnthropic   Kind = "anthropic-key"
	kindAssignment  Kind = "assignment" // the value of a variable with a name such as api_key
	kindAWS         Kind = "aws-key"
	kindBearer      Kind = "bearer-token"
	kindCarrel      Kind = "carrel-token"
	kindGitHub      Kind = "github-token"
	kindGitLab      Kind = "gitlab-token"
	kindGoogle      Kind = "google-key"
	kindHuggingFace Kind = "huggingface-token"
	kindJWT         Kind = "jwt"
	kindNPM         Kind = "npm-token"
	kindOpenAI      Kind = "openai-key"
	kindPassword    Kind = "password" // a password made up by a person, behind its name
	kindPrivateKey  Kind = "private-key"
	kindPyPI        Kind = "pypi-token"
	kindSlack       Kind = "slack-token"
	kindStripe      Kind = "stripe-key"
	kindURL         Kind = "url-password"
)

// A Finding is a credential in a text, from the byte Start up to the byte End.
type Finding struct {
	Kind       Kind
	Start, End int
}

// Scan returns the credentials in a text, in order and without overlap. A credential of two
// kinds gets the more specific one.
func Scan(text string) []Finding {
	all := scanShapes(text)
	all = scanPrivateKeys(all, text)
	all = scanJWTs(all, text)
	all = scanURLs(all, text)
	all = scanBearers(all, text)
	all = scanAssignments(all, text)
	all = scanFlags(all, text)
	return merge(all)
}

// Redact returns a text with each credential replaced by its kind, as in
// "[secret: jwt]".
func Redact(text string) string { return replace(text, Scan(text), "secret") }

// replace returns text with each finding replaced by word and the kind of the
// finding, as in "[secret: jwt]".
func replace(text string, found []Finding, word string) string {
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, f := range found {
		b.WriteString(text[done:f.Start])
		b.WriteString("[" + word + ": " + string(f.Kind) + "]")
		done = f.End
	}
	b.WriteString(text[done:])
	return b.String()
}

// merge sorts findings by place and joins those that overlap. A joined finding has the kind of
// that part which comes first in the given list. So the caller puts findings of the most
// specific kinds first.
func merge(all []Finding) []Finding {
	type ranked struct {
		Finding
		rank int
	}
	order := make([]ranked, len(all))
	for i, f := range all {
		order[i] = ranked{f, i}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.rank, b.rank))
	})
	kept := order[:0]
	for _, f := range order {
		if n := len(kept); n > 0 && f.Start < kept[n-1].End {
			last := &kept[n-1]
			last.End = max(last.End, f.End)
			if f.rank < last.rank {
				last.Kind, last.rank = f.Kind, f.rank
			}
			continue
		}
		kept = append(kept, f)
	}
	out := all[:0]
	for _, f := range kept {
		out = append(out, f.Finding)
	}
	return out
}
