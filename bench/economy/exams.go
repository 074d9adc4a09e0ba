package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/internal/retention"
)

// A paper has questions about a conversation up to one of its messages.
type paper struct {
	*exam.Session

	at int // index of the message
}

// examine adds the papers of exams to the conversations that they ask about. If the list all lacks
// a conversation, it is read from the folder of its exam or from one of the given folders, and is
// used only for its exam.
func examine(all []*conversation, files, folders []string) ([]*conversation, error) {
	sessions, err := exam.ReadAll(files)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*conversation)
	for _, c := range all {
		known[c.ID] = c
	}
	for _, s := range sessions {
		history, err := historyOf(s, folders)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(s.Conversation)), ".gz")
		id := strings.TrimSuffix(base, filepath.Ext(base))
		c := known[id]
		if c == nil {
			var why string
			if c, why = read(base, history); c == nil {
				return nil, fmt.Errorf("read the conversation of the exam of %s: %s", s.Conversation, why)
			}
			c.alone = true
			known[id], all = c, append(all, c)
		}
		f, err := carrel.Detect(history)
		if err != nil {
			return nil, err
		}
		seen, err := f.Decode(base, history)
		if err != nil {
			return nil, err
		}
		seen.Messages = whole(seen)
		c.papers = append(c.papers, paper{s, len(retention.MessagesOf(seen))})
		slices.SortFunc(c.papers, func(a, b paper) int { return cmp.Compare(a.at, b.at) })
	}
	return all, nil
}

// historyOf returns the part of a session that the agent had seen. It looks for the file below the
// folder of the exam, and then below each of the given folders.
func historyOf(s *exam.Session, folders []string) (history []byte, err error) {
	for _, folder := range append([]string{""}, folders...) {
		if history, err = s.History(folder); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return history, err
}

// examine judges the window of the call at a message, by all papers that end at this message or
// before it and that were not used for an earlier call.
func (r *replay) examine(at int) {
	for ; r.papers < len(r.conversation.papers) && r.conversation.papers[r.papers].at <= at; r.papers++ {
		text := ""
		if request, err := retention.Request(r.sent); err == nil {
			text, _ = exam.Render(request) // it was made here
		}
		score := r.conversation.papers[r.papers].Score(text, len(text))
		r.res.strings += score.Strings
		r.res.all += score.AllStrings
	}
}

// finish judges the window that a further call at the end of the conversation would have, by the
// papers that are left. The window already has the first done messages. The further call adds no
// cost.
func (r *replay) finish(w *way, done int) {
	if r.papers == len(r.conversation.papers) {
		return
	}
	cost := r.res
	for ; done < len(r.Messages); done++ {
		r.take(w, done)
	}
	k := r.conversation.calls[len(r.conversation.calls)-1]
	k.at, k.time = len(r.Messages), k.time.Add(10*time.Second)
	if w.fit != nil {
		w.fit(r, &k)
	}
	r.examine(k.at)
	cost.strings, cost.all = r.res.strings, r.res.all
	r.res = cost
}
