package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/token"
)

// A literal is a value as written in a file. The value of a flag or variable is a string.
type literal struct {
	kind  unstable.Kind
	text  string
	items []literal // elements of a list
}

// newLiteral converts a node of the syntax tree.
func newLiteral(n *unstable.Node) literal {
	l := literal{kind: n.Kind, text: string(n.Data)}
	if n.Kind == unstable.Array {
		for it := n.Children(); it.Next(); {
			l.items = append(l.items, newLiteral(it.Node()))
		}
	}
	return l
}

func readText(l literal) (any, error) {
	if l.kind != unstable.String || l.text == "" {
		return nil, errors.New("wants a text in quotes")
	}
	return l.text, nil
}

// readMaybe parses a text. An empty text means that there is no value.
func readMaybe(l literal) (any, error) {
	if l.kind != unstable.String {
		return nil, errors.New("wants a text in quotes")
	}
	return l.text, nil
}

func readScope(l literal) (any, error) {
	if _, err := readText(l); err != nil {
		return nil, err
	}
	return governance.ParseScope(l.text)
}

func oneOf(words ...string) func(literal) (any, error) {
	return func(l literal) (any, error) {
		if l.kind != unstable.String || !slices.Contains(words, l.text) {
			return nil, fmt.Errorf("%q is none of %s", l.text, strings.Join(words, ", "))
		}
		return l.text, nil
	}
}

// whole parses a whole number that is equal to low or higher.
func (l literal) whole(low int64) (int64, bool) {
	n, err := strconv.ParseInt(l.text, 0, 64) // accepts separators, as TOML does
	return n, err == nil && l.kind == unstable.Integer && n >= low && n <= 1e12
}

// number parses a number of at least 0 from its digits.
func (l literal) number() (ratio.Ratio, bool) {
	r, err := ratio.Parse(strings.ReplaceAll(l.text, "_", ""))
	return r, err == nil && r >= 0
}

// ratio parses a number from 0 to 1 from its digits.
func (l literal) ratio() (ratio.Ratio, bool) {
	r, ok := l.number()
	return r, ok && r <= ratio.One
}

func (l literal) isNumber() bool { return l.kind == unstable.Float || l.kind == unstable.Integer }

func readTokens(l literal) (any, error) {
	n, ok := l.whole(1)
	if !ok {
		return nil, errors.New("wants a number of tokens, such as 200_000")
	}
	return token.Count(n), nil
}

// readEffective parses a number of tokens, which may be a string if it comes from a variable.
func readEffective(l literal) (any, error) {
	if l.kind == unstable.String && strings.Trim(l.text, "0123456789_") == "" {
		l.kind, l.text = unstable.Integer, strings.TrimLeft(l.text, "0")
	}
	return readTokens(l)
}

// readTarget parses a number of tokens or a share. A whole number means tokens.
func readTarget(l literal) (any, error) {
	if n, ok := l.whole(1); ok {
		return token.Count(n), nil
	}
	if l.kind == unstable.Float || strings.HasSuffix(l.text, "%") {
		if r, ok := l.ratio(); ok && r > 0 {
			return r, nil
		}
	}
	return nil, errors.New(`wants a number of tokens, such as 40_000, or a share of the conversation up to 1.0, such as 0.50 or "50%"`)
}

func readLast(l literal) (any, error) {
	n, ok := l.whole(0)
	if !ok {
		return nil, errors.New("wants a number of blocks, 0 for none")
	}
	return int(n), nil
}

func readRatio(l literal) (any, error) {
	if l.isNumber() {
		if r, ok := l.ratio(); ok {
			return r, nil
		}
	}
	return nil, errors.New("wants a number from 0 to 1, such as 0.55")
}

// readConfidence parses a share above 0.
func readConfidence(l literal) (any, error) {
	if v, err := readRatio(l); err == nil && v != ratio.Ratio(0) {
		return v, nil
	}
	return nil, errors.New("wants a number above 0 and up to 1, such as 0.7")
}

// percent is the smallest difference between two edges of the ladder of tiers: edges are whole
// percents of the budget.
const percent = ratio.One / 100

// readEdge parses an edge of the ladder of tiers, in whole percent.
func readEdge(l literal) (any, error) {
	if l.isNumber() {
		if r, ok := l.number(); ok && r > 0 && r%percent == 0 && r <= 1000*ratio.One {
			return r, nil
		}
	}
	return nil, errors.New("wants a share of the budget in whole percent, such as 0.80 or 1.10")
}

// readCount parses a whole number of at least 1.
func readCount(l literal) (any, error) {
	if n, ok := l.whole(1); ok && n <= 1e9 {
		return int(n), nil
	}
	return nil, errors.New("wants a whole number of at least 1")
}

// readRetries parses how often a failed request is repeated.
func readRetries(l literal) (any, error) {
	if n, ok := l.whole(0); ok && n <= 10 {
		return int(n), nil
	}
	return nil, errors.New("wants a whole number from 0, for never, to 10")
}

// readCeiling parses the number of tokens that may be spent.
func readCeiling(l literal) (any, error) {
	n, ok := l.whole(0)
	if !ok {
		return nil, errors.New("wants a number of tokens, such as 200_000; 0 for none")
	}
	return token.Count(n), nil
}

// readDuration parses a time span of at least a millisecond.
func readDuration(l literal) (any, error) {
	if l.kind == unstable.String {
		if d, _ := ParseDuration(l.text); d >= time.Millisecond { // an error comes with 0
			return Duration(d), nil
		}
	}
	return nil, errors.New(`wants a time span in quotes, such as "30s", "12h", "7d" or "2w"`)
}

// readSize returns a reader for a number of bytes that is equal to low or higher.
func readSize(low Size) func(literal) (any, error) {
	return func(l literal) (any, error) {
		if n, ok := l.whole(int64(low)); ok {
			return Size(n), nil
		}
		if l.kind == unstable.String {
			if s, err := ParseSize(l.text); err == nil && s >= low {
				return s, nil
			}
		}
		return nil, errors.New(`wants a number of bytes, such as "256MiB"`)
	}
}

// readSwitch parses true or false. A text, as a flag or variable has, may also be one of the other
// spellings of [strconv.ParseBool], such as 1 and 0.
func readSwitch(l literal) (any, error) {
	if l.kind == unstable.Bool || l.kind == unstable.String {
		if v, err := strconv.ParseBool(l.text); err == nil {
			return v, nil
		}
	}
	return nil, errors.New("wants true or false")
}

// readList returns a reader for a list of texts. It passes each text to the function sense, and
// fails with its error. An error about the form of the value quotes the example.
func readList(example string, sense func(string) error) func(literal) (any, error) {
	return func(l literal) (any, error) {
		if l.kind != unstable.Array {
			return nil, fmt.Errorf("wants a list, such as %s", example)
		}
		texts := make([]string, 0, len(l.items))
		for _, item := range l.items {
			if item.kind != unstable.String {
				return nil, fmt.Errorf("wants a list of texts in quotes, such as %s", example)
			}
			if item.text == "" {
				return nil, errEmpty
			}
			if err := sense(item.text); err != nil {
				return nil, err
			}
			texts = append(texts, item.text)
		}
		return texts, nil
	}
}

func anything(string) error { return nil }

// open returns an error if a text looks like a credential, because settings are printed.
func open(s string) error {
	if len(secret.Scan(s)) > 0 {
		return errors.New("looks like a credential: settings are printed, so remove it")
	}
	return nil
}

// readCommand parses a program with its arguments.
func readCommand(l literal) (any, error) {
	v, err := readList(`["docs-server", "--stdio"]`, open)(l)
	if err != nil {
		return nil, err
	}
	if len(l.items) == 0 {
		return nil, errors.New("names no program: give one with its arguments, such as [\"docs-server\", \"--stdio\"]")
	}
	return v, nil
}

// readPrefixes parses ranges of IP addresses.
func readPrefixes(l literal) (any, error) {
	v, err := readList(`["10.1.0.0/16"]`, func(s string) error {
		if _, err := netip.ParsePrefix(s); err != nil {
			return fmt.Errorf("%q is no range of addresses, such as 10.1.0.0/16", s)
		}
		return nil
	})(l)
	if err != nil {
		return nil, err
	}
	texts, _ := v.([]string)
	prefixes := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		prefixes[i] = netip.MustParsePrefix(s) // checked above
	}
	return prefixes, nil
}

// readURL parses the URL of a server, or "". It refuses a password, because settings are printed.
func readURL(l literal) (any, error) {
	if l.kind != unstable.String {
		return nil, errors.New("wants a text in quotes")
	}
	if l.text == "" {
		return "", nil
	}
	u, err := url.Parse(l.text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("wants a URL, such as http://localhost:11434")
	case u.User != nil:
		return nil, errors.New("has a user or a password in it: settings are printed, so remove it")
	}
	return l.text, open(l.text)
}

// readSecret parses a value that is never printed.
func readSecret(l literal) (any, error) { return llm.NewSecret(strings.TrimSpace(l.text)), nil }

// shares are the weights of recency, provenance and semantics.
type shares [3]ratio.Ratio

func (s shares) String() string {
	return fmt.Sprintf("%s, %s, %s", plain(s[0]), plain(s[1]), plain(s[2]))
}

// plain formats a ratio without trailing zeros.
func plain(r ratio.Ratio) string {
	return strings.TrimSuffix(strings.TrimRight(r.String(), "0"), ".")
}

// readShares parses three weights that sum to 1.
func readShares(l literal) (any, error) {
	bad := errors.New("wants the weights of recency, provenance and semantics, which sum to 1, such as [0.4, 0.2, 0.4]")
	if l.kind != unstable.Array || len(l.items) != len(shares{}) {
		return nil, bad
	}
	var s shares
	var sum ratio.Ratio
	for i, item := range l.items {
		r, ok := item.ratio()
		if !ok || !item.isNumber() {
			return nil, bad
		}
		s[i] = r
		sum += r
	}
	switch {
	case sum != ratio.One:
		return nil, fmt.Errorf("sums to %s: want weights that sum to 1", plain(sum))
	case s[2] == ratio.One:
		return nil, errors.New("gives semantics all the weight: give recency or provenance some, as pass one uses only these")
	}
	return s, nil
}
