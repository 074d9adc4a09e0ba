package job

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

// back lets a command take "-2" for an argument: each digit is a hidden flag.
type back struct {
	word *string
	nth  string
}

func (b back) String() string { return "" }

func (b back) Type() string { return "bool" }

func (b back) Set(string) error {
	if *b.word != "" {
		return fmt.Errorf("%s and %s name two sessions", *b.word, b.nth)
	}
	*b.word = b.nth
	return nil
}

// A SessionArg is the word that names a session.
type SessionArg struct{ Word string }

// TakesSession gives a command an optional argument for a session at the given
// place among its arguments.
func TakesSession(cmd *cobra.Command) *SessionArg {
	s := &SessionArg{}
	for i := range 10 {
		nth := fmt.Sprintf("%d", i)
		f := cmd.Flags().VarPF(back{&s.Word, "-" + nth}, "back-"+nth, nth, "session before last")
		f.NoOptDefVal = "true"
		f.Hidden = true
	}
	return s
}

// Find returns the session that the arguments name: the last by default.
func (s *SessionArg) Find(ctx context.Context, a *Access, args []string) (transcript.SessionID, error) {
	word := s.Word
	if len(args) > 0 {
		if word != "" {
			return "", out.Usagef("%s and %s name two sessions", word, args[0])
		}
		word = args[0]
	}
	return a.SessionID(ctx, cmp.Or(word, "@last"))
}

// SessionID returns the id of the session that a word names.
func (a *Access) SessionID(ctx context.Context, word string) (transcript.SessionID, error) {
	found, err := a.FindSession(ctx, a.Scope, &carrel.WordRequest{Word: word})
	if err != nil {
		return "", err
	}
	return found.Session, nil
}

// On calls do with the session that the arguments name, or with that of a file
// if one is given.
func (s *SessionArg) On(ctx context.Context, j *Job, file string, args []string, do func(a *Access, id transcript.SessionID) error) error {
	if file == "" {
		return j.With(ctx, false, func(a *Access) error {
			id, err := s.Find(ctx, a, args)
			if err != nil {
				return err
			}
			return do(a, id)
		})
	}
	if len(args) > 0 || s.Word != "" {
		return out.Usagef("%s: a stored session is named, too", file)
	}
	return j.onFile(ctx, file, do)
}

// Headline returns what tells a session from others.
func Headline(s *carrel.SessionInfo) string { return cmp.Or(s.Title, s.Project, s.File) }
