package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

func newToken(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token create|list|revoke",
		Short: "Let agents and services in over the network",
		Long: `A token lets somebody in over HTTP, as one actor, into some scopes, for some kinds
of work, until it expires or is revoked. It is shown once, when it is created: the
store keeps a hash of it, under a key in a file beside the store, or where
CARREL_TOKEN_KEY_FILE says. Whoever has that file and the store can check tokens,
and make them; who loses it has to give out new ones.

A backup has the hashes and not the key. One from before a token was revoked brings
it back: revoke it again after a restore.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel token\"", args[0])
			}
			return usagef("token: name one of create, list, revoke")
		},
	}
	cmd.AddCommand(newTokenCreate(g), newTokenList(g), newTokenRevoke(g))
	return cmd
}

// tokenInfo is what is told of a token.
type tokenInfo struct {
	store.Token
	State string `json:"state"` // valid, expired or revoked
}

func describeToken(t *store.Token, now time.Time) tokenInfo {
	info := tokenInfo{Token: *t, State: "valid"}
	switch {
	case !t.Revoked.IsZero():
		info.State = "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		info.State = "expired"
	}
	return info
}

// registrar returns an authority that makes tokens of a store, if the file of a key is
// named, or lists and revokes them.
func (g *globals) registrar(a *access, keyFile string) (*auth.Authority, error) {
	tokens, ok := a.store.(store.Tokens)
	if !ok {
		return nil, errors.New("this store keeps no tokens")
	}
	var key *auth.Key
	if keyFile != "" {
		var err error
		if key, err = auth.LoadKey(keyFile); err != nil {
			return nil, err
		}
	}
	return auth.NewAuthority(tokens, key, &auth.AuthorityOptions{Now: g.clock()}), nil
}

// defaultLifetime is how long a token lives if nobody says otherwise.
const defaultLifetime = "90d"

func newTokenCreate(g *globals) *cobra.Command {
	var actor, expires, note string
	var allow, scopes []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "create [--actor NAME] [--allow WHAT] [--for SCOPE] [--expires D]",
		Short: "Make a token and print it, this once",
		Long: `Create prints a new token, and nothing else, on standard output. What it allows is
its own, whatever the one who brings it asks for:

  read     see what is in a scope
  write    add and change: import, compress, pin, undo, put, assemble
  review   speak as a person: decide what the gate holds, vouch for a memory
  erase    remove, refute and purge
  observe  see what is measured of the server; shows nothing of any scope

Review and erase go with write. A scope may be a pattern: acme/* is all below acme,
* is all there are.`,
		Example: `  carrel token create
  TOKEN=$(carrel token create --actor ci --for acme/web --expires 7d)
  carrel token create --actor dana --allow read,write,review --for 'acme/*'
  carrel token create --actor metrics --allow observe --for '*' --expires never`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			req := &auth.MintRequest{Actor: governance.Actor(actor), Note: note}
			for _, word := range allow {
				p, err := governance.ParsePermission(word)
				if err != nil {
					return usagef("--allow: %w", err)
				}
				req.Permissions = append(req.Permissions, p)
			}
			if expires != "never" {
				d, err := config.ParseDuration(expires)
				if err == nil && d <= 0 {
					err = errors.New("it would have expired already; never is a word for it")
				}
				if err != nil {
					return usagef("--expires: %w", err)
				}
				req.Lifetime = d
			}
			return g.with(ctx, !dry, func(a *access) error {
				for _, word := range scopes {
					req.Scopes = append(req.Scopes, governance.ScopePattern(word))
				}
				if len(req.Scopes) == 0 {
					req.Scopes = []governance.ScopePattern{governance.ScopePattern(a.scope)}
				}
				return g.createToken(cmd, a, req, dry)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&actor, "actor", "agent", "`name` of who acts with it, for journals")
	f.StringSliceVar(&allow, "allow", []string{string(governance.Read), string(governance.Write)}, "`what` it allows: read, write, review, erase, observe")
	f.StringArrayVar(&scopes, "for", nil, "`scope` it is for; may be repeated; the one at hand by default")
	f.StringVar(&expires, "expires", defaultLifetime, "`duration` after which it expires, or never")
	f.StringVar(&note, "note", "", "`text` on what it is for")
	writes(cmd, &dry)
	var words []string
	for _, p := range governance.Permissions() {
		words = append(words, string(p))
	}
	offer(cmd, "allow", words...)
	return cmd
}

// createToken makes a token and prints it.
func (g *globals) createToken(cmd *cobra.Command, a *access, req *auth.MintRequest, dry bool) error {
	if dry {
		if err := req.Validate(); err != nil {
			return err
		}
		g.note("dry run: %s; nothing was written", tokenWords(string(req.Actor), req.Permissions, req.Scopes))
		return nil
	}
	file, err := a.settings.TokenKey()
	if err != nil {
		return err
	}
	authority, err := g.registrar(a, file)
	if err != nil {
		return err
	}
	text, t, err := authority.Mint(cmd.Context(), req)
	if err != nil {
		return err
	}
	value := struct {
		Text string `json:"token"`
		tokenInfo
	}{text, describeToken(t, g.clock()())}
	g.note("%s: %s, %s; it is shown this once", t.ID, tokenWords(string(t.Actor), t.Permissions, t.Scopes), until(t))
	return g.result(document{name: "token-created", value: value}, func(p *page) { p.line("%s", text) })
}

// tokenWords says what a token allows.
func tokenWords(actor string, permissions []governance.Permission, scopes []governance.ScopePattern) string {
	return fmt.Sprintf("%s may %s in %s", actor, joined(permissions, ", "), joined(scopes, ", "))
}

// joined returns words with something between them.
func joined[T ~string](words []T, between string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// until says how long a token is valid, if it is not revoked.
func until(t *store.Token) string {
	if t.Expires.IsZero() {
		return "without end"
	}
	return "until " + t.Expires.Format(time.RFC3339)
}

func newTokenList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens that there are and were",
		Long: `List prints what is known of all tokens, in all scopes, the oldest first: never a
token itself, which nobody knows but who has it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.with(cmd.Context(), false, func(a *access) error {
				authority, err := g.registrar(a, "")
				if err != nil {
					return err
				}
				all, err := authority.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				return g.listTokens("token-list", all)
			})
		},
	}
}

// listTokens prints what is known of tokens.
func (g *globals) listTokens(name string, all []store.Token) error {
	list := make([]tokenInfo, 0, len(all))
	now := g.clock()()
	for i := range all {
		list = append(list, describeToken(&all[i], now))
	}
	return g.result(document{name, map[string]any{"tokens": list}, "tokens"}, func(p *page) {
		t := &table{head: []string{"id", "state", "actor", "allows", "scopes", "until", "note"}, whole: !p.tty}
		for i := range list {
			end := "never"
			if !list[i].Expires.IsZero() {
				end = list[i].Expires.Format(time.RFC3339)
			}
			t.add(list[i].ID, list[i].State, string(list[i].Actor), joined(list[i].Permissions, ","), joined(list[i].Scopes, " "), end, list[i].Note)
		}
		if len(list) > 0 {
			p.table(t)
		}
	})
}

func newTokenRevoke(g *globals) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Make tokens worthless, at once and for good",
		Long: `Revoke makes tokens worthless: no request that begins from now on is let in with one
of them, by whichever server on this store. Nothing brings one back; who needs
another creates it. An ID may be shortened, or be the token itself.`,
		Example:           `  carrel token revoke tok_5c1f09ab`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: g.completeToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				authority, err := g.registrar(a, "")
				if err != nil {
					return err
				}
				all := make([]store.Token, 0, len(args))
				for _, id := range args { // all are there, or none is revoked
					t, err := authority.Token(ctx, id)
					if err != nil {
						return &hintedError{err, "carrel token list"}
					}
					all = append(all, *t)
				}
				for i := range all {
					if dry {
						continue
					}
					t, err := authority.Revoke(ctx, all[i].ID)
					if err != nil {
						return err
					}
					all[i] = *t
				}
				return g.listTokens("token-revoked", all)
			})
		},
	}
	writes(cmd, &dry)
	return cmd
}

// completeToken offers the tokens that are not revoked.
func (g *globals) completeToken(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offers []cobra.Completion
	_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
		authority, err := g.registrar(a, "")
		if err != nil {
			return err
		}
		all, err := authority.Tokens(cmd.Context())
		for i := range all {
			if t := &all[i]; t.Revoked.IsZero() {
				desc := visible(fmt.Sprintf("%s, %s %s", t.Actor, joined(t.Scopes, " "), t.Note))
				offers = append(offers, cobra.CompletionWithDesc(t.ID, strings.TrimSpace(desc)))
			}
		}
		return err
	})
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
