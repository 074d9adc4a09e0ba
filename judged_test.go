package carrel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/ratio"
)

// Whatever the strategy and the target, a judge that shares no code with the validators of
// the formats takes every export: of our own conversations to each target, and of invented
// ones to one target each.
func TestEveryExportIsJudged(t *testing.T) {
	conversations := map[string][]byte{"demo": demo.Session()}
	files, err := filepath.Glob("internal/cli/testdata/conversations/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, name := range files {
		if conversations[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	percents := []int{50, 25, 10, 5}
	targets := make(map[string][]int)
	for name := range conversations {
		targets[name] = percents
	}
	for seed := range uint64(20) {
		for name, data := range map[string][]byte{
			"claudecode": fakesession.ClaudeCode(seed, 6), "anthropic": fakesession.Messages(seed, 6), "openai": fakesession.Chat(seed, 6),
			"responses": fakesession.Responses(seed, 6), "gemini": fakesession.Gemini(seed, 6), "geminicli": fakesession.GeminiCLI(seed, 6),
		} {
			name = fmt.Sprintf("%s-%d", name, seed)
			conversations[name], targets[name] = data, percents[seed%4:][:1]
		}
	}
	for _, strategy := range []carrel.Strategy{
		carrel.StrategyAnchored, carrel.StrategyHybrid, carrel.StrategyRegenerative, carrel.StrategyOpaque,
		carrel.StrategyWindow, carrel.StrategyImportance, carrel.StrategyPager,
	} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			passes := 0
			for name, data := range conversations {
				for _, percent := range targets[name] {
					passes += judged(t, name, data, strategy, percent)
				}
			}
			if least := len(conversations) / 4; passes < least {
				t.Errorf("%d passes made a window smaller, want at least %d", passes, least)
			}
		})
	}
}

// judged compresses a conversation to a share of its tokens, and judges its exports. It
// returns the number of passes that changed the window.
func judged(t *testing.T, name string, data []byte, strategy carrel.Strategy, percent int) int {
	t.Helper()
	e, err := carrel.New(stores.New(t), &carrel.Options{Strategy: strategy, Counter: quarter{}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Data: data})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(percent, 100)}})
	if err != nil {
		return 0 // it does not fit, or its summary answers too little: the window is as it was
	}
	for _, to := range []string{"claudecode", "anthropic", "openai", "responses", "gemini", "geminicli"} {
		out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: to})
		if err != nil {
			t.Errorf("%s %s %d%%: export to %s: %v", name, strategy, percent, to, err)
		} else if r := upstream.Judge(in.Format, data, to, out.Data); r != nil {
			t.Errorf("%s %s %d%%: %s: %v", name, strategy, percent, to, r)
		}
	}
	return min(res.Changed, 1)
}
