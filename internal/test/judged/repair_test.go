package judged

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/transcript"
)

// providers are those whose requests are mended, each with a judge that shares no code with
// the validator, and an inventor of requests.
var providers = []struct {
	name   string
	judge  func([]byte) *upstream.Refusal
	invent func(seed uint64, size int) []byte
}{
	{"anthropic", upstream.JudgeMessages, fakesession.Messages},
	{"openai", upstream.JudgeChat, fakesession.Chat},
	{"responses", upstream.JudgeResponses, fakesession.Responses},
}

// caseCount is how many cases there are of a property.
func caseCount(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("CARREL_TEST_CASES")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CARREL_TEST_CASES=%s is no number above 0", text)
	}
	return n
}

// eachCase runs a test for so many seeds, on all processors. It stops at the first failure.
func eachCase(t *testing.T, cases int, test func(seed uint64) error) {
	t.Helper()
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	var once sync.Once
	failed := make(chan struct{})
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds {
				if err := test(seed); err != nil {
					t.Errorf("case %d: %.2000s", seed, err.Error())
					once.Do(func() { close(failed) })
				}
			}
		})
	}
feed:
	for seed := range uint64(cases) {
		select {
		case seeds <- seed:
		case <-failed:
			break feed
		}
	}
	close(seeds)
	wg.Wait()
}

// sameRule has the rules of a validator that a judge calls otherwise.
var sameRule = map[string][]string{
	"O0": {"X0", "X8"}, "O1": {"X0"}, "O2": {"X0"}, "O3": {"X8"}, "O4": {"X1", "X4"}, "O5": {"X1", "X4", "X8"}, "O7": {"X8"},
}

// standing returns the violations that stay when a client goes on behind a reply at the
// end, as the judges do.
func standing(found []transcript.Violation) []transcript.Violation {
	return slices.DeleteFunc(found, func(v transcript.Violation) bool { return v.Rule == "A12" })
}

// agree returns how a validator and a judge disagree about a request.
func agree(provider string, judge func([]byte) *upstream.Refusal, data []byte) error {
	_, found, err := carrel.Validate(provider, data)
	if err != nil {
		return err
	}
	found = standing(found)
	r := judge(data)
	switch {
	case r == nil && len(found) == 0:
		return nil
	case r == nil:
		return fmt.Errorf("the judge takes what is refused by %v\n%s", found, data)
	}
	named := func(v transcript.Violation) bool {
		return v.Rule == r.Rule || slices.Contains(sameRule[r.Rule], v.Rule)
	}
	if !slices.ContainsFunc(found, named) {
		return fmt.Errorf("the judge refuses it by %v, found %v\n%s", r, found, data)
	}
	return nil
}

// texts returns everything that is said in a request: texts, calls and results.
func texts(provider string, data []byte) ([]string, error) {
	f, err := carrel.FormatNamed(provider)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode("", data)
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range s.Messages {
		for _, p := range s.Messages[i].Parts {
			switch p := p.(type) {
			case transcript.Text:
				all = append(all, string(p))
			case transcript.ToolResult:
				all = append(all, p.Text())
			case transcript.ToolCall:
				all = append(all, p.Name+" "+strings.TrimSpace(string(p.Input)))
			}
		}
	}
	return all, nil
}

// lost returns what is said in a request and not in another one that was made of it.
func lost(provider string, was, is []byte) error {
	before, err := texts(provider, was)
	if err != nil {
		return err
	}
	after, err := texts(provider, is)
	if err != nil {
		return err
	}
	all := strings.Join(after, "\x00")
	for _, text := range before {
		if strings.TrimSpace(text) != "" && !strings.Contains(all, text) && !strings.Contains(all, transcript.Quote(text)) {
			return fmt.Errorf("%q is lost", text)
		}
	}
	return nil
}

// mended repairs a request and returns what is wrong with that. It reports false if the
// request cannot be mended.
func mended(provider string, judge func([]byte) *upstream.Refusal, data []byte) (ok bool, err error) {
	was := bytes.Clone(data)
	res, err := carrel.Repair(&carrel.RepairRequest{Provider: provider, Data: data})
	if !bytes.Equal(was, data) {
		return false, errors.New("the request was written to")
	}
	if e, refused := errors.AsType[*carrel.InvalidError](err); refused {
		if len(e.Violations) == 0 || e.Violations[0].Rule == "" {
			return false, fmt.Errorf("refused without a rule: %w", err)
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, broken, err := carrel.Validate(provider, data)
	switch {
	case err != nil:
		return false, err
	case len(broken) == 0 && (!res.Intact || !bytes.Equal(res.Data, data) || len(res.Repairs) > 0):
		return false, fmt.Errorf("a sound request was changed: %v", res.Repairs)
	case len(broken) > 0 && len(res.Repairs) == 0:
		return false, fmt.Errorf("%v was mended, and nothing is told", broken)
	}
	if _, left, err := carrel.Validate(provider, res.Data); err != nil || len(left) > 0 {
		return false, fmt.Errorf("what was mended is refused: %v %w\n%s", left, err, res.Data)
	}
	if r := judge(res.Data); r != nil {
		return false, fmt.Errorf("what was mended is refused: %v\n%s", r, res.Data)
	}
	return true, lost(provider, data, res.Data)
}

// Whatever is done to a request, validator and judge agree on whether it is refused and why;
// and it is mended, so that both take it and nothing is lost, or refused with a rule.
func TestBrokenRequestsAreMended(t *testing.T) {
	cases := caseCount(t, 800) / 4
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			done := 0
			eachCase(t, cases, func(seed uint64) error {
				data, what := fakesession.Break(seed, fakesession.Odd(seed, p.invent(seed, 1)), 1+int(seed%4))
				if err := agree(p.name, p.judge, data); err != nil {
					return fmt.Errorf("%q: %w", what, err)
				}
				ok, err := mended(p.name, p.judge, data)
				if err != nil {
					return fmt.Errorf("%q: %w\n%s", what, err, data)
				}
				if ok {
					mu.Lock()
					done++
					mu.Unlock()
				}
				return nil
			})
			if least := cases * 8 / 10; done < least {
				t.Errorf("%d of %d requests were mended, want at least %d", done, cases, least)
			}
			t.Logf("%d of %d requests were mended", done, cases)
		})
	}
}
