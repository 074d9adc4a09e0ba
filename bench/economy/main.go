// Command economy replays conversations, call by call, through a model of a provider's cache.
// It compares the costs of different ways to make windows smaller:
//
//	go run ./bench/economy [-windows 100000,64000,32000] [-full 82] [-target 41] FOLDER...
//
// Every conversation below the folders, in any format that Carrel reads, is replayed with the
// messages that a client compacted, so that its history only grows. A call is a reply of the
// model, at its recorded time and with its recorded model. Without a record, a call comes ten
// seconds after the previous one, and the model is gpt-4o. Sessions of one project are also
// chained, one behind the other, up to 300,000 and 1,000,000 tokens.
//
// # Sizes and prices
//
// Messages are counted like in package retention, with four bytes for a token. System text and
// tools are the charged tokens of the first call minus its messages. The cost of a reply is the
// larger of the recorded and the counted tokens, because clients do not record all of them.
// Prices and rules of caches are those of package economy. All breakpoints are for five
// minutes, or all for an hour.
//
// # Ways
//
//	none       the history as it is; what managing observes and does not touch costs the same
//	mask       at 80% of the window, results of tools but the newest 10 are cleared, then but 3, then all
//	summarize  at 80% of the window, a summary takes the place of all but the last reply and its results
//	prune      as soon as 20,000 tokens of results stand before the newest quarter of the window, they are cleared
//	managed    results above 25,000 bytes are shortened before they are sent; an account takes
//	           the place of what is older when the window is full, when the cache is cold, or
//	           when it pays within the calls that are expected
//
// Managed is full at 82% and cut to 41% by default. Package epoch uses 90% and 45% of sizes
// with a tenth to spare; here sizes are exact.
//
// Mask and prune summarize if they do not get below 80%. A summary is assumed to have 2,500
// tokens and the content of an account of that size; the call that writes it reads the whole
// window and 500 tokens more. No way makes a window smaller twice with hardly any message in
// between. The figures ignore that a model might act differently with another window, and might
// look up removed text.
//
// Sessions whose system text and tools take more than half of the window are reported
// separately: no way can do much for them, and no goal applies to them.
//
// The report also has the cost of the frame, the new messages and the output alone. No way can
// cost less.
//
// # Goals
//
// On a session that fits its window, managed costs at most 1% more than none. On the others it
// costs, in the median, at least 20% less than the cheapest of mask, summarize and prune. It
// also has no less ground than that way on the same session, see package retention, and, with
// -exam, no fewer strings of an exam at the exam's cut, see package exam. A session of an exam
// that is not below the folders is read from beside the exam, is used for its exam alone, and
// has no system text and tools. The exit status is 1 if a goal is missed. Equal files and flags
// give equal output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

func main() {
	b := &bench{}
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/economy [flags] FOLDER...")
		flag.PrintDefaults()
	}
	flag.StringVar(&b.windows, "windows", "100000,64000,32000", "`list` of windows, in tokens")
	flag.IntVar(&b.law.full, "full", 82, "`percent` of the window above which managed makes it smaller")
	flag.IntVar(&b.law.target, "target", 41, "`percent` of the window that managed makes it to")
	flag.IntVar(&b.law.large, "large", 25_000, "`bytes` above which managed shortens a result; 0 shortens none")
	flag.IntVar(&b.law.payback, "payback", 10, "`percent` of the expected calls within which managed must get back what it costs to make a warm window smaller; 0: it does not")
	flag.IntVar(&b.chains, "chains", 2, "`number` of chains of each project and size")
	flag.IntVar(&b.prefix, "prefix", 200_000, "`tokens` of a conversation, the newest, that an account is made of")
	flag.IntVar(&b.half, "half", 0, "1 or 2: take one `half` of the conversations, by the hash of their names, to choose by one and report the other")
	flag.StringVar(&b.exams, "exam", "", "`list` of exams, such as bench/exam/testdata/own.json: how many of their strings windows have at their cuts")
	flag.BoolVar(&b.each, "each", false, "print a line for each session, too")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	met, err := b.run(os.Stdout, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "economy:", err)
		os.Exit(3)
	}
	if !met {
		os.Exit(1)
	}
}

type bench struct {
	windows, exams string
	law            law
	chains, prefix int
	half           int
	each           bool
}

func (b *bench) run(out io.Writer, folders []string) (met bool, err error) {
	windows, err := sizes(b.windows)
	if err != nil {
		return false, err
	}
	var exams []string
	if b.exams != "" {
		exams = strings.Split(b.exams, ",")
	}
	all, err := load(folders, b.chains, exams)
	if err != nil {
		return false, err
	}
	if b.half > 0 {
		all = slices.DeleteFunc(all, func(c *conversation) bool { return halfOf(c.ID) != b.half })
	}
	if len(all) == 0 {
		return false, errors.New("no conversation has a call of a model whose price is known")
	}
	for _, c := range all {
		c.prefix = b.prefix
	}
	return b.report(out, all, windows), nil
}

// halfOf returns 1 or 2: in which of two halves a conversation is, by a hash of its id. The flag
// for a half restricts a run to the conversations of that half.
func halfOf(id string) int {
	h := fnv.New64a()
	_, _ = io.WriteString(h, id) // it never fails
	return int(h.Sum64()>>7&1) + 1
}

func sizes(list string) (windows []token.Count, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1000 {
			return nil, fmt.Errorf("-windows %s: %q is no number of tokens from 1000 on", list, s)
		}
		windows = append(windows, token.Count(n))
	}
	return windows, nil
}
