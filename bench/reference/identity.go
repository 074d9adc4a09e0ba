package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// An identical compares the tokens of texts with those of the reference.
type identical struct {
	*reference
	texts, bytes, tokens int
	differ               int
}

// check compares the tokens of one text with those of the reference. It prints the first few
// texts that differ.
func (c *identical) check(e *encoding, text string) error {
	want, _, _, err := c.node.ask(askTokens, e.number, text)
	if err != nil {
		return err
	}
	got := e.tokens.Encode(nil, text)
	c.texts++
	c.bytes += len(text)
	c.tokens += len(want)
	if slices.Equal(got, want) && e.tokens.Count(text) == len(want) {
		return nil
	}
	if c.differ++; c.differ <= 5 {
		fmt.Fprintf(c.out, "       %s of %.200q:\n       %d, and\n       %d of the reference\n", e.name, text, got, want)
	}
	return nil
}

func (c *identical) report(e *encoding, what string) {
	verdict := "met"
	if c.differ > 0 {
		verdict, c.missed = "MISSED", true
	}
	fmt.Fprintf(c.out, "%-6s tokens of %s in %s: %d of %d texts differ, %d tokens of %.1f MB\n",
		verdict, e.name, what, c.differ, c.texts, c.tokens, float64(c.bytes)/1e6)
}

// identity compares the tokens of three kinds of texts: as many random texts as the parameter fuzz
// says, texts that show the class of each rune, and files.
func (r *reference) identity(fuzz int, files []string) error {
	for i := range encodings {
		e := &encodings[i]
		c := &identical{reference: r}
		random := rand.New(rand.NewPCG(uint64(fuzz), uint64(i)))
		for range fuzz {
			if err := c.check(e, randomText(random)); err != nil {
				return err
			}
		}
		c.report(e, "random texts")

		c = &identical{reference: r}
		var b strings.Builder
		for at := rune(0); at <= utf8.MaxRune; at++ {
			if utf8.ValidRune(at) {
				s := string(at)
				b.WriteString(s + "(S x1" + s + "23 " + s + "'s x" + s + "y " + s + "\n" + s + "/\n (S" + s + "Ba\n")
			}
			if at%64 == 63 {
				if err := c.check(e, b.String()); err != nil {
					return err
				}
				b.Reset()
			}
		}
		c.report(e, "texts with every rune")

		if len(files) == 0 {
			continue
		}
		c = &identical{reference: r}
		for _, file := range files {
			if err := c.file(e, file); err != nil {
				return err
			}
		}
		c.report(e, fmt.Sprintf("%d files", len(files)))
	}
	return nil
}

// file compares a file, a few lines at a time.
func (c *identical) file(e *encoding, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	var b strings.Builder
	for {
		line, err := lines.ReadString('\n')
		b.WriteString(strings.ToValidUTF8(line, "\ufffd"))
		if b.Len() > 64<<10 || err != nil {
			if err := c.check(e, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// alphabet has a few runes of every class of the patterns, and runes on which implementations
// are known to differ.
var alphabet = []rune("aabsStTdmrevlLEKẞſéÉǅʰあ中ก\u0301\u093e\u20dd017²Ⅷ٣''.,!/-_({’€😀    \t\n\n\n\r\v\f\u00a0\u0085\u2028\u3000\ufeff\u200b\ufffd\x00\x7f\u00ad")

var words = strings.Split("the| quick| brown|Fox|'s|'LL|'ſ| |        |\n|\n\n|\r\n|\t|/|--------| {|}|\";|1|2024|—|é|e\u0301|"+
	"中文|上下文窗口|有限|おめでとう| internationalization|HTTPServer|SGVsbG8gd29ybGQ|0x7fff|\\u00e9|<|endoftext|>|aaaaaaaa|===", "|")

// randomText returns runes of the alphabet, of ASCII or of all of Unicode, or words, or a
// mixture.
func randomText(random *rand.Rand) string {
	var b strings.Builder
	kind := random.IntN(5)
	for range 1 + random.IntN(60) {
		k := kind
		if k == 4 {
			k = random.IntN(4)
		}
		switch k {
		case 0:
			b.WriteRune(alphabet[random.IntN(len(alphabet))])
		case 1:
			b.WriteRune(rune(random.IntN(0x80)))
		case 2:
			r := rune(random.IntN(0x3000))
			if random.IntN(4) == 0 {
				r = rune(random.IntN(utf8.MaxRune + 1))
			}
			if utf8.ValidRune(r) {
				b.WriteRune(r)
			}
		case 3:
			b.WriteString(words[random.IntN(len(words))])
		}
	}
	return b.String()
}
