package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

// Assumptions where nothing is recorded.
const (
	plainModel = "gpt-4o"
	plainPause = 10 * time.Second
)

// A conversation is a recorded session, or several in a row.
type conversation struct {
	*retention.Trajectory

	calls  []call
	frame  token.Count // system text and tools
	linked []economy.Link
	chain  string // such as "300k", or empty
	cases  []*retention.Case
	packs  map[pack][]retention.Message // accounts by their key
	prefix int                          // tokens of the conversation from which accounts are made
	papers []paper                      // papers of exams, by the place of their cut
	alone  bool                         // whether it is used for its exam alone
}

// A call is a reply of the model.
type call struct {
	at     int // index of the reply; the prompt is everything before it
	time   time.Time
	tariff *economy.Tariff
	output token.Count
}

// load reads all conversations below the folders. From the conversations of each project it also
// makes long ones, by putting them one after the other, see chained. It prints the files that it
// leaves out.
func load(folders []string, chains int, exams []string) ([]*conversation, error) {
	files, err := retention.Files(folders)
	if err != nil {
		return nil, err
	}
	var all []*conversation
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		c, why := read(f, data)
		if c == nil {
			fmt.Fprintf(os.Stderr, "%s: left out: %s\n", f, why)
			continue
		}
		all = append(all, c)
	}
	rows := chained(all, chains)
	if all, err = examine(all, exams, folders); err != nil {
		return nil, err
	}
	all = append(all, rows...)
	trajectories := make([]*retention.Trajectory, len(all))
	for i, c := range all {
		trajectories[i] = c.Trajectory
	}
	common := retention.NewCommon(trajectories)
	retention.Each(len(all), func(i int) { all[i].cases = all[i].Cases(common, 1) })
	return all, nil
}

// read returns the conversation of a file, or the reason why there is none.
func read(path string, data []byte) (c *conversation, why string) {
	f, err := carrel.Detect(data)
	if err != nil {
		return nil, err.Error()
	}
	base := filepath.Base(path)
	s, err := f.Decode(base, data)
	if err != nil {
		return nil, err.Error()
	}
	s.Messages = whole(s)
	id := strings.TrimSuffix(base, filepath.Ext(base))
	family, _, _ := strings.Cut(id, "-")
	c = newConversation(id, family, retention.MessagesOf(s))
	if f.Name() == claudecode.Format.Name() {
		why = c.metered(s)
	}
	if len(c.calls) == 0 {
		why = c.plain()
	}
	if why != "" {
		return nil, why
	}
	return c, ""
}

// whole returns all messages of a session, without the summaries of compactions.
func whole(s *transcript.Session) []transcript.Message {
	all := slices.Concat(append(slices.Clip(s.Earlier), s.Messages)...)
	return slices.DeleteFunc(all, func(m transcript.Message) bool { return m.Summary })
}

func newConversation(id, family string, msgs []retention.Message) *conversation {
	c := &conversation{Trajectory: retention.NewTrajectory(id, id, family, msgs), packs: make(map[pack][]retention.Message)}
	c.linked = make([]economy.Link, len(msgs))
	for i := range msgs {
		c.linked[i] = link(&msgs[i])
	}
	return c
}

// link returns what package economy needs of m to simulate the provider's cache: a digest of the
// content of m, and its estimated size in tokens.
func link(m *retention.Message) economy.Link {
	parts := []string{string(m.Role), m.CallID, m.Text}
	for _, k := range m.Calls {
		parts = append(parts, k.ID, k.Name, k.Args)
	}
	return economy.Link{Digest: digest.Of([]byte(strings.Join(parts, "\x00"))), Tokens: token.Count(m.Cost())}
}

// metered sets the calls of a conversation from the usage that its file recorded. If that is
// impossible, it returns the reason in why, and otherwise "".
func (c *conversation) metered(s *transcript.Session) (why string) {
	receipts := make(map[string]transcript.Receipt)
	for _, r := range claudecode.Format.(transcript.Metered).Receipts(s) {
		if !r.Side {
			receipts[r.ID] = r
		}
	}
	var ids []string // ids of the replies, in the order of c.Messages
	for i := range s.Messages {
		if m := &s.Messages[i]; m.Role == transcript.RoleAssistant && (m.Text() != "" || len(m.Calls()) > 0) {
			ids = append(ids, m.ID)
		}
	}
	var last time.Time
	counted := token.Count(0) // tokens before the message
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == transcript.RoleAssistant {
			r, ok := receipts[ids[0]]
			ids = ids[1:]
			if ok {
				tariff, known := economy.Published().Find(r.Model)
				if !known || !tariff.Priced() {
					return "no price is known of " + r.Model
				}
				at := r.Begun
				if at.IsZero() || at.Before(last) { // a call that is out of order was sent at once
					at = last
				}
				last = at
				if len(c.calls) == 0 {
					c.frame = max(token.Count(r.Uncached+r.Read+r.Write5m+r.Write1h)-counted, 1)
				}
				c.calls = append(c.calls, call{at: i, time: at, tariff: tariff, output: max(token.Count(r.Output), token.Count(m.Cost()))})
			}
		}
		counted += token.Count(m.Cost())
	}
	if len(c.calls) == 0 {
		return "it records no call"
	}
	return ""
}

// plain sets the calls of a conversation whose file records no usage: every reply is a call. If
// there is no reply, it returns that as the reason in why, and otherwise "".
func (c *conversation) plain() (why string) {
	tariff, _ := economy.Published().Find(plainModel)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Role == transcript.RoleAssistant && i > 0 {
			c.calls = append(c.calls, call{at: i, time: at, tariff: tariff, output: token.Count(m.Cost())})
			at = at.Add(plainPause)
		}
	}
	if len(c.calls) == 0 {
		return "it has no reply of a model"
	}
	return ""
}

// tokens returns the size of the largest prompt.
func (c *conversation) tokens() token.Count {
	n := c.frame
	for i := range c.calls[len(c.calls)-1].at {
		n += c.linked[i].Tokens
	}
	return n
}

// chained returns long conversations: those of a project joined in the order of their first calls,
// until they have at least 300,000 or 1,000,000 tokens. The parameter most bounds how many of each
// size it returns for a project.
func chained(all []*conversation, most int) []*conversation {
	families := make(map[string][]*conversation)
	var names []string
	for _, c := range all {
		if c.calls[0].tariff.Automatic { // their times are unknown
			continue
		}
		if families[c.Family] == nil {
			names = append(names, c.Family)
		}
		families[c.Family] = append(families[c.Family], c)
	}
	slices.Sort(names)
	var list []*conversation
	for _, name := range names {
		parts := families[name]
		slices.SortStableFunc(parts, func(a, b *conversation) int {
			return cmp.Or(a.calls[0].time.Compare(b.calls[0].time), cmp.Compare(a.ID, b.ID))
		})
		for _, size := range []struct {
			name string
			n    token.Count
		}{{"300k", 300_000}, {"1M", 1_000_000}} {
			rest := parts
			for range most {
				n, sum := 0, token.Count(0)
				for n < len(rest) && sum < size.n {
					sum += rest[n].tokens() - rest[n].frame
					n++
				}
				if sum < size.n {
					break
				}
				list = append(list, join(size.name, name, rest[:n]))
				rest = rest[n:]
			}
		}
	}
	return list
}

// join puts conversations in a row, with the tools and system text of the first.
func join(size, family string, parts []*conversation) *conversation {
	var msgs []retention.Message
	var calls []call
	var last time.Time
	for _, p := range parts {
		for _, k := range p.calls {
			k.at += len(msgs)
			if k.time.Before(last) { // sessions that overlap in time
				k.time = last
			}
			last = k.time
			calls = append(calls, k)
		}
		msgs = append(msgs, p.Messages...)
	}
	c := newConversation(fmt.Sprintf("%s-%s-from-%s", family, size, parts[0].ID), family, msgs)
	c.calls, c.frame, c.chain = calls, parts[0].frame, size
	return c
}
