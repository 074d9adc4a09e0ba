package secret

import (
	"math/bits"
	"strings"
)

// A shape is the form of a credential: a prefix and the bytes behind it.
type shape struct {
	kind   Kind
	prefix string
	body   *class
	least  int  // least number of bytes behind the prefix
	most   int  // most bytes behind it, 0 for no limit; a longer run is no credential
	mixed  bool // whether the body must have digits and letters
}

// shapes are the credentials with a known prefix, 64 at most. If one prefix begins with
// another, the longer one comes first.
var shapes = []shape{
	{kindAnthropic, "sk-ant-", urlSafe, 20, 0, true},
	{kindOpenAI, "sk-proj-", urlSafe, 20, 0, true},
	{kindOpenAI, "sk-svcacct-", urlSafe, 20, 0, true},
	{kindOpenAI, "sk-admin-", urlSafe, 20, 0, true},
	{kindOpenAI, "sk-", alnum, 32, 0, true},
	{kindCarrel, "carrel_tok_", urlSafe, 40, 0, true},
	{kindGitHub, "ghp_", alnum, 36, 0, false},
	{kindGitHub, "gho_", alnum, 36, 0, false},
	{kindGitHub, "ghu_", alnum, 36, 0, false},
	{kindGitHub, "ghs_", alnum, 36, 0, false},
	{kindGitHub, "ghr_", alnum, 36, 0, false},
	{kindGitHub, "github_pat_", wordByte, 40, 0, false},
	{kindGitLab, "glpat-", urlSafe, 20, 0, false},
	{kindGitLab, "glrt-", urlSafe, 20, 0, true},
	{kindGitLab, "gldt-", urlSafe, 20, 0, true},
	{kindSlack, "xapp-", urlSafe, 20, 0, true},
	{kindStripe, "sk_live_", alnum, 16, 0, false},
	{kindStripe, "rk_live_", alnum, 16, 0, false},
	{kindStripe, "sk_test_", alnum, 16, 0, true},
	{kindStripe, "whsec_", alnum, 24, 0, true},
	{kindGoogle, "AIza", urlSafe, 35, 0, false},
	{kindGoogle, "GOCSPX-", urlSafe, 20, 0, false},
	{kindNPM, "npm_", alnum, 36, 0, false},
	{kindPyPI, "pypi-", urlSafe, 50, 0, false},
	{kindHuggingFace, "hf_", alnum, 30, 0, false},
	{kindAWS, "AKIA", upperDigit, 16, 16, false},
	{kindAWS, "ASIA", upperDigit, 16, 16, false},
	{kindAWS, "ABIA", upperDigit, 16, 16, false},
	{kindAWS, "ACCA", upperDigit, 16, 16, false},
	{kindSlack, "xoxa-", urlSafe, 10, 0, true},
	{kindSlack, "xoxb-", urlSafe, 10, 0, true},
	{kindSlack, "xoxe-", urlSafe, 10, 0, true},
	{kindSlack, "xoxe.", classOf("A-Z", "a-z", "0-9", "-."), 20, 0, true},
	{kindSlack, "xoxp-", urlSafe, 10, 0, true},
	{kindSlack, "xoxr-", urlSafe, 10, 0, true},
	{kindSlack, "xoxs-", urlSafe, 10, 0, true},
}

// starts says whether a shape can begin at a place of a text. For each of the first three
// bytes of a prefix and each value of that byte, it has a set of shapes, one bit for each.
// Three bytes rule out nearly all places of a text.
var starts = func() (t [3][256]uint64) {
	for i, s := range shapes {
		for at := range t {
			t[at][s.prefix[at]] |= 1 << i
		}
	}
	return t
}()

// scanShapes returns the credentials with a known prefix.
func scanShapes(text string) []Finding {
	var all []Finding
	for i := 0; i+2 < len(text); i++ {
		may := starts[0][text[i]]
		if may == 0 {
			continue
		}
		may &= starts[1][text[i+1]] & starts[2][text[i+2]]
		for ; may != 0; may &= may - 1 {
			s := &shapes[bits.TrailingZeros64(may)]
			if end, ok := s.match(text, i); ok {
				all = append(all, Finding{s.kind, i, end})
				i = end - 1
				break
			}
		}
	}
	return all
}

// match returns the end of a credential of shape s that begins at i.
func (s *shape) match(text string, i int) (end int, ok bool) {
	if !strings.HasPrefix(text[i:], s.prefix) || !opens(text, i) {
		return 0, false
	}
	// Only so many bytes are judged, so that the time stays linear also for a text full of
	// prefixes.
	const judged = 256
	from := i + len(s.prefix)
	end = s.body.run(text[:min(from+judged, len(text))], from)
	body := text[from:end]
	if len(body) < s.least || s.mixed && !mixed(body) || !varied(body) {
		return 0, false
	}
	if s.most > 0 && (len(body) > s.most || end < len(text) && wordByte[text[end]]) {
		return 0, false
	}
	return s.body.run(text, end), true
}

// Private keys.
const (
	pemDashes = "-----"
	pemBegin  = "BEGIN "
	pemEnd    = "END "
	pemBody   = 40 // least bytes of base64 in a body
)

// scanPrivateKeys appends private keys in PEM, including their first and last lines. Line feeds
// may be escaped, as in JSON. A key that is cut off counts.
func scanPrivateKeys(all []Finding, text string) []Finding {
	each(text, pemDashes+pemBegin, func(i int) int {
		label := i + len(pemDashes+pemBegin)
		n := strings.Index(text[label:min(label+64, len(text))], pemDashes)
		if n < 0 || !strings.Contains(text[label:label+n], "PRIVATE KEY") {
			return label
		}
		from := label + n + len(pemDashes)
		body := pemRun(text, from)
		if count(text[from:body], base64Byte) < pemBody {
			return from
		}
		end := body
		if rest := text[body:]; strings.HasPrefix(rest, pemDashes+pemEnd) {
			rest = rest[len(pemDashes+pemEnd):]
			if n := strings.Index(rest[:min(64, len(rest))], pemDashes); n >= 0 {
				end += len(pemDashes+pemEnd) + n + len(pemDashes)
			}
		}
		all = append(all, Finding{kindPrivateKey, i, end})
		return end
	})
	return all
}

// pemInner has the bytes between first and last line: base64, headers such as "Proc-Type:
// 4,ENCRYPTED", white space, quotes with their escapes, and the bytes of the signs between a line
// and its number, or before a line that is quoted.
var pemInner = classOf("A-Z", "a-z", "0-9", "+/=", " \t\r\n", "\\\"'`,:;", "→│", "|>")

// pemRun returns the end of the lines of a key, up to the next dashes.
func pemRun(text string, i int) int {
	for i < len(text) && (pemInner[text[i]] || text[i] == '-' && !strings.HasPrefix(text[i:], pemDashes)) {
		i++
	}
	return i
}

// count returns how many bytes of text are in c.
func count(text string, c *class) int {
	n := 0
	for i := range len(text) {
		if c[text[i]] {
			n++
		}
	}
	return n
}

// scanJWTs appends signed web tokens: two JSON objects in base64 and a
// signature, with points between them. The base64 of an object begins with eyJ.
func scanJWTs(all []Finding, text string) []Finding {
	each(text, "eyJ", func(i int) int {
		const least = 10 // bytes of a part
		head := urlSafe.run(text, i)
		if !opens(text, i) || head-i < least || !strings.HasPrefix(text[head:], ".eyJ") {
			return head
		}
		claims := urlSafe.run(text, head+1)
		if claims-head-1 < least || claims >= len(text) || text[claims] != '.' {
			return head
		}
		end := urlSafe.run(text, claims+1)
		if end-claims-1 < least || !varied(text[claims+1:end]) {
			return claims
		}
		all = append(all, Finding{kindJWT, i, end})
		return end
	})
	return all
}
