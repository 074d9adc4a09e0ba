package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
)

// Complete opens the store and returns the completions that the function find finds in it. It
// returns none if the store cannot be opened.
func (j *Job) Complete(cmd *cobra.Command, find func(a *Access) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	_ = j.With(cmd.Context(), false, func(a *Access) (err error) { // a shell cannot show errors
		found, err = find(a)
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// AtMost returns a completion function that calls the function complete for the first n arguments
// and offers nothing for later ones.
func AtMost(n int, complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// CompleteSession offers @last, @prev and the last used sessions in the store for the first
// argument.
func (j *Job) CompleteSession(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return AtMost(1, j.completeSessions)(cmd, args, word)
}

func (j *Job) completeSessions(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	offers := []cobra.Completion{
		cobra.CompletionWithDesc("@last", "the session updated last"),
		cobra.CompletionWithDesc("@prev", "the one before"),
	}
	found, directive := j.Complete(cmd, func(a *Access) (found []cobra.Completion, err error) {
		infos, err := carrel.Items(a.Sessions(cmd.Context(), a.Scope, &carrel.SessionsRequest{Cursor: carrel.Cursor{Limit: 50}}))
		for i := range infos {
			s := &infos[i]
			desc := fmt.Sprintf("%s, %s tok, %s", s.Format, out.Thousands(s.Window), out.Cut(out.Visible(Headline(s)), 50))
			found = append(found, cobra.CompletionWithDesc(string(s.Session), desc))
		}
		return found, err
	})
	return append(offers, found...), directive
}

// OfferSessions lets the shell offer sessions as values of a flag.
func (j *Job) OfferSessions(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, j.completeSessions) // fails only for an unknown flag
}

// CompleteBlock offers the blocks of the last session for an argument, newest first.
func (j *Job) CompleteBlock(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return j.Complete(cmd, func(a *Access) (found []cobra.Completion, err error) {
		id, err := a.FindSession(cmd.Context(), a.Scope, &carrel.WordRequest{Word: "@last"})
		if err != nil {
			return nil, err
		}
		res, err := a.Messages(cmd.Context(), a.Scope, &carrel.MessagesRequest{Session: id.Session})
		if err != nil {
			return nil, err
		}
		for _, b := range slices.Backward(res.Messages) {
			desc := fmt.Sprintf("%s, %s, %s", b.Kind, b.State, out.Cut(out.Visible(b.Preview), 50))
			found = append(found, cobra.CompletionWithDesc(b.ShortID, desc))
		}
		return found, nil
	})
}

// CompleteArtifacts returns a function that offers the artifacts that match req, with their titles.
// It leaves out those that are already arguments.
func (j *Job) CompleteArtifacts(req carrel.ArtifactsRequest) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return j.Complete(cmd, func(a *Access) (found []cobra.Completion, err error) {
			req.Limit = 50
			list, err := carrel.Items(a.Artifacts(cmd.Context(), a.Scope, &req))
			for i := range list {
				art := &list[i]
				if slices.Contains(args, string(art.ID)) || art.Status == store.StatusPurged {
					continue
				}
				desc := fmt.Sprintf("%s, %s tok, %s", art.Class, out.Thousands(art.Tokens), out.Cut(out.Visible(cmp.Or(art.Title, art.Source)), 50))
				found = append(found, cobra.CompletionWithDesc(string(art.ID), desc))
			}
			return found, err
		})
	}
}

// CompleteProfile offers the names of profiles.
func (j *Job) CompleteProfile(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	src, err := j.Sources()
	if err == nil {
		delete(src.Flags, "--profile") // the flag being completed has no value yet
		if s, err := config.Load(src); err == nil {
			names = s.Profiles
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// Offer lets the shell offer fixed words as values of a flag.
func Offer(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
}

// OfferFormats lets the shell offer the names of formats as values of a flag.
func OfferFormats(cmd *cobra.Command, flag string) { Offer(cmd, flag, carrel.Formats()...) }
