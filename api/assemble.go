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
	// Query is the text that the context is for. It steers triage and is the
	// last part of the context. Without one, the user's last message in the
	// session steers triage.
	Query string `json:"query,omitempty"`

	// Budget is the most tokens of the context, including the reserve.
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

	// Tiers is the ladder: "article" (the default) has the edges of the
	// engine's options; "soft" is [tier.SoftLadder], which takes whole
	// artifacts while they fit, those that a person verified first, then the
	// best.
	Tiers string `json:"tiers,omitempty"`

	// Tier forces a tier of the ladder "article". By default the demand
	// decides.
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
	Encoding      string                  `json:"encoding"`
	Budget        token.Count             `json:"budget"`
	Reserve       token.Count             `json:"reserve"`
	Demand        token.Count             `json:"demand"`      // tokens before any cut
	TokenCount    token.Count             `json:"token_count"` // tokens of the context
	Tier          tier.Tier               `json:"tier"`
	Review        bool                    `json:"review"` // a person should review the context
	Candidates    int                     `json:"candidates"`
	Semantic      string                  `json:"semantic"`
	SemanticCalls int                     `json:"semantic_calls"`
	Warning       string                  `json:"warning,omitempty"`
	Tags          triage.Tags             `json:"tags"` // counts of triage's tags, including artifacts left out
	Used          []UsedEntry             `json:"used"` // artifacts in the context, in order
	Left          map[manifest.Reason]int `json:"left"` // number of artifacts left out, by reason
	Fetched       int                     `json:"fetched"`
	Window        token.Count             `json:"window"` // tokens of the session's part
	Losses        []transcript.Loss       `json:"losses"` // parts of the session that the format cannot carry
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
	TiersArticle = "article"
	TiersSoft    = "soft"
)

// FormatText is the plain form of a context: each part stands between two
// lines that name it.
const FormatText = "text"
