package judged

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

const scope = governance.Scope("test")

// quarter counts a token for every four bytes, so that counting takes no time.
type quarter struct{}

func (quarter) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarter) Encoding() string              { return "quarter" }

// inventors are what conversations come from, by their formats.
var inventors = []struct {
	format string
	invent func(seed uint64, size int) []byte
}{
	{"claudecode", fakesession.ClaudeCode},
	{"anthropic", fakesession.Messages},
	{"openai", fakesession.Chat},
	{"responses", fakesession.Responses},
}

// Whatever the conversation and the budget, validators and judges of all providers take
// every export, of conversations that are broken in a quarter of the cases, too.
func TestExportsAtAnyBudget(t *testing.T) {
	cases := caseCount(t, 800) / 4
	var mu sync.Mutex
	smaller := 0
	eachCase(t, cases, func(seed uint64) error {
		rng := rand.New(rand.NewPCG(seed, 0xb0d9e7)) //nolint:gosec // it need not be hard to guess
		in := inventors[seed%uint64(len(inventors))]
		data := fakesession.Odd(seed, in.invent(seed, 1))
		if in.format != "claudecode" && rng.IntN(4) == 0 {
			data, _ = fakesession.Break(seed, data, 1+rng.IntN(3))
		}
		changed, err := compressed(t, rng, in.format, data)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", in.format, err, data)
		}
		mu.Lock()
		smaller += changed
		mu.Unlock()
		return nil
	})
	if least := cases / 20; smaller < least {
		t.Errorf("%d windows became smaller, want at least %d", smaller, least)
	}
}

// compressed compresses a conversation to a budget and judges its exports. It returns 1 if
// the window became smaller.
func compressed(t *testing.T, rng *rand.Rand, format string, data []byte) (changed int, err error) {
	ctx := t.Context()
	e, err := carrel.New(memory.New(), &carrel.Options{Counter: quarter{}})
	if err != nil {
		return 0, err
	}
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: "x.json", Format: format, Data: data})
	if err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	if !speaks(format, data) {
		return 0, nil // nothing is left of it to be written
	}
	strategy := []carrel.Strategy{carrel.StrategyAccount, carrel.StrategyAccount, carrel.StrategyPager, carrel.StrategyWindow}[rng.IntN(4)]
	res, err := e.Compress(ctx, scope, &carrel.CompressRequest{
		Session: in.Session, Target: carrel.Target{Tokens: 1 + token.Count(rng.IntN(int(in.Tokens)+50))}, Strategy: strategy,
	})
	switch {
	case errors.Is(err, carrel.ErrBudget), errors.Is(err, carrel.ErrInvalid) && broken(format, data):
		// the window is as it was
	case err != nil:
		return 0, fmt.Errorf("compress: %w", err)
	default:
		changed = min(res.Changed, 1)
	}
	was := format
	if broken(format, data) {
		was = "" // what is mended is not as it was
	}
	for _, to := range inventors {
		out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session, To: to.format})
		if errors.Is(err, carrel.ErrInvalid) && was == "" {
			continue // it says so, and does not pretend
		}
		if err != nil {
			return 0, fmt.Errorf("export to %s: %w", to.format, err)
		}
		if out.Intact && bytes.Equal(out.Data, data) {
			continue
		}
		if left := violations(to.format, out.Data); len(left) > 0 {
			return 0, fmt.Errorf("export to %s: %v\n%s", to.format, left, out.Data)
		}
		r := upstream.Judge(was, data, to.format, out.Data)
		if r != nil && (r.Rule != "O6" || was != "") { // what came in another order may stay so
			return 0, fmt.Errorf("export to %s: %v\n%s", to.format, r, out.Data)
		}
	}
	return changed, nil
}

// speaks reports whether somebody but the system says a word in a conversation.
func speaks(format string, data []byte) bool {
	f, err := carrel.FormatNamed(format)
	if err != nil {
		return false
	}
	s, err := f.Decode("x.json", data)
	return err == nil && slices.ContainsFunc(s.Messages, func(m transcript.Message) bool {
		return m.Role == transcript.RoleUser && strings.TrimSpace(m.Text()) != ""
	})
}

// violations returns what a validator has against an export that its client goes on from.
func violations(format string, data []byte) []transcript.Violation {
	_, found, err := carrel.Validate(format, data)
	if err != nil {
		return []transcript.Violation{{Text: err.Error()}}
	}
	return standing(found)
}

// broken reports whether something is wrong with a conversation.
func broken(format string, data []byte) bool { return len(violations(format, data)) > 0 }
