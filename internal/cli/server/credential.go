package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

func newCredential(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "credential create|list|revoke",
		Aliases: []string{"token"},
		Short:   "Let agents and services in over the network",
		Long: `A credential permits requests over HTTP as one actor, in some scopes, for some kinds
of work, until it expires or is revoked. It is shown once, when it is created: the store keeps
only its hash, made with a key in a file beside the store or at CARREL_CREDENTIAL_KEY_FILE. The
owner of that file and the store can check and make credentials; if the file is lost, all
credentials must be replaced.

A backup has the hashes and not the key. A backup from before a revocation brings the credential
back: revoke it again after a restore.`,
		RunE: job.Group("credential", "create, list, revoke"),
	}
	cmd.AddCommand(newCredentialCreate(j), newCredentialList(j), newCredentialRevoke(j))
	return cmd
}

// credentialInfo describes a credential without its secret.
type credentialInfo struct {
	store.Credential
	State string `json:"state"` // valid, expired or revoked
}

func describeCredential(t *store.Credential, now time.Time) credentialInfo {
	info := credentialInfo{Credential: *t, State: "valid"}
	switch {
	case !t.Revoked.IsZero():
		info.State = "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		info.State = "expired"
	}
	return info
}

// registrar returns an authority that lists and revokes the credentials of a store. If keyFile is
// not "", the authority can also create credentials.
func registrar(j *job.Job, a *job.Access, keyFile string) (*auth.Authority, error) {
	credentials, ok := a.Store.(store.Credentials)
	if !ok {
		return nil, errors.New("this store keeps no credentials: name a file with --store")
	}
	var key *auth.Key
	if keyFile != "" {
		var err error
		if key, err = auth.LoadKey(keyFile); err != nil {
			return nil, err
		}
	}
	return auth.NewAuthority(credentials, key, &auth.AuthorityOptions{Now: j.Clock()}), nil
}

// defaultLifetime is how long a credential is valid by default.
const defaultLifetime = "90d"

func newCredentialCreate(j *job.Job) *cobra.Command {
	var actor, expires, note string
	var allow, scopes []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "create [--actor NAME] [--allow WHAT] [--for SCOPE] [--expires D]",
		Short: "Make a credential and print it, this once",
		Long: `Create prints a new credential, and nothing else, on standard output. Its
permissions are fixed, and a request cannot extend them:

  read     see the content of a scope
  write    add and change: import, compress, pin, undo, put, assemble
  review   act as a person: decide about held memories, verify a memory
  erase    remove, refute and purge
  observe  see the metrics of the server, but no content of a scope

Review and erase include write. A scope may be a pattern: acme/* is every scope below acme, * is
every scope.`,
		Example: `  carrel credential create
  CREDENTIAL=$(carrel credential create --actor ci --for acme/web --expires 7d)
  carrel credential create --actor dana --allow read,write,review --for 'acme/*'
  carrel credential create --actor metrics --allow observe --for '*' \
    --expires never`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			req := &auth.MintRequest{Actor: governance.Actor(actor), Note: note}
			for _, word := range allow {
				p, err := governance.ParsePermission(word)
				if err != nil {
					return out.Usagef("--allow: %w", err)
				}
				req.Permissions = append(req.Permissions, p)
			}
			if expires != "never" {
				d, err := config.ParseDuration(expires)
				if err == nil && d <= 0 {
					err = fmt.Errorf("%q is not above 0: give a span such as 12h or 7d, or the word never", expires)
				}
				if err != nil {
					return out.Usagef("--expires: %w", err)
				}
				req.Lifetime = d
			}
			return j.With(ctx, !dry, func(a *job.Access) error {
				for _, word := range scopes {
					req.Scopes = append(req.Scopes, governance.ScopePattern(word))
				}
				if len(req.Scopes) == 0 {
					req.Scopes = []governance.ScopePattern{governance.ScopePattern(a.Scope)}
				}
				return createCredential(j, cmd, a, req, dry)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&actor, "actor", "agent", "`name` of the actor in journals")
	f.StringSliceVar(&allow, "allow", []string{string(governance.Read), string(governance.Write)}, "`permissions`: read, write, review, erase, observe")
	f.StringArrayVar(&scopes, "for", nil, "permitted `scope`; may be repeated; the current one by default")
	f.StringVar(&expires, "expires", defaultLifetime, "`duration` after which it expires, or never")
	f.StringVar(&note, "note", "", "`text` that describes its use")
	job.Writes(cmd, &dry)
	var words []string
	for _, p := range governance.Permissions() {
		words = append(words, string(p))
	}
	job.Offer(cmd, "allow", words...)
	return cmd
}

// createCredential creates a credential and prints it.
func createCredential(j *job.Job, cmd *cobra.Command, a *job.Access, req *auth.MintRequest, dry bool) error {
	if dry {
		if err := req.Validate(); err != nil {
			return err
		}
		j.Note("dry run: %s; nothing was written", credentialWords(string(req.Actor), req.Permissions, req.Scopes))
		return nil
	}
	file, err := a.Settings.CredentialKey()
	if err != nil {
		return err
	}
	authority, err := registrar(j, a, file)
	if err != nil {
		return err
	}
	text, t, err := authority.Mint(cmd.Context(), req)
	if err != nil {
		return err
	}
	value := struct {
		Text string `json:"credential"`
		credentialInfo
	}{text, describeCredential(t, j.Clock()())}
	j.Note("%s: %s, %s; it is shown this once", t.ID, credentialWords(string(t.Actor), t.Permissions, t.Scopes), until(t))
	return j.Result("credential-created", value, func(p *out.Page) { p.Line("%s", text) })
}

// credentialWords returns the permissions and scopes of a credential in words.
func credentialWords(actor string, permissions []governance.Permission, scopes []governance.ScopePattern) string {
	return fmt.Sprintf("%s may %s in %s", actor, joined(permissions, ", "), joined(scopes, ", "))
}

// joined joins words with a separator.
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

// until returns in words how long a credential is valid unless it is revoked.
func until(t *store.Credential) string {
	if t.Expires.IsZero() {
		return "without end"
	}
	return "until " + t.Expires.Format(time.RFC3339)
}

func newCredentialList(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the credentials that there are and were",
		Long: `List prints the records of all credentials, in all scopes, the oldest first. The
credentials themselves are not stored and cannot be shown.`,
		Example: `  carrel credential list`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return j.With(cmd.Context(), false, func(a *job.Access) error {
				authority, err := registrar(j, a, "")
				if err != nil {
					return err
				}
				all, err := authority.Credentials(cmd.Context())
				if err != nil {
					return err
				}
				return listCredentials(j, "credential-list", all)
			})
		},
	}
}

// listCredentials prints the records of credentials.
func listCredentials(j *job.Job, name string, all []store.Credential) error {
	list := make([]credentialInfo, 0, len(all))
	now := j.Clock()()
	for i := range all {
		list = append(list, describeCredential(&all[i], now))
	}
	return j.List(name, map[string]any{"credentials": list}, "credentials", func(p *out.Page) {
		t := &out.Table{Head: []string{"id", "state", "actor", "allows", "scopes", "until", "note"}, Whole: !p.TTY}
		for i := range list {
			end := "never"
			if !list[i].Expires.IsZero() {
				end = list[i].Expires.Format(time.RFC3339)
			}
			t.Add(list[i].ID, list[i].State, string(list[i].Actor), joined(list[i].Permissions, ","), joined(list[i].Scopes, " "), end, list[i].Note)
		}
		if len(list) > 0 {
			p.Table(t)
		}
	})
}

func newCredentialRevoke(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Make credentials worthless, at once and for good",
		Long: `Revoke ends the validity of credentials: no server on this store accepts them for a
request that begins from now on. A revocation cannot be undone. An ID may be shortened, or be the
credential itself.`,
		Example:           `  carrel credential revoke tok_5c1f09ab`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeCredential(j),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				authority, err := registrar(j, a, "")
				if err != nil {
					return err
				}
				all := make([]store.Credential, 0, len(args))
				for _, id := range args { // revoke all or none
					t, err := authority.Credential(ctx, id)
					if err != nil {
						return out.Hinted(err, "carrel credential list")
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
				return listCredentials(j, "credential-revoked", all)
			})
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

// completeCredential returns a function that offers the credentials that are not revoked.
func completeCredential(j *job.Job) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return j.Complete(cmd, func(a *job.Access) (found []cobra.Completion, err error) {
			authority, err := registrar(j, a, "")
			if err != nil {
				return nil, err
			}
			all, err := authority.Credentials(cmd.Context())
			for i := range all {
				if t := &all[i]; t.Revoked.IsZero() {
					desc := out.Visible(fmt.Sprintf("%s, %s %s", t.Actor, joined(t.Scopes, " "), t.Note))
					found = append(found, cobra.CompletionWithDesc(t.ID, strings.TrimSpace(desc)))
				}
			}
			return found, err
		})
	}
}
