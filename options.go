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

// Options adjusts an [Engine]. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// Weights are the weights of the retention score. The default is
	// [pager.DefaultWeights].
	Weights pager.Weights

	// Cuts are the scores at which directives change. The default is
	// [pager.DefaultCuts].
	Cuts pager.Cuts

	// Tools says what the tools of agents do, which rules go by. The default is
	// the built-in table of package tool.
	Tools *tool.Table

	// KeepLast is how many of the newest blocks never leave the window. The
	// default is 5; a negative number means none.
	KeepLast int

	// Strategy is how a window is made smaller. The default is
	// [StrategyAccount].
	Strategy Strategy

	// Model says how likely it is that a name or a line is needed again. The default
	// is [facts.DefaultModel].
	Model *facts.Model

	// Prior says what of an account a reader must know, whatever is needed again. The
	// default is [account.DefaultPrior].
	Prior *account.Prior

	// Trigger says how full a window may become, what a pass brings it to, and below
	// which size no discard and no automatic pass goes. The zero value has the
	// defaults of [pager.Trigger].
	Trigger pager.Trigger

	// Window is the size of the context window, in tokens. The default is that
	// of the session's model, see [token.ContextWindow].
	Window token.Count

	// Counter counts tokens. The default is that of the session's model, see
	// [token.ForModel].
	Counter token.Counter

	// Prices says what models cost and how their providers' caches work. The default is
	// [economy.Published].
	Prices *economy.Table

	// Triage is what decides which artifacts are worth a place. The default is
	// [triage.DefaultPolicy].
	Triage *triage.Policy

	// Ladder says at which demand a context is degraded. The default is
	// [tier.DefaultLadder].
	Ladder tier.Ladder

	// Confidence is what an evaluator must have in a memory. The default is
	// [assembly.DefaultThreshold].
	Confidence ratio.Ratio

	// Redact takes addresses of e-mail and numbers of telephones out of every artifact,
	// output in the stash and memory before it is kept, see [secret.RedactPersonal].
	Redact bool

	// Sources is where artifacts are fetched from again. By default nothing is:
	// an artifact with a source that cannot be asked enters no context.
	Sources artifact.Source

	// Embedder says what texts mean. By default they are compared by words and
	// pieces of words, and nothing leaves the machine.
	Embedder llm.Embedder

	// Generator writes drafts of summaries and answers probes. By default programs
	// do.
	Generator llm.Generator

	// Patience is how long the generator may take for a draft, or for the answers
	// to probes. The default is two minutes.
	Patience time.Duration

	// Page is how many tokens of one artifact a context takes. Of a larger one it
	// has the passages that have most to do with the question. The default is
	// [DefaultPage]; a negative number means no limit. Pinned artifacts are always whole.
	Page token.Count

	// Resident is how many bytes of artifacts are kept in memory. The default is
	// 256 MiB.
	Resident int64

	// Snapshots is what the paths of files begin with, one for each scope with very many
	// artifacts, that spare a process that starts the reading of all of their records.
	// They hold no text, and any of them may be removed at any time. The default keeps
	// none.
	Snapshots string

	// Actor is who does the jobs, for the journal. The default is
	// [governance.ActorUser].
	Actor governance.Actor

	// Now tells the time, for what is recorded, and for the age and the expiry of
	// artifacts. The default is time.Now.
	Now func() time.Time

	// Rand is where ids and salts of commitments come from. Nothing is decided by
	// it; the id of an artifact stands in its fence. The default is crypto/rand.
	Rand io.Reader

	// Progress is told how far a long job is, in steps of its own, now and
	// then. It must be safe for concurrent use. The default tells nobody.
	Progress func(job string, done, total int)

	// Logger receives a line for each job that wrote. The default discards
	// them.
	Logger *slog.Logger
}

// DefaultPage is how many tokens of one artifact a context takes by default.
const DefaultPage = base.DefaultPage
