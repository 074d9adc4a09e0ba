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

// A back is a hidden flag of one digit, such as -2. With it a command accepts "-2" as the name of
// an earlier session.
type back struct {
	word *string
	nth  string
}

func (b back) String() string { return "" }

func (b back) Type() string { return "bool" }

func (b back) Set(string) error {
	if *b.word != "" {
		return fmt.Errorf("%s and %s name two sessions: give only one", *b.word, b.nth)
	}
	*b.word = b.nth
	return nil
}

// A SessionArg is the word that names a session.
type SessionArg struct{ Word string }

// TakesSession adds an optional session argument, and the hidden flags -0 to -9, to a command.
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

// Find returns the session that the arguments name, or the last one if they name none.
func (s *SessionArg) Find(ctx context.Context, a *Access, args []string) (transcript.SessionID, error) {
	word := s.Word
	if len(args) > 0 {
		if word != "" {
			return "", out.Usagef("%s and %s name two sessions: give only one", word, args[0])
		}
		word = args[0]
	}
	return a.SessionID(ctx, cmp.Or(word, "@last"))
}

// SessionID returns the id of the session that word names.
func (a *Access) SessionID(ctx context.Context, word string) (transcript.SessionID, error) {
	found, err := a.FindSession(ctx, a.Scope, &carrel.WordRequest{Word: word})
	if err != nil {
		return "", err
	}
	return found.Session, nil
}

// On calls the function do with the session that the arguments name or, if file is not "", with the
// conversation of that file.
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
		return out.Usagef("%s: a stored session is named, too: give only one", file)
	}
	return j.onFile(ctx, file, do)
}

// Headline returns the title of a session, or else its project or file.
func Headline(s *carrel.SessionInfo) string { return cmp.Or(s.Title, s.Project, s.File) }
