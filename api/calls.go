package api

import (
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A CallIntent is what is known of a call to a model before it is sent. It holds no text of
// the conversation.
type CallIntent struct {
	Dialect   string        `json:"dialect"`            // of the request, such as "anthropic"
	Client    string        `json:"client,omitempty"`   // the client's own name for its session, and for an agent in it
	Model     string        `json:"model,omitempty"`    // that was asked
	Messages  int           `json:"messages"`           // that the client sent
	Bytes     int           `json:"bytes"`              // of the body that came
	SentBytes int           `json:"sent_bytes"`         // of the body that is sent
	Chain     digest.Digest `json:"chain,omitzero"`     // of the client's messages
	Sent      digest.Digest `json:"sent,omitzero"`      // chain of the messages that are sent
	Frame     digest.Digest `json:"frame,omitzero"`     // of system text and tools
	Epoch     int           `json:"epoch,omitempty"`    // 0 is the time before the first head
	Managed   bool          `json:"managed,omitempty"`  // by Carrel: what is sent is not what came, or could have been another
	Holdout   bool          `json:"holdout,omitempty"`  // its session is left as it is, for comparison
	Reason    string        `json:"reason,omitempty"`   // why it is managed or not, in a word of Carrel's
	Recall    bool          `json:"recall,omitempty"`   // Carrel's own tool is among the tools that are sent
	Follows   string        `json:"follows,omitempty"`  // the call whose answer this one goes on with, after results of that tool
	Compacts  bool          `json:"compacts,omitempty"` // the client asks for a summary of the conversation, to go on with that
	Thread    digest.Digest `json:"thread,omitzero"`    // of a conversation that began with such a summary
	Manifest  string        `json:"manifest,omitempty"` // id of the sealed account of what is sent, if there is one
	Seal      digest.Digest `json:"seal,omitzero"`      // its seal
	Gaps      int           `json:"gaps,omitempty"`     // intents and outcomes that could not be recorded since the last call that was
	Estimate  token.Count   `json:"estimate,omitempty"` // tokens that are sent, as counted here
}

// A CallOutcome is what came of a call to a model. It holds no text of the answer.
type CallOutcome struct {
	Status   int       `json:"status,omitempty"` // of HTTP; 0 if there was no answer
	Reply    string    `json:"reply,omitempty"`  // the provider's id of the answer
	Usage    Usage     `json:"usage,omitzero"`   // as the provider counted; zero if it did not say
	Stop     string    `json:"stop,omitempty"`   // why the answer ended, in the provider's word
	Error    string    `json:"error,omitempty"`  // the provider's or Carrel's word for what went wrong
	Received int       `json:"received"`         // bytes of the answer
	First    time.Time `json:"first,omitzero"`   // when its first byte came

	Would *CallWould `json:"would,omitempty"` // what managing would have done; none if that was not reckoned
}

// Words with which the reason of a call begins that the record is searched for.
const (
	ReasonCompacts = "client compacts" // it asked for the client's own summary
	ReasonEpoch    = "new epoch: "     // the window was made smaller for it; the rest says why
)

// A CallWould says what managing would have done for a call that went as it came. It is
// reckoned from sizes by the law that manages: an estimate, and no promise.
type CallWould struct {
	Tokens  token.Count   `json:"tokens"`            // of the prompt, in the proportion in which the provider counted what came
	Frame   token.Count   `json:"frame,omitempty"`   // of them, system text and tools
	Epoch   int           `json:"epoch,omitempty"`   // 0 is the time before the first head
	Reason  string        `json:"reason"`            // as that of a call that is managed
	Results int           `json:"results,omitempty"` // of tools that would have been shortened for it
	Head    digest.Digest `json:"head,omitzero"`     // chain of the messages in whose place a head would have stood
	Made    token.Count   `json:"made,omitempty"`    // size of that head, by an upper bound
}

// Usage is what a provider says that a call took, in tokens. The tokens of the prompt are
// Input, CacheRead and both of CacheWrite together.
type Usage struct {
	Input        token.Count `json:"input"` // neither read from a cache nor written to it
	CacheRead    token.Count `json:"cache_read"`
	CacheWrite5m token.Count `json:"cache_write_5m"` // for five minutes, or for the only lifetime that there is
	CacheWrite1h token.Count `json:"cache_write_1h"` // for an hour
	Output       token.Count `json:"output"`         // with Reasoning
	Reasoning    token.Count `json:"reasoning"`
}

// Prompt returns the tokens of the whole prompt.
func (u *Usage) Prompt() token.Count { return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h }

// Add adds what another call took.
func (u *Usage) Add(v *Usage) {
	u.Input += v.Input
	u.CacheRead += v.CacheRead
	u.CacheWrite5m += v.CacheWrite5m
	u.CacheWrite1h += v.CacheWrite1h
	u.Output += v.Output
	u.Reasoning += v.Reasoning
}

// A BeginRequest records that a call is about to be sent.
type BeginRequest struct {
	Call    string               `json:"call,omitempty"`    // its id; one is made if it is empty
	Session transcript.SessionID `json:"session,omitempty"` // may be one that is not stored yet
	CallIntent

	// Sealed, if it has segments, is what is sent: a manifest is made of it and sealed with
	// the intent.
	Sealed *CallAccount `json:"sealed,omitempty"`
}

// A CallAccount says what a body that is sent consists of, by lengths and commitments. It
// holds no text.
type CallAccount struct {
	Segments []CallSegment `json:"segments"` // which tile the body
}

// A CallSegment is a stretch of a body.
type CallSegment struct {
	Kind   manifest.Kind `json:"kind"`             // frame, message, or stub: what Carrel put in place of messages
	Bytes  int           `json:"bytes"`            // at least 1
	Commit digest.Digest `json:"commit"`           // see [manifest.CommitSegment]; the salt is the chain before it, of a frame zero
	Chain  digest.Digest `json:"chain,omitzero"`   // of the messages that are sent up to its end; of a frame zero
	Before string        `json:"before,omitempty"` // id of the call before, which was sent the same messages up to that chain
}

// A BeginResult names a call that has begun.
type BeginResult struct {
	Call string `json:"call"`
}

// An EndRequest records what came of a call.
type EndRequest struct {
	Call  string          `json:"call"`
	State store.CallState `json:"state"` // done, failed or unknown
	CallOutcome
}

// An EndResult says when a call ended.
type EndResult struct {
	Ended time.Time `json:"ended"`
}

// A CloseCallsRequest ends the calls of which nobody has said what came of them.
type CloseCallsRequest struct {
	Before time.Time `json:"before"` // that were begun before this time
}

// A CloseCallsResult says which calls were ended.
type CloseCallsResult struct {
	Calls []string `json:"calls"` // ids, last begun first
}

// A CallsRequest asks for the calls of a scope, or of one session.
type CallsRequest struct {
	Session transcript.SessionID `json:"session,omitempty"`
	Client  string               `json:"client,omitempty"` // only calls of what a client calls so
	Since   time.Time            `json:"since,omitzero"`   // only calls that were begun then or later
	Cursor
}

// A Call is what is known of a request to a model and its answer.
type Call struct {
	ID      string               `json:"id"`
	Seq     int64                `json:"seq"`               // place in the order in which calls were begun, from 1
	Session transcript.SessionID `json:"session,omitempty"` // which may not be stored, or not any more
	State   store.CallState      `json:"state"`
	Begun   time.Time            `json:"begun"`          // when it was recorded, before it was sent
	Ended   time.Time            `json:"ended,omitzero"` // when what came of it was
	CallIntent
	CallOutcome
}

// A Rewrite says what was sent to a model in place of what a client sent.
type Rewrite struct {
	Chain    digest.Digest     `json:"chain"` // of the client's messages, up to the last that it stands for
	Kind     store.RewriteKind `json:"kind"`
	Epoch    int               `json:"epoch"`
	Messages int               `json:"messages"` // that the chain is of
	Data     []byte            `json:"data"`     // of a head, a JSON list of messages; of a message, that message
}

// A RewritesResult has the rewrites of a session by epoch, then by how many messages they
// stand for, kind and chain.
type RewritesResult struct {
	Rewrites []Rewrite `json:"rewrites"`
}

// A KeepRewriteRequest keeps what is about to be sent in place of what a client sent. It
// takes the place of what the session has for the same kind and chain.
type KeepRewriteRequest struct {
	Session transcript.SessionID `json:"session"` // begins, without a conversation, if it is not stored
	Rewrite
	Blocks []transcript.BlockID `json:"blocks,omitempty"` // of the session, from which it was made
}

// A KeepRewriteResult names the entry of the journal that says so.
type KeepRewriteResult struct {
	Op string `json:"op"`
}

// A NewEpochRequest asks for a new head: what is sent from now on in place of the messages
// of a request.
type NewEpochRequest struct {
	Name   string        `json:"name"`   // of the conversation, which gives its session the same id each time
	Data   []byte        `json:"data"`   // the body of the client's request; must not be changed afterwards
	Format string        `json:"format"` // of Data, as in [ImportRequest]
	Target Target        `json:"target,omitzero"`
	Window token.Count   `json:"window,omitempty"` // of the model; see [CompressRequest]
	Chain  digest.Digest `json:"chain"`            // of all messages of Data
	Epoch  int           `json:"epoch"`            // that begins, at least 1

	Compaction string `json:"compaction,omitempty"` // as in [ImportRequest]
}

// A NewEpochResult is a new head, which is kept.
type NewEpochResult struct {
	Session  transcript.SessionID `json:"session"`
	Head     []byte               `json:"head"`           // a JSON list of messages
	Messages int                  `json:"messages"`       // of the client, in place of which it stands
	Before   token.Count          `json:"before"`         // tokens of the window
	After    token.Count          `json:"after"`          // tokens of the window
	Pass     string               `json:"pass,omitempty"` // journal entry of the compression; empty if the window fitted
	Op       string               `json:"op"`             // journal entry of the head
}

// A ReportRequest asks what was sent to models.
type ReportRequest struct {
	Since time.Time `json:"since,omitzero"` // only calls that were begun then or later
}

// A ReportResult says what was sent to models, and by how much less than what clients sent.
// A session counts where the calls of it that were begun since do: as held out if one of
// them is, or else as managed if one of them is.
type ReportResult struct {
	Since    time.Time     `json:"since,omitzero"` // as in the request
	First    time.Time     `json:"first,omitzero"` // when the first of the calls was begun
	Last     time.Time     `json:"last,omitzero"`  // when the last was
	Total    CallTally     `json:"total"`
	Managed  CallTally     `json:"managed"`
	Holdout  CallTally     `json:"holdout"` // left as they are, for comparison with Managed
	Observed CallTally     `json:"observed"`
	Reasons  []ReasonTally `json:"reasons"` // why calls were managed or not, the most frequent first

	Gaps int `json:"gaps"` // intents and outcomes that could not be recorded, as later calls tell

	Would WouldTally `json:"would"` // what managing would have done in the sessions that were not managed
}

// A WouldTally adds up what managing would have done for calls that went as they came: an
// estimate, and no promise.
type WouldTally struct {
	Sessions int         `json:"sessions"` // with calls of which it was reckoned
	Calls    int         `json:"calls"`    // of which it was reckoned, and of which the provider said what they took
	Missing  int         `json:"missing"`  // calls of these sessions of which it was not
	Came     token.Count `json:"came"`     // prompts of Calls
	Tokens   token.Count `json:"tokens"`   // what would have been sent in their place
	Results  int         `json:"results"`  // of tools that would have been shortened

	Cost    economy.Money `json:"cost"`              // of all calls of these sessions with a price, as they came, in billionths of a dollar
	Managed *ManagedCost  `json:"managed,omitempty"` // what they might have cost; nil if no call has a price
}

// A CallTally counts calls.
type CallTally struct {
	Sessions  int   `json:"sessions"` // that the calls name
	Calls     int   `json:"calls"`
	Managed   int   `json:"managed"`    // calls, of all sessions that are counted here
	Done      int   `json:"done"`       // calls whose answer came, whole
	Failed    int   `json:"failed"`     // calls that were refused, or whose answer was cut
	Refused   int   `json:"refused"`    // of Failed, those that were answered with a status of 400 or more
	Unknown   int   `json:"unknown"`    // calls of which nobody has said what came of them
	Open      int   `json:"open"`       // calls that have begun and not ended
	Epochs    int   `json:"epochs"`     // that began with a head, of all sessions
	Bytes     int64 `json:"bytes"`      // of the bodies that came
	SentBytes int64 `json:"sent_bytes"` // of the bodies that were sent
	Received  int64 `json:"received"`   // of the answers

	Usage    Usage         `json:"usage"`
	Cost     economy.Money `json:"cost"`     // of calls whose model has a price, in billionths of a dollar, at list prices
	Unpriced int           `json:"unpriced"` // calls whose model has none
	Models   []ModelTally  `json:"models"`   // by name
}

// A ModelTally says what the calls of one model took.
type ModelTally struct {
	Model string `json:"model"`
	Calls int    `json:"calls"` // of which the provider said what they took
	Usage Usage  `json:"usage"`

	Cost economy.Money `json:"cost,omitempty"` // in billionths of a dollar; 0 if the model has no price
}

// A ReasonTally counts calls that were managed, or not, for the same reason.
type ReasonTally struct {
	Managed bool   `json:"managed"` // whether the calls were
	Reason  string `json:"reason"`
	Calls   int    `json:"calls"`
}
