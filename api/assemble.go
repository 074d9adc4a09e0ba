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
	// Query is the text that the context is for. It is the last part of the context, and triage
	// selects artifacts by it, see package triage. Without a query, triage selects by the user's
	// last message in the session.
	Query string `json:"query,omitempty"`

	// Budget is the most tokens of context and reserve together. It is required.
	Budget token.Count `json:"budget"`

	// Reserve is the part of the budget that stays free for the reply, in
	// tokens.
	Reserve token.Count `json:"reserve,omitempty"`

	// Session is the session whose window goes into the context; empty means
	// none.
	Session transcript.SessionID `json:"session,omitempty"`

	// System is the system text at the beginning of the context.
	System string `json:"system,omitempty"`

	// Format is "openai", "anthropic", "responses" or "text", the default.
	Format string `json:"format,omitempty"`

	// Model is the model whose tokens are counted. The default is the
	// session's model, then the counter of the engine's options.
	Model string `json:"model,omitempty"`

	// Tiers is the ladder, which decides how far a context that is too large is cut: see package
	// tier. "article" (the default) is Options.Ladder of the engine. "soft" is [tier.SoftLadder],
	// which takes whole artifacts while they fit: first those that a person verified, then the
	// best.
	Tiers string `json:"tiers,omitempty"`

	// Tier forces a tier of the ladder "article": full, summarized, core or minimal. By default
	// the tier follows from the demand, the size of the context before any cut. With the ladder
	// "soft" it must be empty.
	Tier tier.Tier `json:"tier,omitempty"`

	// DryRun returns no context and stores no manifest. Sources are asked as
	// usual.
	DryRun bool `json:"dry_run,omitempty"`
}

// An AssembleResult is a context with the figures of its manifest.
type AssembleResult struct {
	Data          []byte                  `json:"data,omitempty"`     // the context
	Manifest      string                  `json:"manifest,omitempty"` // id of the manifest
	Seal          string                  `json:"seal,omitempty"`
	Format        string                  `json:"format"`
	Encoding      string                  `json:"encoding"` // encoding by which tokens are counted
	Budget        token.Count             `json:"budget"`
	Reserve       token.Count             `json:"reserve"`
	Demand        token.Count             `json:"demand"`      // tokens before any cut
	TokenCount    token.Count             `json:"token_count"` // tokens of the context
	Tier          tier.Tier               `json:"tier"`
	Review        bool                    `json:"review"`            // a person should review the context
	Candidates    int                     `json:"candidates"`        // artifacts that were considered
	Semantic      string                  `json:"semantic"`          // name of the semantic scorer, such as "lexical/1"
	SemanticCalls int                     `json:"semantic_calls"`    // texts that the scorer compared with the query
	Warning       string                  `json:"warning,omitempty"` // why Options.Embedder failed and was not used
	Tags          triage.Tags             `json:"tags"`              // counts of triage's tags, including artifacts left out
	Used          []UsedEntry             `json:"used"`              // artifacts in the context, in order
	Left          map[manifest.Reason]int `json:"left"`              // number of artifacts left out, by reason
	Fetched       int                     `json:"fetched"`           // artifacts in Used that were fetched again
	Window        token.Count             `json:"window"`            // tokens of the session's window in the context
	Losses        []transcript.Loss       `json:"losses"`            // parts of the session that the format cannot carry
}

// A UsedEntry is an artifact in a context.
type UsedEntry struct {
	Artifact
	Form        manifest.Form `json:"form"`
	InContext   token.Count   `json:"in_context"` // tokens in the context
	Tag         manifest.Tag  `json:"tag,omitempty"`
	Score       ratio.Ratio   `json:"score"`
	Fetched     bool          `json:"fetched,omitempty"`     // it had changed and was fetched again
	Neutralized int           `json:"neutralized,omitempty"` // invisible characters made visible
}

// The ladders of an [AssembleRequest].
const (
	TiersArticle = "article" // Options.Ladder of the engine
	TiersSoft    = "soft"    // [tier.SoftLadder]
)

// FormatText is the plain form of a context: each part stands between two
// lines that name it.
const FormatText = "text"
