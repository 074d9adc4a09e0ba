package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
)

// strategies are all strategies.
var strategies = []carrel.Strategy{
	carrel.StrategyAnchored, carrel.StrategyHybrid, carrel.StrategyRegenerative, carrel.StrategyOpaque,
	carrel.StrategyWindow, carrel.StrategyImportance, carrel.StrategyAccount, carrel.StrategyPager,
}

// judge compresses a conversation by every strategy to each of the shares, and checks every
// export by rules that share no code with Carrel's validators.
func (b *bench) judge(ctx context.Context, name string, data []byte) error {
	for _, strategy := range strategies {
		for _, share := range []int{50, 25, 10, 5} {
			if err := b.judgeOne(ctx, name, data, strategy, share); err != nil {
				return fmt.Errorf("%s %d%%: %w", strategy, share, err)
			}
		}
	}
	return nil
}

func (b *bench) judgeOne(ctx context.Context, name string, data []byte, strategy carrel.Strategy, share int) error {
	t := &trial{bench: b, name: name, share: share}
	e, err := carrel.New(memory.New(), &carrel.Options{Strategy: strategy})
	if err != nil {
		return err
	}
	const scope = governance.Scope("judge")
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: name, Data: data})
	if err != nil {
		return err
	}
	_, err = e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(share, 100)}})
	if _, floor := carrel.Floor(err); floor || errors.Is(err, carrel.ErrProbes) {
		b.unjudged++
		return nil // the window is unchanged
	}
	if err != nil {
		t.fail("compress by %s: %v", strategy, err)
		return nil
	}
	for _, to := range []string{"claudecode", "anthropic", "openai", "responses"} {
		out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session, To: to})
		if err != nil {
			t.fail("%s: export to %s: %v", strategy, to, err)
			continue
		}
		b.judged++
		if r := upstream.Judge(in.Format, data, to, out.Data); r != nil {
			t.fail("%s: export of %s to %s: %v", strategy, filepath.Base(name), to, r)
		}
	}
	return nil
}
