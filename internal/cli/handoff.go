package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/transcript"
)

func newHandoff(_ *Env, g *globals) *cobra.Command {
	req := &carrel.HandoffRequest{}
	var out output
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "handoff [SESSION] [--for WHO] [--next T] [--notes T] [--json [--strict]] [-o FILE|DIR]",
		Short: "Make a packet with which another agent goes on",
		Long: `Handoff prints what another agent needs to go on with a conversation: goal and
state, sources by how well they are known, what is decided and what is only
inferred, open questions, the user's corrections in the user's words, what was
done and what was not, and what must not be claimed. It comes from the
conversation, its contract and the journal, and needs no model.

It is Markdown with fifteen sections. With --json it is JSON without a key for the
schema; "carrel schema handoff" describes it. The published schema of packets has no
file name, no permalink and no list of files: with --strict they are left out, for
readers that refuse what they do not know. In a folder it is named after the date and
the session. "carrel help handoffs" says more.`,
		Example: `  carrel handoff --for reviewer -o .
  carrel handoff --json | carrel schema check handoff -
  carrel handoff --json --strict > packet.json
  carrel handoff check handoff_2026_02_03_lamp.md --session @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Strict && g.json == "" {
				return usagef("--strict: needs --json, as the published schema is one of JSON")
			}
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Handoff(ctx, a.scope, req)
				if err != nil {
					return err
				}
				for _, f := range res.Findings {
					g.note("warning: %s", f)
				}
				if len(res.LeftOut) > 0 {
					g.note("left out, as the published schema lacks it: %s", strings.Join(res.LeftOut, ", "))
				}
				return g.hand(res, out)
			})
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&req.For, "for", "", "`who` is to go on; any agent by default")
	f.StringVar(&req.By, "by", "", "`who` hands over; the user by default")
	f.StringVar(&req.Next, "next", "", "recommended next action, in a `text`; the last step on record by default")
	f.StringVar(&req.Notes, "notes", "", "`text` for who goes on")
	f.StringVar(&req.Domain, "domain", "", "`word` that the file's name begins with")
	f.StringVar(&req.Title, "title", "", "`words` that the file's name ends with; those of the session by default")
	f.BoolVar(&req.Strict, "strict", false, "with --json: only the keys of the published schema")
	takesOutput(cmd, &out, "write to `file`, or to a folder under the packet's own name; - is standard output")
	cmd.AddCommand(newHandoffCheck(g))
	return cmd
}

// hand prints a packet, or writes it to a file.
func (g *globals) hand(res *carrel.HandoffResult, out output) error {
	packet := res.Packet
	text := []byte(packet.Markdown())
	if g.json != "" {
		if !out.toFile() {
			return g.result(document{value: packet}, nil)
		}
		var err error
		if text, err = packet.JSON(); err != nil {
			return err
		}
	}
	if out.file == "" {
		return g.result(document{}, func(p *page) { p.text(string(text)) })
	}
	if fi, err := os.Stat(g.path(out.file)); err == nil && fi.IsDir() {
		name := res.File
		if g.json != "" {
			name = strings.TrimSuffix(name, ".md") + ".json"
		}
		out.file = filepath.Join(out.file, name)
	}
	if err := g.write(out, text); err != nil {
		return err
	}
	if out.toFile() {
		g.note("wrote %s: %s bytes", out.file, thousands(int64(len(text))))
	}
	return nil
}

func newHandoffCheck(g *globals) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "check FILE|- [--session S]",
		Short: "Tell whether a packet is honest",
		Long: `Check holds a packet, in Markdown or JSON, against eight rules: what was linked
does not count as read, what was assumed not as decided, what is open not as
done; hidden reasoning is not handed on, no access is promised, no correction left
out or reworded, doubt is not buried, and how well each thing is known is said.
With --session it is compared with what is on record. If a rule is broken, the
exit code is 1; for what is only to be looked at, it is 0.`,
		Example: `  carrel handoff check handoff_2026_02_03_lamp.md
  carrel handoff | carrel handoff check - --session @last`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := g.read(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			value := &checkedPacket{File: args[0], Findings: []handoff.Finding{}}
			req := &carrel.CheckHandoffRequest{Name: args[0], Data: data}
			check := func(a *access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.CheckHandoff(ctx, a.scope, req)
				if err == nil {
					value.Session, value.Findings = id, append(value.Findings, res.Findings...)
				}
				return err
			}
			if session == "" {
				err = g.alone(func(a *access) error { return check(a, "") })
			} else {
				err = (&sessionArg{word: session}).on(ctx, g, "", nil, check)
			}
			if err != nil {
				return err
			}
			value.OK = !anyError(value.Findings)
			err = g.result(document{name: "handoff-check", value: value}, value.print)
			if err == nil && !value.OK {
				return errNo
			}
			return err
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`session` that it is to be compared with")
	g.offerSession(cmd)
	return cmd
}

// alone calls do with a store that is empty and gone afterwards.
func (g *globals) alone(do func(a *access) error) error {
	settings, err := g.loaded()
	if err != nil {
		return err
	}
	return g.over(config.Scratch(), settings, do)
}

// A checkedPacket says what the rules of honesty have against a packet.
type checkedPacket struct {
	File     string               `json:"file"`
	Session  transcript.SessionID `json:"session,omitempty"` // that it was compared with
	OK       bool                 `json:"ok"`                // no finding is an error
	Findings []handoff.Finding    `json:"findings"`
}

func anyError(findings []handoff.Finding) bool {
	for _, f := range findings {
		if f.Error {
			return true
		}
	}
	return false
}

func (c *checkedPacket) print(p *page) {
	p.findings(c.Findings)
	switch n := count(len(handoff.Rules()), "rule"); {
	case !c.OK:
	case c.Session != "":
		p.line("ok: %s, and what session %s says", n, visible(short(c.Session)))
	default:
		p.line("ok: %s; name what it is of with --session to compare", n)
	}
}

// findings lists what the rules of honesty have against a packet.
func (p *page) findings(findings []handoff.Finding) {
	t := &table{head: []string{"", "rule", "section", "entry", "what is wrong"}, whole: true}
	for _, f := range findings {
		word, entry := "warning", f.Entry
		if f.Error {
			word = "error"
		}
		if p.tty {
			entry = cut(visible(entry), max(p.width/3, 20))
		}
		t.add(word, string(f.Rule), f.Section.Title(), entry, f.Text)
	}
	if len(findings) > 0 {
		p.table(t)
	}
}

func newAccept(_ *Env, g *globals) *cobra.Command {
	req := &carrel.AcceptRequest{}
	cmd := &cobra.Command{
		Use:   "accept FILE|-",
		Short: "Begin a conversation with a packet from another agent",
		Long: `Accept begins a conversation with a packet, in Markdown or JSON: its first message
is the packet, which no compression takes out of the window, and its contract
inherits the packet's decisions, corrections, open questions and what was
verified. What the rules of honesty have against the packet is said, and is for
you to judge. A packet that was accepted before is not accepted twice.`,
		Example: `  carrel accept handoff_2026_02_03_lamp.md
  carrel handoff | ssh other.example carrel accept -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := g.read(args[0])
			if err != nil {
				return err
			}
			if _, err := handoff.Parse(args[0], data); err != nil {
				return err // before a store is made
			}
			req.Name, req.Data = args[0], data
			ctx := cmd.Context()
			return g.with(ctx, !req.DryRun, func(a *access) error {
				res, err := a.Accept(ctx, a.scope, req)
				if err != nil {
					return err
				}
				for _, f := range res.Findings {
					g.note("warning: %s", f)
				}
				value := newAccepted(res)
				return g.result(document{name: "accept", value: value}, func(p *page) { value.print(p, req.DryRun) })
			})
		},
	}
	writes(cmd, &req.DryRun)
	return cmd
}

// An accepted packet says which session it began and what that inherited.
type accepted struct {
	Session     transcript.SessionID `json:"session"`
	File        string               `json:"file"`     // as which an import goes on with it
	From        string               `json:"from"`     // session or project of the packet
	Contract    int                  `json:"contract"` // statements
	Decisions   int                  `json:"decisions"`
	Corrections int                  `json:"corrections"`
	Questions   int                  `json:"questions"`
	Verified    int                  `json:"verified"`
	Findings    []handoff.Finding    `json:"findings"`
	Op          string               `json:"op,omitempty"`
	Next        []string             `json:"next"` // commands
}

func newAccepted(res *carrel.AcceptResult) *accepted {
	p := res.Packet
	v := &accepted{
		Session: res.Session, File: res.File, From: p.Session, Contract: res.Contract, Decisions: len(p.Decisions), Corrections: len(p.Corrections),
		Questions: len(p.Questions), Findings: append([]handoff.Finding{}, res.Findings...), Op: res.Op,
		Next: []string{
			"carrel export " + string(res.Session) + " --to anthropic",
			"carrel export " + string(res.Session) + " -o " + res.File,
			"carrel contract show " + string(res.Session),
			"carrel context " + string(res.Session),
		},
	}
	for _, s := range p.Sources {
		if s.State == handoff.Verified {
			v.Verified++
		}
	}
	return v
}

func (v *accepted) print(p *page, dryRun bool) {
	p.fields([]any{"session", v.Session}, []any{"file", v.File}, []any{"from", v.From}, []any{"decisions", v.Decisions}, []any{"corrections", v.Corrections},
		[]any{"questions", v.Questions}, []any{"verified", v.Verified}, []any{"contract", v.Contract})
	switch {
	case dryRun && p.tty:
		p.line("dry run: nothing was written")
	case !dryRun:
		for _, line := range v.Next {
			p.fields([]any{"next", line})
		}
	}
}
