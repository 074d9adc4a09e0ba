package api

import (
	"encoding/json"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A CallIntent describes a call to a model before it is sent. It holds no text of the conversation.
//
// A chain is a digest that names a list of messages. The caller computes it; lists have the same
// chain if and only if they are equal. The engine only stores and compares chains and frames.
type CallIntent struct {
	Dialect   string        `json:"dialect"`            // wire format of the request, such as "anthropic"
	Client    string        `json:"client,omitempty"`   // the client's id of its session; for a sub-agent, a slash and its id follow
	Model     string        `json:"model,omitempty"`    // the requested model
	Messages  int           `json:"messages"`           // number of messages from the client
	Bytes     int           `json:"bytes"`              // size of the received body
	SentBytes int           `json:"sent_bytes"`         // size of the sent body
	Chain     digest.Digest `json:"chain,omitzero"`     // chain over the client's messages
	Sent      digest.Digest `json:"sent,omitzero"`      // chain over the sent messages
	Frame     digest.Digest `json:"frame,omitzero"`     // digest of system text and tools
	Epoch     int           `json:"epoch,omitempty"`    // epoch of the sent messages; 0 before the first head, see [NewEpochRequest]
	Managed   bool          `json:"managed,omitempty"`  // Carrel manages the call: it may send a body other than the received one
	Holdout   bool          `json:"holdout,omitempty"`  // the session is left alone, for comparison
	Reason    string        `json:"reason,omitempty"`   // why the call is managed or not
	Recall    bool          `json:"recall,omitempty"`   // Carrel's recall tool is among the sent tools
	Follows   string        `json:"follows,omitempty"`  // id of the first call, if the model used the recall tool in it and this call sends the result
	Compacts  bool          `json:"compacts,omitempty"` // the client asks the model for a summary with which it will replace the conversation
	Thread    digest.Digest `json:"thread,omitzero"`    // digest that names the conversation, if it begins with such a summary
	Manifest  string        `json:"manifest,omitempty"` // id of the sealed manifest of the sent body, if there is one
	Seal      digest.Digest `json:"seal,omitzero"`      // seal of the manifest
	Gaps      int           `json:"gaps,omitempty"`     // intents and outcomes that could not be recorded since the last recorded call
	Estimate  token.Count   `json:"estimate,omitempty"` // tokens sent, as Carrel counts them
}

// A CallOutcome is the outcome of a call to a model. It holds no text of the
// answer.
type CallOutcome struct {
	Status   int       `json:"status,omitempty"` // HTTP status; 0 without an answer
	Reply    string    `json:"reply,omitempty"`  // the provider's id of the answer
	Usage    Usage     `json:"usage,omitzero"`   // as the provider reported; zero if it did not
	Stop     string    `json:"stop,omitempty"`   // the provider's stop reason
	Error    string    `json:"error,omitempty"`  // the error, as the provider or Carrel names it
	Received int       `json:"received"`         // bytes of the answer
	First    time.Time `json:"first,omitzero"`   // when the first byte arrived

	Would *UnmanagedEstimate `json:"would,omitempty"` // estimate for an unmanaged call; nil if none was made
}

// Beginnings of CallIntent.Reason; test with strings.HasPrefix.
const (
	ReasonCompacts = "client compacts" // as CallIntent.Compacts
	ReasonEpoch    = "new epoch: "     // the window was made smaller for this call; the rest says why
	ReasonLogged   = "client's log"    // the call is from the log of its client
)

// An UnmanagedEstimate estimates how an unmanaged call would have been sent
// if it had been managed. It applies the rules for managed calls to the
// sizes of the messages; it is no promise.
type UnmanagedEstimate struct {
	Tokens  token.Count   `json:"tokens"`            // tokens of the prompt, scaled to the provider's count
	Frame   token.Count   `json:"frame,omitempty"`   // part of Tokens for system text and tools
	Epoch   int           `json:"epoch,omitempty"`   // epoch; 0 before the first head
	Reason  string        `json:"reason"`            // as CallIntent.Reason
	Results int           `json:"results,omitempty"` // tool results that would have been shortened
	Head    digest.Digest `json:"head,omitzero"`     // chain of the messages that a head would have replaced
	Made    token.Count   `json:"made,omitempty"`    // upper bound of the size of that head
}

// Usage is the provider's count of the tokens of a call. The tokens of the
// prompt are the sum of Input, CacheRead and both of CacheWrite.
type Usage struct {
	Input        token.Count `json:"input"` // neither read from a cache nor written to it
	CacheRead    token.Count `json:"cache_read"`
	CacheWrite5m token.Count `json:"cache_write_5m"` // written for five minutes, or for the provider's only lifetime
	CacheWrite1h token.Count `json:"cache_write_1h"` // written for an hour
	Output       token.Count `json:"output"`         // includes Reasoning
	Reasoning    token.Count `json:"reasoning"`
}

// Prompt returns the tokens of the whole prompt.
func (u *Usage) Prompt() token.Count { return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h }

// Add adds the tokens of v.
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
	Call    string               `json:"call,omitempty"`    // id of the call; empty: Begin makes one
	Session transcript.SessionID `json:"session,omitempty"` // need not be stored yet
	CallIntent

	// Sealed describes the sent body. If it has segments, Begin seals a
	// manifest of them with the intent.
	Sealed *CallAccount `json:"sealed,omitempty"`
}

// A CallAccount lists the segments of a sent body, with lengths and commitments. It holds no text.
type CallAccount struct {
	Segments []CallSegment `json:"segments"` // in order; they cover the whole body
}

// A CallSegment is a stretch of a body.
type CallSegment struct {
	Kind  manifest.Kind `json:"kind"`  // frame, message, or stub (text of Carrel in place of messages)
	Bytes int           `json:"bytes"` // at least 1

	// Commit is Chain if Before is set. Otherwise it is [manifest.CommitSegment] of the bytes. The
	// salt is the chain over the sent messages before the segment; it is zero if there are none,
	// and for every frame.
	Commit digest.Digest `json:"commit"`

	Chain  digest.Digest `json:"chain,omitzero"`   // chain over the sent messages up to the end of the segment; zero for a frame
	Before string        `json:"before,omitempty"` // id of an earlier call that sent the same messages up to this chain
}

// A BeginResult names a call that has begun.
type BeginResult struct {
	Call string `json:"call"`
}

// An EndRequest records the outcome of a call.
type EndRequest struct {
	Call  string          `json:"call"`
	State store.CallState `json:"state"` // done, failed or unknown
	CallOutcome
}

// An EndResult says when a call ended.
type EndResult struct {
	Ended time.Time `json:"ended"`
}

// A CloseCallsRequest ends all open calls that were begun before a time, in the state unknown. The
// caller knows that their senders no longer run.
type CloseCallsRequest struct {
	Before time.Time `json:"before"` // ends calls that were begun before this time
}

// A CloseCallsResult says which calls were ended.
type CloseCallsResult struct {
	Calls []string `json:"calls"` // ids, last begun first
}

// A CallsRequest asks for the calls of a scope, or of one session, last begun first.
type CallsRequest struct {
	Session transcript.SessionID `json:"session,omitempty"`
	Client  string               `json:"client,omitempty"` // only calls with this CallIntent.Client
	Since   time.Time            `json:"since,omitzero"`   // only calls begun at this time or later
	Logged  bool                 `json:"logged,omitempty"` // also calls from the logs that clients keep in their session files
	Cursor
}

// A Call is the record of a request to a model and of its answer.
type Call struct {
	ID      string               `json:"id"`
	Seq     int64                `json:"seq"`               // position in the order of begin times, from 1; for a logged call, in the log
	Session transcript.SessionID `json:"session,omitempty"` // may be a session that is not stored
	State   store.CallState      `json:"state"`
	Begun   time.Time            `json:"begun"`             // when the intent was recorded, before sending
	Ended   time.Time            `json:"ended,omitzero"`    // when the outcome was recorded
	Logged  bool                 `json:"logged,omitempty"`  // the call is from the client's log: it did not pass through Carrel, and it is erased with the session
	Missing int                  `json:"missing,omitempty"` // messages of a logged call that are not in the session file

	CallIntent
	CallOutcome
}

// A CallResult is the record of one call, with its cost and the comparison to the call before it.
type CallResult struct {
	Call

	// Segments are the parts of the sent body, in order and without gaps. There are none for a
	// call that Carrel passed on unchanged: of such a call it keeps only lengths and digests.
	Segments []CallPart `json:"segments"`
	Kept     int        `json:"kept"` // bytes at the beginning of the body that the call in Before sent too

	// Head is the JSON list of messages that replaced the first HeadFor messages of the client.
	// It is empty if the call had no head, or if the head was erased since.
	Head    json.RawMessage `json:"head,omitempty"`
	HeadFor int             `json:"head_for,omitempty"` // number of messages of the client that Head replaces

	Before   *Call          `json:"before,omitempty"`   // the earlier call whose conversation this one continues
	Cost     *economy.Money `json:"cost,omitempty"`     // at list prices; nil if the model has no price or the provider reported no usage
	Uncached *economy.Money `json:"uncached,omitempty"` // cost of the same call without a cache

	// Break is set if the call may have read less from the cache than it could. Its Call is the
	// number of earlier calls that were compared.
	Break *economy.Break `json:"break,omitempty"`
}

// A CallPart is a part of the sent body.
type CallPart struct {
	Kind   manifest.Kind `json:"kind"`  // frame, message, or stub, which is text of Carrel in place of messages
	Start  int           `json:"start"` // offset of the part in the body, in bytes
	Bytes  int           `json:"bytes"`
	Origin CallOrigin    `json:"origin"`           // before, client or carrel
	Before string        `json:"before,omitempty"` // id of the earlier call that sent the same part
	Chain  string        `json:"chain,omitempty"`  // chain over the messages up to the end of the part
}

// A CallOrigin says where a part of a sent body comes from.
type CallOrigin string

// The origins.
const (
	OriginBefore CallOrigin = "before" // an earlier call sent the same part
	OriginClient CallOrigin = "client" // the client sent it, and it is new
	OriginCarrel CallOrigin = "carrel" // Carrel put it in place of messages
)

// A Rewrite is the text that was sent to a model in place of messages of the
// client.
type Rewrite struct {
	Chain    digest.Digest     `json:"chain"` // chain over the client's messages, up to the last replaced one
	Kind     store.RewriteKind `json:"kind"`
	Epoch    int               `json:"epoch"`
	Messages int               `json:"messages"` // number of messages in the chain
	Data     []byte            `json:"data"`     // for a head, a JSON list of messages; otherwise one message
}

// A RewritesResult has the rewrites of a session, ordered by epoch, number of
// messages, kind and chain.
type RewritesResult struct {
	Rewrites []Rewrite `json:"rewrites"`
}

// A KeepRewriteRequest stores a rewrite before it is sent. It replaces the
// session's rewrite of the same kind and chain.
type KeepRewriteRequest struct {
	Session transcript.SessionID `json:"session"` // a session that is not stored begins without a conversation
	Rewrite
	Blocks []transcript.BlockID `json:"blocks,omitempty"` // blocks of the session from which the rewrite was made
}

// A KeepRewriteResult has the journal entry that records the rewrite.
type KeepRewriteResult struct {
	Op string `json:"op"`
}

// A NewEpochRequest asks for a new head: messages that are sent from now on
// in place of the messages of a request.
type NewEpochRequest struct {
	Name   string        `json:"name"`   // name of the conversation, from which its session's id is made; see [ImportRequest]
	Data   []byte        `json:"data"`   // body of the client's request; the caller must not change it, even after the call
	Format string        `json:"format"` // format of Data, as in [ImportRequest]
	Target Target        `json:"target,omitzero"`
	Window token.Count   `json:"window,omitempty"` // capacity of the model's context window; see [CompressRequest]
	Chain  digest.Digest `json:"chain"`            // chain over all messages of Data
	Epoch  int           `json:"epoch"`            // number of the new epoch, at least 1

	Compaction string `json:"compaction,omitempty"` // as in [ImportRequest]
}

// A NewEpochResult is a new head, already stored.
type NewEpochResult struct {
	Session  transcript.SessionID `json:"session"`
	Head     []byte               `json:"head"`           // a JSON list of messages
	Messages int                  `json:"messages"`       // number of client messages that Head replaces
	Before   token.Count          `json:"before"`         // tokens of the window
	After    token.Count          `json:"after"`          // tokens of the window
	Pass     string               `json:"pass,omitempty"` // journal entry of the compression; empty if the window fitted
	Op       string               `json:"op"`             // journal entry of the head
}

// A ReportRequest asks for a report of the calls to models.
type ReportRequest struct {
	Since time.Time `json:"since,omitzero"` // only calls begun at this time or later
}

// A ReportResult compares the requests of clients to models with the requests
// that Carrel sent in their place. Each session counts in Total and in one other tally: in Holdout
// if any of its calls is a holdout, otherwise in Managed if any is managed, otherwise in Observed.
type ReportResult struct {
	Since    time.Time     `json:"since,omitzero"` // as in the request
	First    time.Time     `json:"first,omitzero"` // when the first call was begun
	Last     time.Time     `json:"last,omitzero"`  // when the last call was begun
	Total    CallTally     `json:"total"`
	Managed  CallTally     `json:"managed"`
	Holdout  CallTally     `json:"holdout"` // sessions left alone, for comparison with Managed
	Observed CallTally     `json:"observed"`
	Reasons  []ReasonTally `json:"reasons"` // reasons of calls, the most frequent first

	Gaps int `json:"gaps"` // intents and outcomes that could not be recorded

	Would UnmanagedTally `json:"would"` // estimate for sessions that were not managed
}

// An UnmanagedTally sums the estimates of unmanaged calls; it is no promise.
type UnmanagedTally struct {
	Sessions int         `json:"sessions"` // with at least one estimate
	Calls    int         `json:"calls"`    // calls with an estimate and a usage of the provider
	Missing  int         `json:"missing"`  // calls of these sessions without an estimate or a usage
	Came     token.Count `json:"came"`     // tokens of the prompts of Calls, as sent
	Tokens   token.Count `json:"tokens"`   // tokens of their prompts, if managed
	Results  int         `json:"results"`  // tool results that would have been shortened

	Cost    economy.Money `json:"cost"`              // of all calls of these sessions with a price, in billionths of a dollar
	Managed *ManagedCost  `json:"managed,omitempty"` // their estimated cost if managed; nil if no call has a price
}

// A CallTally counts calls.
type CallTally struct {
	Sessions  int   `json:"sessions"` // number of sessions of the calls
	Calls     int   `json:"calls"`
	Managed   int   `json:"managed"`    // managed calls
	Done      int   `json:"done"`       // calls with a whole answer
	Failed    int   `json:"failed"`     // calls that were refused or whose answer was cut
	Refused   int   `json:"refused"`    // part of Failed with a status of 400 or more
	Unknown   int   `json:"unknown"`    // calls whose outcome was never reported
	Open      int   `json:"open"`       // calls that have not ended
	Epochs    int   `json:"epochs"`     // epochs that began with a head
	Bytes     int64 `json:"bytes"`      // size of the received bodies
	SentBytes int64 `json:"sent_bytes"` // size of the sent bodies
	Received  int64 `json:"received"`   // size of the answers

	Usage    Usage         `json:"usage"`
	Cost     economy.Money `json:"cost"`     // of calls whose model has a price, in billionths of a dollar, at list prices
	Unpriced int           `json:"unpriced"` // calls whose model has no price
	Models   []ModelTally  `json:"models"`   // by name
}

// A ModelTally sums the usage of the calls of one model.
type ModelTally struct {
	Model string `json:"model"`
	Calls int    `json:"calls"` // calls whose usage the provider reported
	Usage Usage  `json:"usage"`

	Cost economy.Money `json:"cost,omitempty"` // in billionths of a dollar; 0 if the model has no price
}

// A ReasonTally counts calls with the same reason.
type ReasonTally struct {
	Managed bool   `json:"managed"` // the calls were managed
	Reason  string `json:"reason"`
	Calls   int    `json:"calls"`
}
