package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// errGate means that the gate did not let something through, and that this was
// printed.
var errGate = errors.New("not let through by the gate")

// A hintedError is an error of which a command knows better than the error
// itself what to try next.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// report returns a page for standard error. It is for people only, so it is
// aligned even in a pipe, but has no color.
func (g *globals) report() *page {
	p := g.newPage()
	p.tty, p.color = true, false
	if !g.env.StderrTerminal {
		p.width = math.MaxInt32
	}
	return p
}

// tell writes a report to standard error, unless quiet.
func (g *globals) tell(p *page) {
	if !g.quiet {
		_, _ = unguarded(g.env.Stderr).Write(p.buf.Bytes()) // there is nobody to tell that nobody can be told
	}
}

// shortRef returns the form of the id of an artifact, a block or a manifest that
// a terminal shows. It is still understood.
func shortRef(id string) string {
	name, isManifest := strings.CutPrefix(id, "m_")
	switch {
	case len(name) != 16 || strings.Trim(name, "0123456789abcdef") != "":
		return id
	case isManifest:
		return id[:10]
	}
	return id[:8]
}

// id returns the id of an artifact, a block or a manifest: short on a terminal.
func (p *page) id(id string) string {
	if p.tty {
		return shortRef(id)
	}
	return id
}

// milli returns a score with three decimals.
func milli(r ratio.Ratio) string {
	s := r.String()
	return s[:len(s)-3]
}

// percent returns n in percent of all, to the nearest.
func percent(n, all token.Count) string {
	return fmt.Sprintf("%d%%", (200*int64(n)+int64(all))/(2*max(int64(all), 1)))
}

// parseTokens reads a number of tokens, such as "40000" or "40,000".
func parseTokens(flag, s string) (token.Count, error) {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 32)
	if err != nil || n < 0 {
		return 0, usagef("%s: %q is no number of tokens", flag, s)
	}
	return token.Count(n), nil
}

// either returns the text of one flag, or of the file that another names.
func (g *globals) either(flag, said, fileFlag, file string) (string, error) {
	if said != "" && file != "" {
		return "", usagef("%s and %s: give one of them", flag, fileFlag)
	}
	if file == "" {
		return said, nil
	}
	data, err := g.read(file)
	return string(data), err
}

// engineOptions returns what the settings say of the engine, for a command that
// needs no store.
func (g *globals) engineOptions() (*carrel.Options, error) {
	settings, err := g.loaded()
	if err != nil {
		return nil, err
	}
	o := &carrel.Options{}
	release, err := settings.Engine(o)
	if err != nil {
		return nil, err
	}
	return o, release()
}

// completeManifest offers manifests for the first arguments, n at most.
func (g *globals) completeManifest(n int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offers := []cobra.Completion{cobra.CompletionWithDesc("@last", "the context assembled last")}
		_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
			list, err := carrel.Items(a.Manifests(cmd.Context(), a.scope, &carrel.ManifestsRequest{Session: "", Cursor: carrel.Cursor{Limit: 50}}))
			for i := range list {
				m := &list[i]
				desc := fmt.Sprintf("%s, %s / %s tok, %s", m.Tier, thousands(int64(m.Total)), thousands(int64(m.Budget)), m.Created.Format("2006-01-02 15:04"))
				offers = append(offers, cobra.CompletionWithDesc(m.ID, desc))
			}
			return err
		})
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeReference offers manifests for the first argument, and for the second
// what they mention.
func (g *globals) completeReference(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return g.completeManifest(1)(cmd, args, word)
	}
	var offers []cobra.Completion
	_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
		sealed, err := carrel.SealedOf(a.Manifest(cmd.Context(), a.scope, &carrel.IDRequest{ID: args[0]}))
		if err != nil {
			return err
		}
		for _, it := range sealed.Manifest().Items {
			switch it := it.(type) {
			case *manifest.Segment:
				if it.Ref != "" {
					offers = append(offers, cobra.CompletionWithDesc(it.Ref, "in: "+string(it.Reason)))
				}
			case *manifest.Omission:
				offers = append(offers, cobra.CompletionWithDesc(it.Ref, "out: "+string(it.Reason)))
			}
		}
		return nil
	})
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
