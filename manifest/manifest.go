// Package manifest has the sealed record of an assembled context. It accounts for every byte that
// the model was sent, by offsets and commitments, and for everything that was left out, with
// reasons.
//
// A [Manifest] is a header and items. A [Segment] is a stretch of the output, and the segments
// tile it. An [Omission] is an artifact that was left out. A [Set] is many artifacts that were
// left out for the same reason. A [Fetch] is an attempt to get an artifact again from its
// source. The [Output] describes the whole output. [Seal] makes a document of a manifest, and
// [Parse] reads it back. doc/spec/manifest.md specifies the document, for authors of other
// verifiers:
//
//	sealed, err := manifest.Parse(data)
//	if err == nil {
//		err = sealed.Verify() // ErrSeal if a byte was changed
//	}
//
// # No text
//
// A manifest holds names, versions, counts, times, commitments, and reasons of closed lists. It
// holds no text of a conversation or an artifact. A name has at most [MaxName] characters of a
// small alphabet without space. For each segment it holds a commitment, made by [CommitSegment]
// under a salt that is stored with the text in a cell. When the text is erased, the salt is erased
// with it, the manifest stays as it is, and nobody can confirm a guess at the text. Callers must
// not use text as names: ids should be random.
//
// # Seal
//
// The seal is a digest over the header and the salted digests of the items. [Sealed.Redact]
// removes items and their salts but keeps their digests: the seal stays the same and still
// verifies, and no guess at a removed item can be confirmed. [Sealed.Proof] reveals a single
// item. A seal proves that a document is unchanged since its seal was recorded elsewhere. It
// does not prove who made the document.
//
// # Units
//
// Offsets and sizes are in bytes of the output. Counts of tokens are in tokens
// of the header's Encoding. Scores are [ratio.Ratio], in millionths, from 0 to
// [ratio.One]. Times are UTC in whole milliseconds. A row is the sequence number
// that the store gave an artifact in its scope, from 1. Counts and sizes are below
// 2³¹, versions and rows below 2⁵³.
//
// # Determinism, errors, concurrency
//
// The package does no I/O and reads no clock. The only randomness is the argument of [Seal]:
// equal arguments give equal bytes. Errors are [ErrFormat], [ErrSchema] or [ErrSeal], or a
// [*CheckError] that names the item. A [Sealed] does not change and may be used concurrently.
// Documents of the version [Schema] stay readable; another form gets another version.
package manifest

import (
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Schema is the name and the version of the document.
const Schema = "carrel.manifest.v1"

// A Manifest is the record of one assembled context.
type Manifest struct {
	Header Header
	Items  []Item // segments by Start, then omissions, sets and fetches, each in any order, and the output
}

// A Header has the scope, the sources and the limits of a context.
type Header struct {
	ID      string // "m_" and 8 to 64 hexadecimal digits
	Scope   string
	Actor   string
	Created time.Time

	Session  transcript.SessionID // session whose window is in the context, or empty
	Revision int64                // of the session
	Version  int64                // of the scope's artifacts
	Policy   string               // version of the policy in force

	Format   string // "openai", "anthropic", "responses" or "text"
	Encoding string // encoding of the token counts, as named by [token.Counter]
	Budget   token.Count
	Reserve  token.Count // of the budget, kept free for the answer
	Demand   token.Count // tokens before any cut
	Total    token.Count // tokens of the output
	Tier     tier.Tier
	Review   bool // whether a person should look at the context

	Query         string // id of the cell with the query, or empty
	Semantic      string // name of the semantic scorer, such as "lexical/1", or empty
	SemanticCalls int    // texts that the scorer was given
	Candidates    int    // artifacts considered; each is in a segment, an omission or a set
}

// An Item is an entry of a manifest: a [*Segment], [*Omission], [*Set], [*Fetch] or [*Output],
// or a [*Redacted] in place of one. No other type implements it.
type Item interface{ item() }

// A Segment is a stretch of the output. It has a Class if and only if it holds an artifact.
type Segment struct {
	Kind   Kind          `json:"kind"`
	Cell   string        `json:"cell"`   // id of the cell that holds the text
	Commit digest.Digest `json:"commit"` // [CommitSegment] of the bytes in the output
	Start  int           `json:"start"`  // bytes of the output before it
	Bytes  int           `json:"bytes"`  // at least 1
	Tokens token.Count   `json:"tokens"`

	Ref     string           `json:"ref,omitempty"`     // id of the artifact or block, or empty
	Row     int64            `json:"row,omitempty"`     // sequence number of the artifact, or 0
	Version int64            `json:"version,omitempty"` // of the artifact
	Class   provenance.Class `json:"class,omitempty"`   // of the artifact
	Form    Form             `json:"form,omitempty"`
	Score   *Score           `json:"score,omitempty"`  // nil if it was not scored
	Reason  Reason           `json:"reason,omitempty"` // why it is in

	Neutralized int  `json:"neutralized,omitempty"` // code points that were replaced by visible ones
	Fetched     bool `json:"fetched,omitempty"`     // whether the artifact was fetched again for this context
}

// An Omission is an artifact that was left out, or a block if it has no Class.
type Omission struct {
	Ref    string // id of the artifact or block
	Row    int64  // sequence number of the artifact, or 0
	Class  provenance.Class
	Tokens token.Count // its tokens, or 0 if they were not counted
	Score  *Score      // nil if it was not scored
	Reason Reason
}

// A Set is a group of artifacts that were left out for the same reason. It takes the place of their
// omissions where these are too many for a list.
type Set struct {
	Reason Reason
	Count  int // number of Rows
	Rows   Rows
}

// A Fetch is an attempt to get an artifact again from its source.
type Fetch struct {
	Ref     string // id of the artifact
	Outcome FetchOutcome
	From    int64 // version before, 0 if there was none
	To      int64 // version after, 0 if there is none
}

// An Output is the whole output, which the segments cover without gaps.
type Output struct {
	Bytes  int
	Commit digest.Digest // [CommitOutput] of the bytes
}

// A Redacted stands in place of an item that [Sealed.Redact] removed.
type Redacted struct {
	Digest digest.Digest
}

func (*Segment) item()  {}
func (*Omission) item() {}
func (*Set) item()      {}
func (*Fetch) item()    {}
func (*Output) item()   {}
func (*Redacted) item() {}

// A Score has the measured scores of an artifact. A missing score is 0.
type Score struct {
	Recency    ratio.Ratio `json:"recency"`
	Provenance ratio.Ratio `json:"provenance"`
	Semantic   ratio.Ratio `json:"semantic"`
	First      ratio.Ratio `json:"first"` // score of recency and provenance; selects the artifacts for the next pass
	Total      ratio.Ratio `json:"total"`
	Tag        Tag         `json:"tag,omitempty"` // empty if it has none
}

// CommitSegment returns the commitment to the bytes of a segment under the
// salt of its cell.
func CommitSegment(salt digest.Salt, data []byte) digest.Digest {
	return digest.Commit(salt, "segment", data)
}
