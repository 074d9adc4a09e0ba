package console

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A callPage is the data of the page of a call.
type callPage struct {
	*carrel.CallResult

	Head  []shownMessage `json:"-"` // the head that was sent in place of messages, decoded
	Bars  []bar          `json:"-"`
	Named bool           `json:"-"` // there is room for the number of each part
	Prior string         `json:"-"` // id or number of the call with the number before, or empty
	Next  string         `json:"-"` // id or number of the call with the number after, or empty
}

func (p *callPage) title() string {
	if p.Logged {
		return fmt.Sprintf("Call %d of a client's log", p.Seq)
	}
	return fmt.Sprintf("Call %d", p.Seq)
}

// beside sets the calls beside the call: those in the same log, or in the record of the proxy.
func (p *callPage) beside(v *visit) error {
	of := "" // what the ids of the calls in the same log begin with
	if p.Logged {
		of = strings.TrimSuffix(p.ID, strconv.FormatInt(p.Seq, 10))
	}
	next := of + strconv.FormatInt(p.Seq+1, 10)
	if p.Seq > 1 {
		p.Prior = of + strconv.FormatInt(p.Seq-1, 10)
	}
	if p.Logged {
		_, err := v.engine.Call(v.Context(), v.scope, &carrel.IDRequest{ID: next})
		switch {
		case err == nil:
			p.Next = next
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return nil
	}
	last, err := v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 1}})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(last.Items, func(c carrel.Call) bool { return p.Seq < c.Seq }) {
		p.Next = next
	}
	return nil
}

// BeforeSeq returns the number of the call that this one goes on from, or 0.
func (p *callPage) BeforeSeq() int64 {
	if p.Before == nil {
		return 0
	}
	return p.Before.Seq
}

// Number returns the number of the call that this one goes on from, if that call has the
// given id, or 0.
func (p *callPage) Number(id string) int64 {
	if p.Before == nil || p.Before.ID != id {
		return 0
	}
	return p.Before.Seq
}

// mostParts is the largest number of parts for which the drawing of a request has room for
// their numbers.
const mostParts = 30

func showCall(v *visit) (any, error) {
	res, err := v.engine.Call(v.Context(), v.scope, &carrel.IDRequest{ID: v.PathValue("call")})
	if err != nil {
		return nil, err
	}
	p := &callPage{CallResult: res, Head: headOf(res.Dialect, res.Head)}
	if err := p.beside(v); err != nil {
		return nil, err
	}
	for i := range res.Segments {
		s := &res.Segments[i]
		from, to := thousandth(s.Start, res.SentBytes), thousandth(s.Start+s.Bytes, res.SentBytes)
		p.Bars = append(p.Bars, bar{Name: partWords(s.Kind) + ", " + originWords(s.Origin), Class: "from-" + string(s.Origin), Tokens: token.Count(s.Bytes), From: from, Width: max(1, to-from)})
	}
	if p.Named = len(p.Bars) <= mostParts; p.Named {
		spread(p.Bars)
	}
	return p, nil
}

// thousandth returns part/whole in thousandths.
func thousandth(part, whole int) int { return int(1000 * int64(part) / int64(max(whole, 1))) }

// partWords returns the words for the kind of a part of a sent request.
func partWords(k manifest.Kind) string {
	return cmp.Or(map[manifest.Kind]string{manifest.KindFrame: "system text and tools", manifest.KindStub: "in place of messages"}[k], "messages")
}

// originWords returns the words for the origin of a part of a sent request.
func originWords(o api.CallOrigin) string {
	return map[api.CallOrigin]string{
		api.OriginBefore: "sent by the call before, too", api.OriginClient: "new from the client", api.OriginCarrel: "written by Carrel in place of messages",
	}[o]
}

// causeWords returns the words for the cause of a break of the cache.
func causeWords(c any) string {
	return map[string]string{
		"model": "another model was asked", "compaction": "the client compacted its history", "frame": "the tools or the system text changed",
		"edited": "a message that was sent before was changed or left out", "expired": "the call came after the provider had dropped what it kept",
		"epoch": "a pass by Carrel made the window smaller", "unknown": "no cause is recorded, so the provider may have dropped what it kept",
	}[fmt.Sprint(c)]
}

// A diffPage compares two moments of a session.
type diffPage struct {
	*carrel.SessionDelta

	Moments []store.Entry `json:"-"` // to choose from, the newest first
	Left    []blockLine   `json:"-"` // blocks with less text in the window than before
	Came    []blockLine   `json:"-"` // blocks with more text
	Other   []blockLine   `json:"-"` // blocks with another pin or form
	A, B    string        `json:"-"`
	All     int           `json:"-"` // blocks of the session

	Large *carrel.SessionInfo `json:"large,omitempty"` // the session, if it is large and nobody asked for the rest of the page
}

// A blockLine is a line about a changed block.
type blockLine = api.BlockDelta

func showDiff(v *visit) (any, error) {
	info, err := v.sessionInfo()
	if err != nil {
		return nil, err
	}
	id := info.Session
	if v.large(info) {
		return &diffPage{Large: info}, nil
	}
	p := &diffPage{All: info.Blocks, A: cmp.Or(v.FormValue("from"), string(api.MomentPass)), B: cmp.Or(v.FormValue("to"), string(api.MomentNow))}
	if p.SessionDelta, err = v.engine.DiffSession(v.Context(), v.scope, &carrel.DiffSessionRequest{Session: id, From: p.A, To: p.B}); err != nil {
		return nil, err
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		switch {
		case b.After < b.Before:
			p.Left = append(p.Left, *b)
		case b.After > b.Before:
			p.Came = append(p.Came, *b)
		default:
			p.Other = append(p.Other, *b)
		}
	}
	entries, err := carrel.Items(v.engine.Journal(v.Context(), v.scope, &carrel.JournalRequest{Session: id}))
	if err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	for i := range entries {
		entries[i].Data = nil
	}
	p.Moments = entries[:min(len(entries), pageSize)]
	return p, nil
}

func showManifestDiff(v *visit) (any, error) {
	return v.engine.DiffManifests(v.Context(), v.scope, &carrel.DiffRequest{ID: v.PathValue("manifest"), Other: v.FormValue("other")})
}

// A contractPage is the contract of a session, and the result of running it.
type contractPage struct {
	Session transcript.SessionID `json:"session"`
	Lines   []contractLine       `json:"statements"`
	Guards  int                  `json:"guards"`
	Report  *contract.Report     `json:"report"`
	Next    int                  `json:"-"` // first line of the next page
}

// A contractLine is a statement of a contract.
type contractLine struct {
	Number  int    `json:"line"`
	Text    string `json:"text"`
	Guard   bool   `json:"guard,omitempty"`   // the statement is a rule
	Failure string `json:"failure,omitempty"` // why the rule is broken
}

// guards matches a line of a contract that requires or forbids something, in a handler or not, of
// each member of a list or not.
var guards = lazy.Regexp(`^\s*(?:each\s+(?:the\s+)?\S+\s+)?(?:require|forbid)\s`)

func showContract(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	p := &contractPage{Session: id, Lines: []contractLine{}}
	res, err := v.engine.Contract(v.Context(), v.scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		return nil, err
	}
	if p.Report, err = v.engine.CheckContract(v.Context(), v.scope, &carrel.SessionRequest{Session: id}); err != nil {
		return nil, err
	}
	failures := make(map[int]string)
	for _, f := range p.Report.Failures {
		failures[f.Line] = f.Text
	}
	from := max(v.number("line"), 1)
	for i, text := range res.Statements {
		n := i + 1
		guard := guards.Get().MatchString(text)
		if guard {
			p.Guards++
		}
		if n < from {
			continue
		}
		if len(p.Lines) == pageSize {
			p.Next = cmp.Or(p.Next, n)
			continue
		}
		p.Lines = append(p.Lines, contractLine{Number: n, Text: text, Guard: guard, Failure: failures[n]})
	}
	return p, nil
}

// A qualityPage has the probe results of a session's passes, and of its window now.
type qualityPage struct {
	Report *carrel.ProbeReport     `json:"report"`
	Last   *carrel.ProbeRound      `json:"-"`             // the last that was not undone, or nil
	Now    *carrel.RunProbesResult `json:"now,omitempty"` // if the request asks for it
}

func showQuality(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	p := &qualityPage{}
	if p.Report, err = v.engine.ProbeReport(v.Context(), v.scope, &carrel.SessionRequest{Session: id}); err != nil {
		return nil, err
	}
	for i := range p.Report.Rounds {
		if r := &p.Report.Rounds[i]; r.Probes != nil && !r.Undone {
			p.Last = r.Probes
		}
	}
	if v.FormValue("ask") == "" {
		return p, nil
	}
	release, err := v.turn()
	if err != nil {
		return nil, err
	}
	defer release()
	p.Now, err = v.engine.RunProbes(v.Context(), v.scope, &carrel.RunProbesRequest{Session: id})
	return p, err
}

func qualityCommand(v *visit) string {
	if v.FormValue("ask") != "" {
		return "carrel probe run " + shellWord(v.value("session"))
	}
	return "carrel probe report " + shellWord(v.value("session"))
}

// A healthPage is the state of the server and its store.
type healthPage struct {
	Version string       `json:"version"`
	Started time.Time    `json:"started"`
	Up      string       `json:"up"`              // since Started, such as "1h30m0s"
	Node    *ServerState `json:"node,omitempty"`  // nil for a server of the console alone
	Store   *store.Info  `json:"store,omitempty"` // nil if the caller may not observe
	Calls   int          `json:"calls"`           // number of the scope's latest calls that were examined
	Open    int          `json:"open"`            // of these, calls without an outcome
	Unknown int          `json:"unknown"`         // calls whose outcome is unknown
	Failed  int          `json:"failed"`
	Gaps    int          `json:"gaps"`    // intents and outcomes that could not be recorded
	Reviews int          `json:"reviews"` // memories that wait for a person
}

// healthCalls is the number of calls that the page of health looks at.
const healthCalls = 100

// Well reports whether the page shows nothing that needs the attention of a
// person.
func (p *healthPage) Well() bool {
	return (p.Node == nil || p.Node.Problem == "") && p.Gaps+p.Failed+p.Unknown == 0
}

func showHealth(v *visit) (any, error) {
	c := v.console
	p := &healthPage{Version: c.opts.Version, Started: c.started, Up: c.opts.Now().Sub(c.started).Round(time.Second).String()}
	if c.opts.Node != nil {
		p.Node = c.opts.Node(v.Context())
	}
	if v.console.opts.Store != nil && slices.Contains(v.grant.Permissions, governance.Observe) {
		info, err := v.console.opts.Store(v.Context())
		if err != nil {
			return nil, err
		}
		info.Path = "" // the path of the store is not shown
		p.Store = info
	}
	calls, err := v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: healthCalls}})
	if err != nil {
		return nil, err
	}
	p.Calls = len(calls.Items)
	for i := range calls.Items {
		c := &calls.Items[i]
		p.Gaps += c.Gaps
		switch c.State {
		case store.CallIntent:
			p.Open++
		case store.CallUnknown:
			p.Unknown++
		case store.CallFailed:
			p.Failed++
		case store.CallDone:
		}
	}
	waiting, err := carrel.Items(v.engine.Reviews(v.Context(), v.scope, nil))
	p.Reviews = len(waiting)
	return p, err
}

// changeWords returns the words for a difference between two manifests.
func changeWords(c *manifest.ItemChange) string {
	switch before, after := c.Before, c.After; {
	case after == nil:
		return cmp.Or(string(c.Reason), "no longer a candidate")
	case before == nil:
		return string(c.Reason)
	case before.Form != after.Form:
		return "now " + string(after.Form) + ", was " + string(before.Form)
	case before.Bytes != after.Bytes:
		return "other text"
	}
	return "sealed anew"
}

// becauseWords returns the words for the reason why a block changed.
func becauseWords(b blockLine) string {
	switch {
	case b.Rule != "":
		return "rule " + string(b.Rule)
	case b.Step == "account":
		return "worth too little to stay"
	case b.Step != "":
		return "step of the pass: " + string(b.Step)
	case b.Pinned != nil:
		return "a pin"
	}
	return "its score"
}
