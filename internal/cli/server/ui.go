package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/url"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/console"
)

func newUI(j *job.Job) *cobra.Command {
	var fl uiFlags
	cmd := &cobra.Command{
		Use:   "ui [SESSION] [--listen ADDR] [--allow-write] [--no-open]",
		Short: "Look at sessions, windows and cost in a browser",
		Long: `Ui serves web pages on this machine and opens them in a browser: sessions, the parts
of each window with the reason for each, the original text of every block, the journal, calls,
contexts, memories that wait for a review, and costs. It ends when it is interrupted. The URL that
it prints contains a key, which is valid only while ui runs.

The pages change nothing, unless --allow-write permits people to pin blocks, undo operations and
review memories there.`,
		Example: "  carrel ui\n  carrel ui @last --allow-write",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, fl.write, func(a *job.Access) error { return fl.serve(ctx, j, a, args) })
		},
		ValidArgsFunction: j.CompleteSession,
	}
	f := cmd.Flags()
	f.StringVar(&fl.listen, "listen", "127.0.0.1:0", "`address` of this machine to listen at; port 0 takes a free one")
	f.BoolVar(&fl.write, "allow-write", false, "let the pages pin, undo and review")
	f.BoolVar(&fl.stay, "no-open", false, "print the URL and open no browser")
	return cmd
}

type uiFlags struct {
	listen      string
	write, stay bool
}

// A key is the only credential of a console, for the person who started it.
type key struct {
	text  string
	grant *governance.Grant
}

// Verify implements [auth.Verifier].
func (k *key) Verify(_ context.Context, text string) (*governance.Grant, error) {
	if subtle.ConstantTimeCompare([]byte(text), []byte(k.text)) != 1 {
		return nil, api.ErrUnauthenticated
	}
	return k.grant, nil
}

// serve serves the pages until ctx is done.
func (fl *uiFlags) serve(ctx context.Context, j *job.Job, a *job.Access, args []string) error {
	l, err := auth.Listen(fl.listen, false)
	if err != nil {
		return out.Hinted(out.Usagef("%w", err), "other machines reach the console of carrel serve --console")
	}
	defer func() { _ = l.Close() }() // the server has closed it, or it was never used
	own := &key{rand.Text() + rand.Text(), governance.Whole(governance.ActorUser)}
	query := url.Values{"key": {own.text}}
	if len(args) > 0 {
		found, err := a.FindSession(ctx, a.Scope, &carrel.WordRequest{Word: args[0]})
		if err != nil {
			return err
		}
		query.Set("to", console.Root+"session/"+url.PathEscape(string(found.Session)))
	}
	address := "http://" + l.Addr().String() + console.Root + "sign-in?" + query.Encode()
	j.Note("carrel shows itself at %s", address)
	if !fl.stay {
		browse(ctx, address)
	}
	return service.ServeConsole(ctx, l, &console.Options{
		Verifier: own, Engine: func(context.Context) (*carrel.Engine, *governance.Grant, error) { return a.Engine, own.grant, nil },
		Store: a.Store.Info,
		Scope: a.Scope, AllowWrite: fl.write, Version: job.ReadBuild().Version, Logger: j.Logger(), Now: j.Clock(),
	})
}

// browse opens a browser, if there is one. Otherwise the user opens the printed URL.
func browse(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if _, err := exec.LookPath(name); err != nil || os.Getenv("CI") != "" {
		return
	}
	_ = exec.CommandContext(context.WithoutCancel(ctx), name, args...).Start() // the printed URL works, too
}
