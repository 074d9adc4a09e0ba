package retention

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

// A Trajectory is a recorded session.
type Trajectory struct {
	ID       string // name of its file without the extension
	Group    string // session that it belongs to, for means and intervals
	Family   string // project
	Messages []Message
	Pinned   int // number of leading system messages

	costs []int // total cost of the messages from Pinned up to each message
}

// NewTrajectory returns a trajectory of messages. The caller must not change the messages
// afterwards.
func NewTrajectory(id, group, family string, msgs []Message) *Trajectory {
	t := &Trajectory{ID: id, Group: group, Family: family, Messages: msgs, costs: make([]int, len(msgs)+1)}
	for t.Pinned < len(msgs) && msgs[t.Pinned].Role == transcript.RoleSystem {
		t.Pinned++
	}
	for i := range msgs {
		msgs[i].read = read(&msgs[i])
		t.costs[i+1] = t.costs[i]
		if i >= t.Pinned {
			t.costs[i+1] += msgs[i].Cost()
		}
	}
	return t
}

// Read returns the trajectory of a conversation in any format that Carrel reads. path is the
// path of its file.
func Read(path, family string, data []byte) (*Trajectory, error) {
	f, err := carrel.Detect(data)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	s, err := f.Decode(base, data)
	if err != nil {
		return nil, err
	}
	id := strings.TrimSuffix(base, filepath.Ext(base))
	return NewTrajectory(id, cmp.Or(string(s.ID), id), family, MessagesOf(s)), nil
}

// MessagesOf returns the visible conversation of a session. It omits reasoning, images and
// other data that only a provider understands, and messages that have no other content. Text
// beside results becomes a user message.
func MessagesOf(s *transcript.Session) []Message {
	var list []Message
	tools := make(map[string]string) // by call id
	for i := range s.Messages {
		m := &s.Messages[i]
		for _, r := range m.Results() {
			list = append(list, Message{Role: transcript.RoleTool, Text: r.Text(), CallID: r.CallID, Tool: tools[r.CallID]})
		}
		said := Message{Role: m.Role, Text: m.Text()}
		if said.Role == transcript.RoleTool {
			said.Role = transcript.RoleUser
		}
		for _, c := range m.Calls() {
			tools[c.ID] = c.Name
			said.Calls = append(said.Calls, Call{c.ID, c.Name, string(c.Input)})
		}
		if said.Text != "" || len(said.Calls) > 0 {
			list = append(list, said)
		}
	}
	return list
}

// Files returns the paths of all .json and .jsonl files below folders, sorted and without
// repetitions.
func Files(folders []string) ([]string, error) {
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".json" || ext == ".jsonl") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Each calls f for the numbers from 0 to n−1, on all processors.
func Each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
}
