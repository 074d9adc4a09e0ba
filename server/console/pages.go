package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// table returns the pages by the pattern of their path below [Root].
func (c *Console) table() map[string]*page {
	says := func(format string, names ...string) func(*visit) string {
		return func(v *visit) string {
			var args []any
			for _, n := range names {
				args = append(args, shellWord(v.value(n)))
			}
			return "carrel " + fmt.Sprintf(format, args...)
		}
	}
	return map[string]*page{
		"{$}":                       {"sessions", "Sessions", "sessions", showSessions, says("sessions")},
		"session/{session}":         {"session", "Session", "sessions", showSession, says("context %s", "session")},
		"session/{session}/window":  {"window", "The window", "sessions", showWindow, says("export %s --to anthropic", "session")},
		"session/{session}/journal": {"journal", "What happened", "sessions", showJournal, says("log --session %s", "session")},
		"session/{session}/plan":    {"plan", "Dry run", "sessions", showPlan, planCommand},
		"session/{session}/diff": {"diff", "What changed", "sessions", showDiff, func(v *visit) string {
			return "carrel context diff " + shellWord(v.value("session")) + " " + shellWord(cmp.Or(v.FormValue("from"), "pass")) + " " + shellWord(cmp.Or(v.FormValue("to"), "now"))
		}},
		"session/{session}/contract": {"contract", "Contract", "sessions", showContract, says("contract check %s", "session")},
		"session/{session}/quality":  {"quality", "Quality", "sessions", showQuality, qualityCommand},
		"call/{call}":                {"call", "Call", "calls", showCall, says("calls show %s", "call")},
		"manifest/{manifest}/diff":   {"manifest-diff", "Two contexts compared", "contexts", showManifestDiff, says("manifest diff %s %s", "manifest", "other")},
		"health":                     {"health", "Health", "health", showHealth, says("store info")},
		"block/{block}":              {"block", "Block", "sessions", showBlock, says("why %s", "block")},
		"search":                     {"search", "Search", "search", showSearch, says("search %s", "q")},
		"calls":                      {"calls", "Calls", "calls", showCalls, callsCommand},
		"contexts":                   {"contexts", "Contexts", "contexts", showContexts, says("manifest list")},
		"manifest/{manifest}":        {"manifest", "Context", "contexts", showManifest, says("manifest show %s", "manifest")},
		"review":                     {"review", "Memories that wait for a review", "review", showReview, says("review")},
		"cost": {"cost", "Cost", "cost", showCost, func(v *visit) string {
			if n := v.number("days"); n > 0 {
				return fmt.Sprintf("carrel cost --since %dd", min(n, mostDays))
			}
			return fmt.Sprintf("carrel cost --since %dd", costDays)
		}},
	}
}

// value returns the value of a name in the path or the query of a page.
func (v *visit) value(name string) string {
	if s := v.PathValue(name); s != "" {
		return s
	}
	return v.FormValue(name)
}

// shellWord returns a text quoted for a shell, if it needs quotes.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@%/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// number returns the number at a name of the query, or 0.
func (v *visit) number(name string) int {
	n, _ := strconv.Atoi(v.FormValue(name))
	return n
}

// pageSize is the number of lines in a page of a list.
const pageSize = 500

// cursor returns the cursor of the requested page of a list.
func (v *visit) cursor() api.Cursor { return api.Cursor{Limit: pageSize, After: v.FormValue("after")} }

func showSessions(v *visit) (any, error) {
	return v.engine.Sessions(v.Context(), v.scope, &carrel.SessionsRequest{Cursor: v.cursor()})
}

// session returns the id of the session of a page, whose URL may have the beginning of the id.
func (v *visit) session() (transcript.SessionID, error) {
	found, err := v.engine.FindSession(v.Context(), v.scope, &carrel.WordRequest{Word: v.value("session")})
	if err != nil {
		return "", err
	}
	return found.Session, nil
}

// sessionInfo returns the data for the head of the page of a session.
func (v *visit) sessionInfo() (*carrel.SessionInfo, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	return v.engine.Session(v.Context(), v.scope, &carrel.SessionRequest{Session: id})
}

// A sessionPage is the data of the page of a session.
type sessionPage struct {
	Info    *carrel.SessionInfo    `json:"session"`
	Large   bool                   `json:"large,omitempty"` // the session is large, and nobody asked for the rest of the page
	Context *carrel.ContextResult  `json:"context,omitempty"`
	Window  *carrel.MessagesResult `json:"messages,omitempty"`
	Bars    []bar                  `json:"-"`
	Chart   *callChart             `json:"-"` // nil if no call of it is recorded
	Live    string                 `json:"-"` // the state, which the script compares
}

func (p *sessionPage) title() string {
	return cmp.Or(p.Info.Title, "Session "+shortened(string(p.Info.Session)))
}

// largeSession is the number of blocks from which on a session is large. A page of a large
// session first shows only the head, because the rest requires reading all blocks. A
// visitor can ask for the rest.
const largeSession = 5000

// large reports whether a page should not read the blocks of a session.
func (v *visit) large(s *carrel.SessionInfo) bool {
	return s.Blocks >= largeSession && v.FormValue("all")+v.FormValue("after")+v.FormValue("message")+v.FormValue("from") == ""
}

func showSession(v *visit) (any, error) {
	info, err := v.sessionInfo()
	if err != nil {
		return nil, err
	}
	id, p := info.Session, &sessionPage{Info: info, Large: v.large(info)}
	if !p.Large {
		// In this order, since the list of blocks leaves what fills the window in the cache.
		if p.Window, err = v.engine.Messages(v.Context(), v.scope, &carrel.MessagesRequest{Session: id, Cursor: v.cursor()}); err != nil {
			return nil, err
		}
		if p.Context, err = v.engine.Context(v.Context(), v.scope, &carrel.ContextRequest{Session: id}); err != nil {
			return nil, err
		}
		p.Bars = barsOf(p.Context)
	}
	last, err := v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Session: id, Cursor: api.Cursor{Limit: 1}})
	if err != nil {
		return nil, err
	}
	calls, err := v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Session: id, Logged: true, Cursor: api.Cursor{Limit: chartCalls}})
	if err != nil {
		return nil, err
	}
	p.Chart, p.Live = chartOf(calls.Items, p.Context), stateOf(p.Info.Revision, last.Items)
	return p, nil
}

// stateOf returns a text that changes with a session and with its last call.
func stateOf(revision store.Revision, calls []carrel.Call) string {
	s := fmt.Sprint(revision)
	if len(calls) > 0 {
		s += fmt.Sprintf("-%d-%s", calls[0].Seq, calls[0].State)
	}
	return s
}

// A journalPage has the operations of a session.
type journalPage struct {
	*carrel.List[store.Entry]

	Session transcript.SessionID `json:"-"`
	Last    *store.Entry         `json:"-"` // the last operation, or nil
	Undo    string               `json:"-"` // id of the operation that an undo reverts, or empty
}

func showJournal(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	list, err := v.engine.Journal(v.Context(), v.scope, &carrel.JournalRequest{Session: id, Cursor: v.cursor()})
	if err != nil {
		return nil, err
	}
	p := &journalPage{List: list, Session: id}
	n := len(list.Items)
	if n == 0 {
		return p, nil
	}
	behind, err := carrel.Items(v.engine.Journal(v.Context(), v.scope, &carrel.JournalRequest{Session: id, Since: list.Items[n-1].Revision}))
	if err != nil {
		return nil, err
	}
	all := slices.Concat(list.Items, behind)
	p.Last, p.Undo = &all[len(all)-1], undoable(all)
	return p, nil
}

// undoable returns the id of the operation that an undo reverts, or "" if the end of a journal has
// none.
func undoable(end []store.Entry) string {
	undone := make(map[string]bool)
	for _, e := range slices.Backward(end) {
		switch e.Op {
		case "undo":
			var data struct {
				Undoes string `json:"undoes"`
			}
			if json.Unmarshal(e.Data, &data) == nil {
				undone[data.Undoes] = true
			}
		case "page", "page-by-hand", "discard", "pin", "unpin":
			if !undone[e.ID] {
				return e.ID
			}
		}
	}
	return ""
}

// turn waits until the caller may begin a large job. The visit has the context of the job from then
// on; release ends the job.
func (v *visit) turn() (release func(), err error) {
	if v.console.opts.Turns == nil {
		return func() {}, nil
	}
	job, release, err := v.console.opts.Turns.Take(v.Context(), v.grant.Actor)
	if err == nil {
		v.Request = v.WithContext(job)
	}
	return release, err
}

// A planPage shows the plan of a compression, which is not carried out.
type planPage struct {
	Session transcript.SessionID   `json:"session"`
	Target  string                 `json:"target"`
	Percent int                    `json:"-"` // position of the slider
	Tokens  string                 `json:"-"` // the target, if it does not come from the slider
	Blocks  int                    `json:"blocks"`
	Plan    *carrel.CompressResult `json:"plan,omitempty"`    // with one page of its decisions
	Problem *api.Problem           `json:"problem,omitempty"` // why there is no plan
	Asked   bool                   `json:"-"`
	Next    int                    `json:"next,omitempty"` // number of the first decision of the next page, from 1
}

// target returns the target of a dry run: a number of tokens, or a percentage, which a number from
// the slider is.
func (v *visit) target() string {
	if tokens := v.FormValue("tokens"); tokens != "" {
		return tokens
	}
	target := cmp.Or(v.FormValue("target"), "25%")
	if n, err := strconv.Atoi(target); err == nil && n > 0 && n <= 100 {
		target += "%"
	}
	return target
}

// promptPlan is the largest number of blocks of a session whose plan is made without a
// further request.
const promptPlan = 1000

func showPlan(v *visit) (any, error) {
	info, err := v.sessionInfo()
	if err != nil {
		return nil, err
	}
	p := &planPage{Session: info.Session, Blocks: info.Blocks, Target: v.target(), Percent: 25, Tokens: v.FormValue("tokens")}
	if share, ok := strings.CutSuffix(p.Target, "%"); ok {
		if n, err := strconv.Atoi(share); err == nil {
			p.Percent = n
		}
	}
	if p.Asked = v.FormValue("target")+v.FormValue("tokens") != "" || p.Blocks <= promptPlan; !p.Asked {
		return p, nil
	}
	target, err := api.ParseTarget(p.Target)
	if err != nil {
		return nil, &api.FieldError{Field: "target", Text: err.Error()}
	}
	release, err := v.turn()
	if err != nil {
		return nil, err
	}
	defer release()
	p.Plan, err = v.engine.Compress(v.Context(), v.scope, &carrel.CompressRequest{Session: p.Session, Target: target, DryRun: true})
	if err != nil {
		p.Problem = api.NewProblem(err)
		return p, nil
	}
	p.Plan.Decisions, p.Next = pageOf(p.Plan.Decisions, v.number("line"))
	return p, nil
}

func planCommand(v *visit) string {
	return "carrel compress " + shellWord(v.value("session")) + " --target " + shellWord(v.target()) + " --dry-run"
}

// pageOf returns the page of a list that begins with the entry with the given number, from 1. It
// also returns the number of the first entry of the next page, or 0.
func pageOf[T any](all []T, number int) (page []T, next int) {
	from := min(max(number, 1)-1, len(all))
	to := min(from+pageSize, len(all))
	if to < len(all) {
		next = to + 1
	}
	return all[from:to], next
}

// A blockPage is the data of the page of a block.
type blockPage struct {
	Why      *carrel.WhyResult `json:"why"`
	Original string            `json:"original"`
	Size     int               `json:"size"`
	Cut      bool              `json:"cut,omitempty"` // Original is only its beginning
	Pieces   []piece           `json:"-"`             // Original, cut where a unit of the account begins
	Begin    []int             `json:"-"`             // offset in Original at which each unit begins, or -1
}

func (p *blockPage) title() string { return "Block " + shortened(string(p.Why.Block)) }

// A piece is a part of an original.
type piece struct {
	At   int // offset of the piece if a unit begins here, or -1
	Text string
}

// longestLine returns the longest line of a unit, to find the unit in the original. It leaves out
// the space and the line number before the line, because the original may be indented in another
// way. Some lines of a unit may not occur in the original.
func longestLine(unit string) (longest string) {
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		if number, rest, ok := strings.Cut(line, ": "); ok && strings.Trim(number, "0123456789") == "" {
			line = rest
		}
		if len(line) > len(longest) {
			longest = line
		}
	}
	return longest
}

// cut cuts a text at the beginning of each unit that it finds in the text. It
// returns the pieces, and the offset of each unit, or -1 for a unit that it did
// not find. Of units with the same line each has its own occurrence, as long as there are any.
func cut(text string, units []api.WhyUnit) ([]piece, []int) {
	begin, taken := make([]int, len(units)), make(map[int]bool)
	places := make(map[string]int) // the last place of each line
	for i := range units {
		line := longestLine(units[i].Text)
		last, known := places[line]
		begin[i] = strings.Index(text, line)
		if known && last >= 0 {
			begin[i] = last
			if next := strings.Index(text[last+len(line):], line); next >= 0 {
				begin[i] += len(line) + next
			}
		}
		places[line] = begin[i]
		if begin[i] >= 0 {
			taken[begin[i]] = true
		}
	}
	var pieces []piece
	last, mark := 0, -1
	for _, at := range slices.Sorted(maps.Keys(taken)) {
		if at > last {
			pieces = append(pieces, piece{mark, text[last:at]})
		}
		last, mark = at, at
	}
	return append(pieces, piece{mark, text[last:]}), begin
}

// shownBytes is the most bytes of an original on a page.
const shownBytes = 256 << 10

func showBlock(v *visit) (any, error) {
	p := &blockPage{}
	var err error
	if p.Why, err = v.engine.Why(v.Context(), v.scope, &carrel.BlockRequest{Block: v.value("block")}); err != nil {
		return nil, err
	}
	got, err := v.engine.Recall(v.Context(), v.scope, &carrel.RecallRequest{Block: string(p.Why.Block), Text: true})
	if err != nil {
		return nil, err
	}
	p.Original, p.Size = string(got.Data), got.Size
	if p.Cut = len(p.Original) > shownBytes; p.Cut {
		p.Original = strings.ToValidUTF8(p.Original[:shownBytes], "")
	}
	var units []api.WhyUnit
	if p.Why.Account != nil {
		units = p.Why.Account.Units
	}
	p.Pieces, p.Begin = cut(p.Original, units)
	return p, nil
}

// A searchPage is the data of the page of a search.
type searchPage struct {
	Query string         `json:"query"`
	Found []carrel.Found `json:"found"`
	Full  bool           `json:"-"` // there may be more
}

// mostFound is the most blocks that a search shows.
const mostFound = 50

func showSearch(v *visit) (any, error) {
	p := &searchPage{Query: v.FormValue("q"), Found: []carrel.Found{}}
	if p.Query == "" {
		return p, nil
	}
	list, err := v.engine.Search(v.Context(), v.scope, &carrel.SearchRequest{Query: p.Query, Limit: mostFound})
	if err != nil {
		return nil, err
	}
	p.Found, p.Full = list.Items, len(list.Items) == mostFound
	return p, nil
}

// A callsPage has calls, of all sessions or of one.
type callsPage struct {
	*carrel.List[carrel.Call]

	Session transcript.SessionID `json:"-"` // whose calls they are; empty for those of all sessions
}

func showCalls(v *visit) (_ any, err error) {
	p := &callsPage{}
	if v.FormValue("session") != "" {
		if p.Session, err = v.session(); err != nil {
			return nil, err
		}
	}
	p.List, err = v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Session: p.Session, Logged: true, Cursor: v.cursor()})
	return p, err
}

func callsCommand(v *visit) string {
	if s := v.FormValue("session"); s != "" {
		return "carrel calls " + shellWord(s)
	}
	return "carrel calls"
}

func showContexts(v *visit) (any, error) {
	return v.engine.Manifests(v.Context(), v.scope, &carrel.ManifestsRequest{Cursor: v.cursor()})
}

// A reviewPage is a page of the memories that wait.
type reviewPage struct {
	Items []carrel.ReviewEntry `json:"items"`
	All   int                  `json:"all"`
	Next  int                  `json:"next,omitempty"` // number of the first memory of the next page, from 1
}

func showReview(v *visit) (any, error) {
	all, err := carrel.Items(v.engine.Reviews(v.Context(), v.scope, nil))
	p := &reviewPage{All: len(all)}
	p.Items, p.Next = pageOf(all, v.number("line"))
	return p, err
}

// A costPage has the cost of the calls of the last days.
type costPage struct {
	*carrel.CostResult

	Days    int           `json:"days"`
	More    int           `json:"more,omitempty"`          // sessions that are not on the page, which cost less
	NoUsage int           `json:"all_unmetered,omitempty"` // sessions that are not counted because no usage is recorded; Unmetered has the first
	Ranges  []int         `json:"-"`                       // other numbers of days
	Chart   *dayChart     `json:"-"`
	Breaks  int           `json:"-"` // calls that missed the cache
	Extra   economy.Money `json:"-"` // cost of these calls in addition to that of reading the cache
}

// A page of costs covers few days unless more are asked for, because all their calls are read.
const (
	costDays     = 7
	mostDays     = 3650
	costSessions = 100 // on the page
)

func showCost(v *visit) (any, error) {
	p := &costPage{Days: costDays, Ranges: []int{1, costDays, 30, 90, 365}}
	if n := v.number("days"); n > 0 {
		p.Days = min(n, mostDays)
	}
	release, err := v.turn()
	if err != nil {
		return nil, err
	}
	defer release()
	now := v.console.opts.Now()
	res, err := v.engine.Cost(v.Context(), v.scope, &carrel.CostRequest{Since: now.Add(-time.Duration(p.Days) * 24 * time.Hour)})
	if err != nil {
		return nil, err
	}
	p.CostResult, p.Chart = res, daysOf(res.Total.Days, p.Days, now)
	for i := range res.Total.Causes {
		p.Breaks += res.Total.Causes[i].Breaks
		p.Extra += res.Total.Causes[i].Extra
	}
	if n := len(res.Sessions); n > costSessions {
		p.More, res.Sessions = n-costSessions, res.Sessions[:costSessions]
	}
	p.NoUsage = len(res.Unmetered)
	res.Unmetered = res.Unmetered[:min(p.NoUsage, costSessions)]
	return p, nil
}

// changes returns the actions of forms by the pattern of their path below [Root].
func (c *Console) changes() map[string]action {
	return map[string]action{
		"block/{block}/pin":      pinning(false),
		"block/{block}/unpin":    pinning(true),
		"session/{session}/undo": undo,
		"review/{id}":            decide,
	}
}

func pinning(lift bool) action {
	return func(v *visit) (string, error) {
		block := v.PathValue("block")
		_, err := v.engine.Pin(v.Context(), v.scope, &carrel.PinRequest{Blocks: []string{block}, Unpin: lift})
		return v.console.link(v.scope, pathOf("block", block)), err
	}
}

func undo(v *visit) (string, error) {
	id, err := v.session()
	if err != nil {
		return "", err
	}
	_, err = v.engine.Undo(v.Context(), v.scope, &carrel.UndoRequest{Session: id, Op: v.PostFormValue("op")})
	return v.console.link(v.scope, pathOf("session", id)), err
}

func decide(v *visit) (string, error) {
	if d := v.PostFormValue("decision"); d != "approve" && d != "reject" {
		return "", &api.FieldError{Field: "decision", Text: "is neither approve nor reject"}
	}
	_, err := v.engine.Decide(v.Context(), v.scope, &carrel.DecideRequest{
		ID: v.PathValue("id"), Approve: v.PostFormValue("decision") == "approve", Reason: v.PostFormValue("reason"),
	})
	return v.console.link(v.scope, "review"), err
}
