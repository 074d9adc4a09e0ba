package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/store"
)

func newPager(j *job.Job) *cobra.Command {
	opts := seed.Defaults()
	var history, contractFile, limn string
	var dry bool
	cmd := &cobra.Command{
		Use:   "pager --history FILE --contract FILE",
		Short: "Decide on a history file and continue its contract",
		Long: `Pager does what the original context pager does, on its files: it scores each block
of a history, prints a record for each on standard error and a summary on standard output, and
appends the decisions to a contract.

The contract is appended to in one step, or not at all. Its statements are ones that the Liminate
language runs; --limn legacy writes those of the original. History and contract may not be the
store's: this command uses no store, and no settings but its flags.`,
		Example:     `  carrel pager --history history.json --contract session.limn`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case history == "":
				return out.Usagef("pager: --history is missing: name the file with the blocks")
			case contractFile == "":
				return out.Usagef("pager: --contract is missing: name the file to which the decisions are appended")
			}
			if err := out.OneOf("--limn", limn, "current", "legacy"); err != nil {
				return err
			}
			opts.Legacy = limn == "legacy"
			if j.Getenv("GOGC") == "" {
				// The history is needed until the end, so garbage collection would find little
				// and cost a fourth of the time.
				defer debug.SetGCPercent(debug.SetGCPercent(pagerGC))
			}
			data, err := j.Read(history)
			if err != nil {
				return err
			}
			job := func(existing []byte) (*seed.Pass, error) {
				p, err := seed.Run(history, data, existing, j.Clock()(), opts)
				return p, explainPass(err, history, contractFile)
			}
			pass, err := appendContract(cmd.Context(), j.Now, j.Path(contractFile), dry, job)
			if err != nil {
				return err
			}
			if j.JSON != "" {
				return j.Result("pager", newPagerResult(pass), nil)
			}
			if _, err := j.Stderr.Write(pass.Records); err != nil {
				return err
			}
			_, err = fmt.Fprintln(j.Stdout, pass.Result.Summary())
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&history, "history", "", "`file` with the blocks; - is standard input")
	f.StringVar(&contractFile, "contract", "", "`file` to append to; made if it is not there")
	f.Float64Var(&opts.Alpha, "alpha", opts.Alpha, "`weight` of similarity")
	f.Float64Var(&opts.Beta, "beta", opts.Beta, "`weight` of recency")
	f.Float64Var(&opts.RetainCut, "retain-cut", opts.RetainCut, "`score` from which a block is retained")
	f.Float64Var(&opts.EvictCut, "evict-cut", opts.EvictCut, "`score` below which a block is evicted")
	f.StringVar(&limn, "limn", "current", "`dialect` of the statements: current or legacy")
	job.Offer(cmd, "limn", "current", "legacy")
	job.Writes(cmd, &dry)
	return cmd
}

// pagerGC is the growth of the heap, in percent, after which a pass of the
// pager collects garbage.
const pagerGC = 400

// explainPass adds to an error of a pass the name of the file with the cause: the history or the
// contract.
func explainPass(err error, history, contractFile string) error {
	if e, ok := errors.AsType[*contract.SyntaxError](err); ok {
		return &out.Error{Err: e, Kind: out.KindInput, File: contractFile}
	}
	if job.Is[*seed.InputError](err) {
		return fmt.Errorf("%s: %w", history, err)
	}
	return err
}

// A pagerResult is a pass as JSON.
type pagerResult struct {
	Alpha     float64       `json:"alpha"`
	Beta      float64       `json:"beta"`
	RetainCut float64       `json:"retain_cut"`
	EvictCut  float64       `json:"evict_cut"`
	Retained  int           `json:"retained"`
	Paged     int           `json:"paged"`
	Evicted   int           `json:"evicted"`
	Results   []pagerRecord `json:"results"`
}

type pagerRecord struct {
	Block      string          `json:"block"`
	Kind       json.RawMessage `json:"kind"`
	Similarity float64         `json:"similarity"`
	Age        float64         `json:"delta_t"`
	Score      float64         `json:"R"`
	Action     string          `json:"action"`
}

func newPagerResult(p *seed.Pass) *pagerResult {
	r := p.Result
	res := &pagerResult{
		Alpha: r.Options.Alpha, Beta: r.Options.Beta, RetainCut: r.Options.RetainCut, EvictCut: r.Options.EvictCut,
		Retained: r.Retained, Paged: r.Paged, Evicted: r.Evicted, Results: make([]pagerRecord, len(r.Records)),
	}
	for i := range r.Records {
		rec := &r.Records[i]
		res.Results[i] = pagerRecord{rec.Block, rec.Kind, rec.Similarity, rec.Age.Value, rec.Score, rec.Directive}
	}
	return res
}

// appendContract calls the function decide with the text of a contract, and appends the result to
// the file of the contract. It holds a lock, appends with one write, and syncs the file before it
// returns. A file that does not exist is created only after decide has succeeded for an empty
// contract.
func appendContract(ctx context.Context, now func() time.Time, path string, dry bool, decide func(existing []byte) (*seed.Pass, error)) (*seed.Pass, error) {
	if dry {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return decide(text)
	}
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	var first *seed.Pass // the pass for an empty contract
	if fresh {
		if first, err = decide(nil); err != nil {
			return first, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if fresh && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: make the folder first", err)
	}
	if err != nil {
		return nil, err
	}
	pass, err := appendLocked(ctx, now, f, first, decide)
	if err == nil && fresh {
		err = job.SyncFolder(filepath.Dir(path))
	}
	return pass, errors.Join(err, f.Close())
}

// appendLocked calls the function job with the text of an open contract file and appends the
// result, under a lock. A caller that has already called job for an empty contract passes its
// result as pass, which is used if the file is still empty.
func appendLocked(ctx context.Context, now func() time.Time, f *os.File, pass *seed.Pass, job func([]byte) (*seed.Pass, error)) (_ *seed.Pass, err error) {
	unlock, err := await(ctx, now, f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if pass == nil || len(text) > 0 {
		if pass, err = job(text); err != nil {
			return nil, err
		}
	}
	if len(pass.Append) == 0 {
		return pass, nil
	}
	_, err = f.WriteAt(pass.Append, int64(len(text)))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Truncate(int64(len(text))))
	}
	return pass, nil
}

// How long to wait for a lock that another process has, and the pause between two attempts.
const (
	lockWait  = 5 * time.Second
	lockPause = 5 * time.Millisecond
)

// await locks a file for this process. It waits at most lockWait, and fails with [store.ErrBusy].
func await(ctx context.Context, now func() time.Time, f *os.File) (unlock func() error, err error) {
	end := now().Add(lockWait)
	for {
		unlock, ok, err := job.TryLock(f)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return unlock, nil
		case now().After(end):
			return nil, fmt.Errorf("%s: %w: another process has locked the file: try again when it has ended", f.Name(), store.ErrBusy)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}
