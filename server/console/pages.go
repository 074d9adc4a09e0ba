package console

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
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
		"session/{session}/window":  {"window", "Window", "sessions", showWindow, says("export %s --to anthropic", "session")},
		"session/{session}/journal": {"journal", "What happened", "sessions", showJournal, says("log --session %s", "session")},
		"session/{session}/plan":    {"plan", "Dry run", "sessions", showPlan, says("compress %s --target %s --dry-run", "session", "target")},
		"session/{session}/diff": {"diff", "Difference", "sessions", showDiff, func(v *visit) string {
			return "carrel context diff " + shellWord(v.value("session")) + " " + shellWord(cmp.Or(v.FormValue("from"), "pass")) + " " + shellWord(cmp.Or(v.FormValue("to"), "now"))
		}},
		"session/{session}/contract": {"contract", "Contract", "sessions", showContract, says("contract check %s", "session")},
		"session/{session}/quality":  {"quality", "Quality", "sessions", showQuality, says("probe report %s", "session")},
		"call/{call}":                {"call", "Call", "calls", showCall, says("calls show %s", "call")},
		"manifest/{manifest}/diff":   {"manifest-diff", "Difference", "contexts", showManifestDiff, says("manifest diff %s %s", "manifest", "other")},
		"health":                     {"health", "Health", "health", showHealth, says("store info")},
		"block/{block}":              {"block", "Block", "sessions", showBlock, says("why %s", "block")},
		"search":                     {"search", "Search", "search", showSearch, says("search %s", "q")},
		"calls":                      {"calls", "Calls", "calls", showCalls, says("calls")},
		"contexts":                   {"contexts", "Contexts", "contexts", showContexts, says("manifest list")},
		"manifest/{manifest}":        {"manifest", "Manifest", "contexts", showManifest, says("manifest show %s", "manifest")},
		"review":                     {"review", "Memory", "review", showReview, says("review")},
		"cost":                       {"cost", "Cost", "cost", showCost, says("cost --since 30d")},
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

// A sessionPage is the data of the page of a session.
type sessionPage struct {
	Context *carrel.ContextResult  `json:"context"`
	Window  *carrel.MessagesResult `json:"messages"`
	Bars    []bar                  `json:"-"`
	Live    string                 `json:"-"` // the revision, which the script compares
}

func showSession(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	p := &sessionPage{}
	if p.Context, err = v.engine.Context(v.Context(), v.scope, &carrel.ContextRequest{Session: id}); err != nil {
		return nil, err
	}
	p.Window, err = v.engine.Messages(v.Context(), v.scope, &carrel.MessagesRequest{Session: id, Cursor: v.cursor()})
	p.Bars = barsOf(p.Context)
	p.Live = fmt.Sprint(p.Context.Revision)
	return p, err
}

func showJournal(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	return v.engine.Journal(v.Context(), v.scope, &carrel.JournalRequest{Session: id, Cursor: v.cursor()})
}

// A planPage shows the plan of a compression, which is not carried out.
type planPage struct {
	Session transcript.SessionID   `json:"session"`
	Target  string                 `json:"target"`
	Percent int                    `json:"-"` // position of the slider
	Context *carrel.ContextResult  `json:"context"`
	Plan    *carrel.CompressResult `json:"plan,omitempty"`
	Problem *api.Problem           `json:"problem,omitempty"` // why there is no plan
}

func showPlan(v *visit) (any, error) {
	id, err := v.session()
	if err != nil {
		return nil, err
	}
	p := &planPage{Session: id, Target: cmp.Or(v.FormValue("tokens"), v.FormValue("target"), "25%"), Percent: 25}
	if n, err := strconv.Atoi(strings.TrimSuffix(p.Target, "%")); err == nil && n > 0 && n <= 100 {
		p.Percent, p.Target = n, fmt.Sprint(n, "%") // from the slider
	}
	if p.Context, err = v.engine.Context(v.Context(), v.scope, &carrel.ContextRequest{Session: id}); err != nil {
		return nil, err
	}
	target, err := api.ParseTarget(p.Target)
	if err != nil {
		return nil, &api.FieldError{Field: "target", Text: err.Error()}
	}
	p.Plan, err = v.engine.Compress(v.Context(), v.scope, &carrel.CompressRequest{Session: id, Target: target, DryRun: true})
	if err != nil {
		p.Problem = api.NewProblem(err)
	}
	return p, nil
}

// A blockPage is the data of the page of a block.
type blockPage struct {
	Why      *carrel.WhyResult `json:"why"`
	Original string            `json:"original"`
	Size     int               `json:"size"`
	Cut      bool              `json:"cut,omitempty"` // Original is only its beginning
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
	return p, nil
}

// A searchPage is the data of the page of a search.
type searchPage struct {
	Query string         `json:"query"`
	Found []carrel.Found `json:"found"`
}

func showSearch(v *visit) (any, error) {
	p := &searchPage{Query: v.FormValue("q"), Found: []carrel.Found{}}
	if p.Query == "" {
		return p, nil
	}
	list, err := v.engine.Search(v.Context(), v.scope, &carrel.SearchRequest{Query: p.Query, Limit: 50})
	if err != nil {
		return nil, err
	}
	p.Found = list.Items
	return p, nil
}

func showCalls(v *visit) (any, error) {
	req := &carrel.CallsRequest{Cursor: v.cursor()}
	if v.FormValue("session") != "" {
		id, err := v.session()
		if err != nil {
			return nil, err
		}
		req.Session = id
	}
	return v.engine.Calls(v.Context(), v.scope, req)
}

func showContexts(v *visit) (any, error) {
	return v.engine.Manifests(v.Context(), v.scope, &carrel.ManifestsRequest{Cursor: v.cursor()})
}

func showReview(v *visit) (any, error) { return v.engine.Reviews(v.Context(), v.scope, nil) }

func showCost(v *visit) (any, error) {
	return v.engine.Cost(v.Context(), v.scope, &carrel.CostRequest{Since: v.console.opts.Now().Add(-30 * 24 * time.Hour)})
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
		return v.console.link(v.scope, "block/"+block), err
	}
}

func undo(v *visit) (string, error) {
	id, err := v.session()
	if err != nil {
		return "", err
	}
	_, err = v.engine.Undo(v.Context(), v.scope, &carrel.UndoRequest{Session: id, Op: v.PostFormValue("op")})
	return v.console.link(v.scope, "session/"+string(id)), err
}

func decide(v *visit) (string, error) {
	_, err := v.engine.Decide(v.Context(), v.scope, &carrel.DecideRequest{
		ID: v.PathValue("id"), Approve: v.PostFormValue("decision") == "approve", Reason: v.PostFormValue("reason"),
	})
	return v.console.link(v.scope, "review"), err
}
