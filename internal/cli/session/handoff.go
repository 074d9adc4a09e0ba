package session

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/transcript"
)

func newHandoff(j *job.Job) *cobra.Command {
	req := &carrel.HandoffRequest{}
	var to job.Output
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "handoff [SESSION] [--for WHO] [--next T] [--notes T] [--json [--strict]] [-o FILE|DIR]",
		Short: "Make a packet with which another agent goes on",
		Long: `Handoff prints a packet for another agent that continues a conversation: goal and
state, sources with their degree of verification, decisions, inferences, open questions, the
user's corrections in the user's words, work done and not done, and claims that must not be made.
It comes from the conversation, its contract and the journal, and needs no model.

It is Markdown with fifteen sections. With --json it is JSON without a key for the schema; "carrel
debug schema handoff" describes it. --strict omits the keys that the published schema of packets
does not have (file name, permalink, list of files), for readers that refuse unknown keys. In a
folder the file is named by date and session. "carrel help handoffs" says more.`,
		Example: `  carrel handoff --for reviewer -o .
  carrel handoff --json | carrel debug schema check handoff -
  carrel handoff --json --strict > packet.json
  carrel handoff check handoff_2026_02_03_lamp.md --session @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Strict && j.JSON == "" {
				return out.Usagef("--strict: needs --json: the published schema describes the JSON output")
			}
			if err := wholeTo(j, to); err != nil {
				return err
			}
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Handoff(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				for _, f := range res.Findings {
					j.Note("warning: %s", f)
				}
				if len(res.LeftOut) > 0 {
					j.Note("left out, as the published schema lacks it: %s", strings.Join(res.LeftOut, ", "))
				}
				return printPacket(j, res, to)
			})
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&req.For, "for", "", "`recipient`; any agent by default")
	f.StringVar(&req.By, "by", "", "`sender`; the user by default")
	f.StringVar(&req.Next, "next", "", "recommended next action, in a `text`; the last step on record by default")
	f.StringVar(&req.Notes, "notes", "", "`text` for the recipient")
	f.StringVar(&req.Domain, "domain", "", "`word` that the file's name begins with")
	f.StringVar(&req.Title, "title", "", "`words` at the end of the file name; by default the session's title")
	f.BoolVar(&req.Strict, "strict", false, "with --json: only the keys of the published schema")
	job.TakesOutput(cmd, &to, "write to `file`, or to a folder under the packet's own name; - is standard output")
	cmd.AddCommand(newHandoffCheck(j))
	return cmd
}

// printPacket prints a packet or writes it to a file.
func printPacket(j *job.Job, res *carrel.HandoffResult, to job.Output) error {
	packet := res.Packet
	text := []byte(packet.Markdown())
	if j.JSON != "" {
		if !to.ToFile() {
			return j.Result("", packet, nil)
		}
		var err error
		if text, err = packet.JSON(); err != nil {
			return err
		}
	}
	if to.File == "" {
		return j.Result("", nil, func(p *out.Page) { p.Text(string(text)) })
	}
	if fi, err := os.Stat(j.Path(to.File)); err == nil && fi.IsDir() {
		name := res.File
		if j.JSON != "" {
			name = strings.TrimSuffix(name, ".md") + ".json"
		}
		to.File = filepath.Join(to.File, name)
	}
	if err := j.Write(to, text); err != nil {
		return err
	}
	if to.ToFile() {
		j.Note("wrote %s: %s bytes", to.File, out.Thousands(len(text)))
	}
	return nil
}

func newHandoffCheck(j *job.Job) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "check FILE|- [--session S]",
		Short: "Tell whether a packet is honest",
		Long: `Check checks a packet, in Markdown or JSON, by eight rules: a linked source is not
called read, an assumption not a decision, an open point not done; there is no hidden reasoning
and no promise of access; corrections are complete and in the user's words; doubts are stated first, and
each claim states how certain it is. With --session the packet is compared with the record of
that session. If a rule is broken, the exit code is 1; warnings leave it at 0.`,
		Example: `  carrel handoff check handoff_2026_02_03_lamp.md
  carrel handoff | carrel handoff check - --session @last`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			value := &checkedPacket{File: args[0]}
			req := &carrel.CheckHandoffRequest{Name: args[0], Data: data}
			check := func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				value.HandoffResult, err = a.CheckHandoff(ctx, a.Scope, req)
				return err
			}
			if session == "" {
				err = withEmptyStore(j, func(a *job.Access) error { return check(a, "") })
			} else {
				err = (&job.SessionArg{Word: session}).On(ctx, j, "", nil, check)
			}
			if err != nil {
				return err
			}
			value.OK = !anyError(value.Findings)
			err = j.Result("handoff-check", value, value.print)
			if err == nil && !value.OK {
				return out.ErrNo
			}
			return err
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`session` to compare it with")
	j.OfferSessions(cmd, "session")
	return cmd
}

// withEmptyStore calls the function do with an empty store in memory.
func withEmptyStore(j *job.Job, do func(a *job.Access) error) error {
	settings, err := j.Settings()
	if err != nil {
		return err
	}
	return j.Over(config.Scratch(), settings, do)
}

// A checkedPacket is the result of checking a packet against the honesty rules.
type checkedPacket struct {
	*carrel.HandoffResult
	File string `json:"file"` // name of the file with the packet
	OK   bool   `json:"ok"`   // no finding is an error
}

func anyError(findings []handoff.Finding) bool {
	for _, f := range findings {
		if f.Error {
			return true
		}
	}
	return false
}

func (c *checkedPacket) print(p *out.Page) {
	printFindings(p, c.Findings)
	switch n := out.Count(len(handoff.Rules()), "rule"); {
	case !c.OK:
	case c.Session != "":
		p.Line("ok: %s, and the record of session %s", n, out.Visible(out.Short(c.Session)))
	default:
		p.Line("ok: %s; give --session to compare it with a session", n)
	}
}

// printFindings lists the findings of the honesty rules.
func printFindings(p *out.Page, findings []handoff.Finding) {
	t := &out.Table{Head: []string{"", "rule", "section", "entry", "problem"}, Whole: true}
	for _, f := range findings {
		word, entry := "warning", f.Entry
		if f.Error {
			word = "error"
		}
		if p.TTY {
			entry = out.Cut(out.Visible(entry), max(p.Width/3, 20))
		}
		t.Add(word, string(f.Rule), f.Section.Title(), entry, f.Text)
	}
	if len(findings) > 0 {
		p.Table(t)
	}
}

func newAccept(j *job.Job) *cobra.Command {
	req := &carrel.AcceptRequest{}
	cmd := &cobra.Command{
		Use:   "accept FILE|-",
		Short: "Begin a conversation with a packet from another agent",
		Long: `Accept begins a conversation with a packet, in Markdown or JSON: its first message
is the packet, and its contract inherits the packet's decisions, corrections, open questions and
verified claims. A compression cuts the packet to some of its lines only if the budget is too
small for it; carrel recall then prints it whole. Violations of the rules of honesty are listed as
warnings. A packet is accepted only once.`,
		Example: `  carrel accept handoff_2026_02_03_lamp.md
  carrel handoff | ssh other.example carrel accept -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			if _, err := handoff.Parse(args[0], data); err != nil {
				return err // do not create a store for an invalid packet
			}
			req.Name, req.Data = args[0], data
			ctx := cmd.Context()
			return j.With(ctx, !req.DryRun, func(a *job.Access) error {
				res, err := a.Accept(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				for _, f := range res.Findings {
					j.Note("warning: %s", f)
				}
				value := newAcceptance(res)
				return j.Result("accept", value, func(p *out.Page) { value.print(p, req.DryRun) })
			})
		},
	}
	job.Writes(cmd, &req.DryRun)
	return cmd
}

// An acceptance names the session that a packet started, and the commands to go on with.
type acceptance struct {
	*carrel.AcceptResult
	Next []string `json:"next"`
}

func newAcceptance(res *carrel.AcceptResult) *acceptance {
	return &acceptance{res, []string{
		"carrel export " + string(res.Session) + " --to anthropic",
		"carrel export " + string(res.Session) + " -o " + res.File,
		"carrel contract show " + string(res.Session),
		"carrel context " + string(res.Session),
	}}
}

func (v *acceptance) print(p *out.Page, dryRun bool) {
	packet, verified := v.Packet, 0
	for _, s := range packet.Sources {
		if s.State == handoff.Verified {
			verified++
		}
	}
	p.Fields([]any{"session", v.Session}, []any{"file", v.File}, []any{"from", packet.Session}, []any{"decisions", len(packet.Decisions)},
		[]any{"corrections", len(packet.Corrections)}, []any{"questions", len(packet.Questions)}, []any{"verified", verified}, []any{"contract", v.Contract})
	switch {
	case dryRun && p.TTY:
		p.Line("dry run: nothing was written")
	case !dryRun:
		for _, line := range v.Next {
			p.Fields([]any{"next", line})
		}
	}
}
