package retention

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// A Trajectory is a recorded session.
type Trajectory struct {
	ID       string // name of its file, without the ending
	Group    string // the session that it is of, for means and intervals
	Family   string // the project, see [FamilyOf]
	Messages []Message
	Pinned   int // leading system messages

	costs []int // of the messages from Pinned up to each
}

// NewTrajectory returns a trajectory of messages, which must not be changed
// afterwards.
func NewTrajectory(id, group, family string, msgs []Message) *Trajectory {
	t := &Trajectory{ID: id, Group: group, Family: family, Messages: msgs, costs: make([]int, len(msgs)+1)}
	for t.Pinned < len(msgs) && msgs[t.Pinned].Role == RoleSystem {
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

// Read returns the trajectory in data, a conversation in any format that Carrel
// reads. The path is that of its file.
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
	return NewTrajectory(id, cmp.Or(string(s.ID), id), family, Messages(s)), nil
}

// Messages returns the visible conversation of a session. Reasoning, images and
// what only a provider understands are left out, and so are messages that then say
// nothing.
func Messages(s *transcript.Session) []Message {
	var list []Message
	tools := make(map[string]string) // by call id
	for i := range s.Messages {
		m := &s.Messages[i]
		for _, r := range m.Results() {
			list = append(list, Message{Role: RoleTool, Text: r.Text(), CallID: r.CallID, Tool: tools[r.CallID]})
		}
		said := Message{Role: roleOf(m.Role), Text: m.Text()}
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

// roleOf returns the role of the words of a message: those beside results are the
// user's.
func roleOf(r transcript.Role) Role {
	switch r {
	case transcript.RoleSystem:
		return RoleSystem
	case transcript.RoleAssistant:
		return RoleAssistant
	case transcript.RoleUser, transcript.RoleTool:
	}
	return RoleUser
}

var uuid = lazy.Regexp(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-`)

// FamilyOf returns the project of a file by its path: its name up to the first
// hyphen, or, if the name has none or is a UUID, the folder that it is in. The two
// editions of the tau benchmark are one family.
func FamilyOf(path string) string {
	base := filepath.Base(path)
	head, _, found := strings.Cut(strings.TrimSuffix(base, filepath.Ext(base)), "-")
	if !found || uuid().MatchString(base) {
		return filepath.Base(filepath.Dir(path))
	}
	if head == "tau1" || head == "tau2" {
		return "tau"
	}
	return head
}

// Load reads all conversations below folders, .json and .jsonl, in the order of
// their paths, each in the family that a function gives it; nil is [FamilyOf]. Files
// that are no conversation are skipped and returned by their paths.
func Load(folders []string, family func(path string) string) (all []*Trajectory, skipped []string, err error) {
	files, err := Files(folders)
	if err != nil {
		return nil, nil, err
	}
	if family == nil {
		family = FamilyOf
	}
	read := make([]*Trajectory, len(files))
	errs := make([]error, len(files))
	each(len(files), func(i int) {
		data, err := os.ReadFile(files[i])
		if err != nil {
			errs[i] = fmt.Errorf("read a conversation: %w", err)
			return
		}
		read[i], _ = Read(files[i], family(files[i]), data)
	})
	for i, t := range read {
		switch {
		case errs[i] != nil:
			return nil, nil, errs[i]
		case t == nil || len(t.Messages) == t.Pinned:
			skipped = append(skipped, files[i])
		default:
			all = append(all, t)
		}
	}
	return all, skipped, nil
}

// Files returns the paths of all files below folders that end in .json or .jsonl, in
// order, each once.
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

// each calls f for the numbers below n, on all processors.
func each(n int, f func(i int)) {
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
