package api

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/triage"
)

// An AssembleRequest asks for a context.
type AssembleRequest struct {
	// Query is what the context is for. It steers triage and is the last thing
	// in the context. Without one, triage is steered by what a person wrote
	// last in the session.
	Query string `json:"query,omitempty"`

	// Budget is how many tokens the context may take, the reserve included.
	Budget token.Count `json:"budget"`

	// Reserve is how many tokens of the budget are kept free for the reply.
	Reserve token.Count `json:"reserve,omitempty"`

	// Session is the conversation whose window goes in, or empty for none.
	Session transcript.SessionID `json:"session,omitempty"`

	// System is a system text to begin with.
	System string `json:"system,omitempty"`

	// Format is "openai", "anthropic", "responses" or "text", the default.
	Format string `json:"format,omitempty"`

	// Model is whose tokens are counted. The default is the session's, then
	// whatever the engine's options say.
	Model string `json:"model,omitempty"`

	// Tiers is the ladder: "article", the default, has the edges of the engine's
	// options; "soft" is [tier.SoftLadder], on which what a person verified goes in
	// first and then the best, whole, while they fit.
	Tiers string `json:"tiers,omitempty"`

	// Tier forces a tier of the article's ladder. The default is the one that the
	// demand calls for.
	Tier tier.Tier `json:"tier,omitempty"`

	// DryRun makes no manifest and hands no context out. Sources are asked all
	// the same.
	DryRun bool `json:"dry_run,omitempty"`
}

// An AssembleResult is a context, and the account of it.
type AssembleResult struct {
	Data          []byte                  `json:"data,omitempty"`     // the context
	Manifest      string                  `json:"manifest,omitempty"` // id
	Seal          string                  `json:"seal,omitempty"`
	Format        string                  `json:"format"`
	Encoding      string                  `json:"encoding"`
	Budget        token.Count             `json:"budget"`
	Reserve       token.Count             `json:"reserve"`
	Demand        token.Count             `json:"demand"`      // before anything was cut
	TokenCount    token.Count             `json:"token_count"` // of the context
	Tier          tier.Tier               `json:"tier"`
	Review        bool                    `json:"review"` // a person should look
	Candidates    int                     `json:"candidates"`
	Semantic      string                  `json:"semantic"`
	SemanticCalls int                     `json:"semantic_calls"`
	Warning       string                  `json:"warning,omitempty"`
	Tags          triage.Tags             `json:"tags"` // that triage gave, also to what is left out
	Used          []UsedEntry             `json:"used"` // artifacts, in their order
	Left          map[manifest.Reason]int `json:"left"` // artifacts left out, by reason
	Fetched       int                     `json:"fetched"`
	Window        token.Count             `json:"window"` // of the session
	Losses        []transcript.Loss       `json:"losses"` // what the format could not carry of the session
}

// A UsedEntry is an artifact in a context.
type UsedEntry struct {
	Artifact
	Form        manifest.Form `json:"form"`
	InContext   token.Count   `json:"in_context"` // tokens that it takes there
	Tag         manifest.Tag  `json:"tag,omitempty"`
	Score       ratio.Ratio   `json:"score"`
	Fetched     bool          `json:"fetched,omitempty"`     // it had changed
	Neutralized int           `json:"neutralized,omitempty"` // characters made visible
}

// The ladders of an [AssembleRequest].
const (
	TiersArticle = "article"
	TiersSoft    = "soft"
)

// FormatText is the plain form of an assembled context: every part between two
// lines that say what it is.
const FormatText = "text"
