package carrel

import (
	"io"
	"log/slog"
	"time"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/triage"
)

// Options adjusts an [Engine]. The zero value of every field selects a default, and so does a nil
// *Options. In Weights, Cuts and Ladder only the zero struct does: in any other, a 0 is a 0.
type Options struct {
	// Weights are the weights of the retention score. The default is
	// [pager.DefaultWeights].
	Weights pager.Weights

	// Cuts are the scores from which a block is retained or paged; below both
	// it is evicted. The default is [pager.DefaultCuts].
	Cuts pager.Cuts

	// Tools describes the tools of agents to the rules. The default is the
	// built-in table of package tool.
	Tools *tool.Table

	// KeepLast is the number of newest blocks that never leave the window.
	// The default is 5; a negative number means none.
	KeepLast int

	// Strategy is the strategy of compression. The default is
	// [StrategyAccount].
	Strategy Strategy

	// Model estimates the probability that a name or a line is needed again.
	// The default is [facts.DefaultModel].
	Model *facts.Model

	// Prior estimates from the features of a unit how likely a reader must
	// know it. An account combines this with Model. The default is
	// [account.DefaultPrior].
	Prior *account.Prior

	// Trigger sets when a pass is due, the target of a pass, and the floor
	// below which no discard and no automatic pass goes. Zero fields have the
	// defaults of [pager.Trigger].
	Trigger pager.Trigger

	// Window is the size of the context window, in tokens. The default is that
	// of the session's model, see [token.ContextWindow].
	Window token.Count

	// Counter counts tokens. The default is that of the session's model, see
	// [token.ForModel].
	Counter token.Counter

	// Prices has the prices of models and the rules of their providers' caches. The default is
	// [economy.Published].
	Prices *economy.Table

	// Triage is the policy that selects artifacts. The default is
	// [triage.DefaultPolicy].
	Triage *triage.Policy

	// Ladder maps demand to tiers. The default is [tier.DefaultLadder].
	Ladder tier.Ladder

	// Confidence is the least confidence with which the gate accepts a
	// memory. The default is [assembly.DefaultThreshold].
	Confidence ratio.Ratio

	// Redact removes e-mail addresses and telephone numbers from every
	// artifact, stashed output and memory before it is stored; see
	// [secret.RedactPersonal].
	Redact bool

	// Sources fetches artifacts again. By default nothing is fetched: an
	// artifact whose source can be fetched, see [NewArtifact], enters no
	// context, and Get of it fails with [artifact.ErrForbidden].
	Sources artifact.Source

	// Embedder computes embeddings for semantic similarity. By default texts
	// are compared by words and parts of words, and nothing leaves the
	// machine.
	Embedder llm.Embedder

	// Generator is a model that drafts summaries and answers probes. By
	// default programs do both.
	Generator llm.Generator

	// Patience is the time limit of one request to Generator. The default is
	// two minutes.
	Patience time.Duration

	// Page is the most tokens that a context takes of one artifact. Of a
	// larger artifact it takes the passages most relevant to the query. The
	// default is [DefaultPage]; a negative number means no limit. Pinned
	// artifacts are always taken whole.
	Page token.Count

	// Resident is the most bytes of artifacts that are cached in memory. The
	// default is 256 MiB.
	Resident int64

	// Snapshots is the path prefix of snapshot files, one for each large
	// scope. A starting process reads a snapshot instead of all records of
	// the scope. The files hold no text and may be deleted at any time. By
	// default none are written.
	Snapshots string

	// Actor is recorded in the journal as the author of jobs. The default is
	// [governance.ActorUser].
	Actor governance.Actor

	// Now returns the current time, for records and for the age and the expiry of artifacts. It
	// must be safe for concurrent use. The default is time.Now.
	Now func() time.Time

	// Rand is the source of ids and salts. It must be safe for concurrent
	// use. The default is crypto/rand.
	Rand io.Reader

	// Progress is called during long jobs with the job's name and the steps
	// done and in total. It must be safe for concurrent use. The default does
	// nothing.
	Progress func(job string, done, total int)

	// Logger receives one line for each job that wrote. The default discards
	// them.
	Logger *slog.Logger
}

// DefaultPage is the default of [Options.Page].
const DefaultPage = base.DefaultPage
