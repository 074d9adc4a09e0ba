package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// environ returns an environment with the given variables.
func environ(vars map[string]string) Getenv {
	return func(name string) string { return vars[name] }
}

// The folders of an agent depend only on the environment.
func TestFolders(t *testing.T) {
	for _, tt := range []struct {
		agent *Agent
		vars  map[string]string
		want  []string
	}{
		{Claude, map[string]string{"HOME": "h"}, []string{"h/.claude/projects"}},
		{Claude, map[string]string{"HOME": "h", "CLAUDE_CONFIG_DIR": "c"}, []string{"c/projects"}},
		{Gemini, map[string]string{"HOME": "h"}, []string{"h/.gemini/tmp"}},
		{Gemini, map[string]string{"HOME": "h", "GEMINI_CLI_HOME": "g"}, []string{"g/.gemini/tmp"}},
		{Codex, map[string]string{"USERPROFILE": "h"}, []string{"h/.codex/sessions", "h/.codex/archived_sessions"}},
		{Codex, map[string]string{"HOME": "h", "CODEX_HOME": "c"}, []string{"c/sessions", "c/archived_sessions"}},
		{OpenCode, map[string]string{"HOME": "h"}, []string{"h/.local/share/opencode"}},
		{OpenCode, map[string]string{"HOME": "h", "XDG_DATA_HOME": "d", "OPENCODE_DB": "x/o.db"}, []string{"d/opencode/x"}},
		{OpenCode, map[string]string{"HOME": "h", "OPENCODE_DB": "/x/o.db"}, []string{"/x"}},
		{OpenCode, map[string]string{"HOME": "h", "XDG_DATA_HOME": "d", "OPENCODE_DB": ":memory:"}, []string{"d/opencode"}},
	} {
		got, err := tt.agent.Folders(environ(tt.vars))
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s with %v: %v (-want +got):\n%s", tt.agent.Name, tt.vars, err, diff)
		}
		if _, err := tt.agent.Folders(environ(nil)); !errors.Is(err, ErrHome) {
			t.Errorf("%s without a home: %v", tt.agent.Name, err)
		}
	}
}

// fill creates files in a new folder and returns the folder.
func fill(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The sessions of an agent are the files with its names. Of a file and its compressed copy, the
// plain file counts.
func TestSessions(t *testing.T) {
	const id = "019a7c1e-0000-7000-8000-00000000000"
	const rollout = "2026/11/01/rollout-2026-11-01T10-00-00-" + id
	for _, tt := range []struct {
		agent       *Agent
		files, want []string
		path        string
	}{
		{
			Claude,
			[]string{"p/1.jsonl", "p/1/subagents/w/agent-a.jsonl", "p/1/subagents/w/agent-a.meta.json", "p/1/subagents/log.jsonl", "p/1/tool-results/agent-x.jsonl", "p/n.json"},
			[]string{"p/1/subagents/w/agent-a.jsonl", "p/1.jsonl"},
			"",
		},
		{Claude, []string{"p/1.jsonl", "p/2.jsonl"}, []string{"p/2.jsonl"}, "p/2.jsonl"},
		{
			Codex,
			[]string{rollout + "1.jsonl", rollout + "1.jsonl.zst", rollout + "2.jsonl.zst", rollout + "3.json", "2026/x.jsonl"},
			[]string{rollout + "1.jsonl", rollout + "2.jsonl.zst"},
			"",
		},
		{
			Gemini,
			[]string{"pool/chats/session-2026-01-05T10-00-5b8d7c1e.jsonl", "ab12/chats/session-2025-11-05T10-00-5b8d7c1e.json", "pool/chats/5b8d7c1e/helper-1.jsonl", "pool/chats/5b8d7c1e/notes.md", "pool/chats/session-2026-01-05T10-00-5b8d7c1e.jsonl.unreadable-1", "pool/logs.json", "pool/logs/session-x.jsonl", "pool/tool-outputs/session-x/a.txt", "pool/checkpoints/a.json"},
			[]string{"ab12/chats/session-2025-11-05T10-00-5b8d7c1e.json", "pool/chats/5b8d7c1e/helper-1.jsonl", "pool/chats/session-2026-01-05T10-00-5b8d7c1e.jsonl"},
			"",
		},
		{Codex, nil, nil, "nowhere"},
	} {
		dir := fill(t, tt.files...)
		found, err := tt.agent.Sessions(filepath.Join(dir, filepath.FromSlash(tt.path)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found {
			rel, err := filepath.Rel(dir, s.Name)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s at %q (-want +got):\n%s", tt.agent.Name, tt.path, diff)
		}
	}
}

// A compressed file is unpacked, up to a limit.
func TestUnpacked(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	small, bomb := w.EncodeAll([]byte("{}\n"), nil), w.EncodeAll(make([]byte, 1<<20), nil)
	if got, err := Unpacked("a.jsonl.zst", small); err != nil || string(got) != "{}\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Unpacked("a.jsonl", small); err != nil || !bytes.Equal(got, small) {
		t.Errorf("a file of another name: %q, %v", got, err)
	}
	if got, err := unpacked("a.jsonl.zst", bomb, 1<<20-1); err == nil {
		t.Errorf("%d bytes of a file that unpacks to more than the bound", len(got))
	}
	for cut := range len(small) {
		if got, err := Unpacked("a.jsonl.zst", small[:cut]); err == nil && len(got) > 0 {
			t.Errorf("%q of the first %d bytes", got, cut)
		}
	}
}

func FuzzUnpacked(f *testing.F) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.EncodeAll([]byte("{}\n"), nil))
	f.Add(w.EncodeAll(make([]byte, 1<<16), nil))
	const most = 1 << 16
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := unpacked("a.zst", data, most); len(plain) > most || err != nil && plain != nil {
			t.Errorf("%d bytes, %v", len(plain), err)
		}
	})
}

// A new session is written where the user says, under a name in the form of its agent.
func TestNewFile(t *testing.T) {
	const id = "019a7c1e-0000-7000-8000-000000000001"
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		agent  *Agent
		output string
		folder bool
		want   string // a pattern of the path, or empty if it is refused
		id     string
	}{
		{Claude, "", false, "", ""},
		{Claude, "d", true, "d/????????-????-4???-[89ab]???-????????????.jsonl", ""},
		{Claude, "d/" + id + ".jsonl", false, "d/" + id + ".jsonl", id},
		{Claude, "d/x.jsonl", false, "", ""},
		{Gemini, "", false, "", ""},
		{Gemini, "d", true, "d/session-2026-11-01T10-00-????????.jsonl", ""},
		{Gemini, "d/x.jsonl", false, "", ""},
		{Codex, "", false, "c/sessions/2026/11/01/rollout-2026-11-01T??-00-00-????????-????-7???-[89ab]???-????????????.jsonl", ""},
		{Codex, "d", true, "d/rollout-2026-11-01T??-00-00-????????-????-7???-[89ab]???-????????????.jsonl", ""},
		{Codex, "rollout-2026-11-01T10-00-00-" + id + ".jsonl", false, "rollout-2026-11-01T10-00-00-" + id + ".jsonl", id},
		{Codex, "rollout-2026-11-01T10-00-00-" + id + ".jsonl.zst", false, "", ""},
		{Codex, id + ".jsonl", false, "", ""},
		{OpenCode, "", false, "opencode-ses_??????????????????????????.json", ""},
		{OpenCode, "d", true, "d/opencode-ses_??????????????????????????.json", ""},
		{OpenCode, "d/x.json", false, "d/x.json", ""},
		{OpenCode, "d/x.txt", false, "", ""},
	} {
		got, err := tt.agent.NewFile(&New{Env: environ(map[string]string{"CODEX_HOME": "c"}), Now: now, Output: tt.output, Folder: tt.folder})
		if tt.want == "" {
			if e, ok := errors.AsType[*NameError](err); !ok || e.Output != tt.output {
				t.Errorf("%s in %q: %+v, %v", tt.agent.Name, tt.output, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s in %q: %v", tt.agent.Name, tt.output, err)
			continue
		}
		if ok, _ := filepath.Match(tt.want, filepath.ToSlash(got.Path)); !ok || tt.id != "" && got.ID != tt.id || tt.output != "d/x.json" && !bytes.Contains([]byte(got.Path), []byte(got.ID[:8])) {
			t.Errorf("%s in %q: %+v, want %s", tt.agent.Name, tt.output, got, tt.want)
		}
	}
}

// rollout writes a file of Codex, with a base if one is given, and returns its path.
func rollout(t *testing.T, home, id, base string, bytes int, rows ...string) string {
	t.Helper()
	path := filepath.Join(home, "sessions", "2026", "11", "01", "rollout-2026-11-01T10-00-00-"+id+".jsonl")
	first := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q}}`, id)
	if base != "" {
		first = fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"history_base":{"thread_id":%q,"end_byte_offset":%d}}}`, id, base, bytes)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(append([]string{first}, rows...), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A fork of Codex is read with all its bases, each up to the row that the fork names.
func TestReadFork(t *testing.T) {
	const one, two, three = "019a7c1e-0000-7000-8000-000000000001", "019a7c1e-0000-7000-8000-000000000002", "019a7c1e-0000-7000-8000-000000000003"
	home := t.TempDir()
	size := func(path string) int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	root := rollout(t, home, one, "", 0, "a", "b")
	upTo := size(root)
	rollout(t, home, one, "", 0, "a", "b", "c")
	next := rollout(t, home, two, one, upTo, "d")
	last := rollout(t, home, three, two, size(next), "e")
	lines := func(path string) string {
		t.Helper()
		data, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all, n, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer all.Close()
		if again, err := io.ReadAll(io.NewSectionReader(all, 0, n)); err != nil || !bytes.Equal(again, data) {
			t.Errorf("followed, it is %q, %v; read, %q", again, err, data)
		}
		var got []string
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); len(line) > 1 {
				line = gjson.Get(line, "payload.id").Str[35:]
			}
			got = append(got, line)
		}
		return strings.Join(got, " ")
	}
	for path, want := range map[string]string{root: "1 a b c", next: "2 1 a b d", last: "3 2 1 a b d e"} {
		if got := lines(path); got != want {
			t.Errorf("%s has %q, want %q", filepath.Base(path), got, want)
		}
	}
	for name, path := range map[string]string{
		"a place within a row":    rollout(t, home, three, one, upTo-1, "e"),
		"a place behind the file": rollout(t, home, three, one, 1<<20, "e"),
	} {
		if got := lines(path); got != "3 e" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := lines(rollout(t, home, three, "../"+one, upTo, "e")); got != "3 e" {
		t.Errorf("a thread that is a path: %q", got)
	}
	// A thread that was rewound goes on in a file of its own, and a second time in a third one.
	begun := rollout(t, home, one, "", 0, "a", "b", "c")
	rewound := func(segment string, bytes int, rows ...string) string {
		path := rollout(t, home, three, one, bytes, rows...)
		to := strings.TrimSuffix(begun, ".jsonl") + "_" + segment + ".jsonl"
		if err := os.Rename(path, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	first := rewound(two, size(begun)-2, "x", "y")
	if got := lines(first); got != "3 1 a b x y" {
		t.Errorf("rewound: %q", got)
	}
	second := rewound(three, size(first)-2, "z")
	if got := lines(second); got != "3 3 1 a b x z" {
		t.Errorf("rewound again: %q", got)
	}
	list, err := Codex.Sessions(filepath.Join(home, "sessions"))
	if err != nil || len(list) != 2 || list[0].Name != second { // the other is of thread two
		t.Errorf("sessions %+v, %v", list, err)
	}
	if data, err := ReadFile(filepath.Join(home, "rollout-2026-11-01T10-00-00-"+one+".jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a fork that is not there: %q, %v", data, err)
	}
	if got := RolloutOf(home, one); got != second {
		t.Errorf("the newest file is %s", got)
	}
}

// A compressed file is opened with the content that [ReadFile] returns. If the uncompressed file is
// beside it, that file is the one of the thread.
func TestOpenCompressed(t *testing.T) {
	const one = "019a7c1e-0000-7000-8000-000000000001"
	home := t.TempDir()
	path := rollout(t, home, one, "", 0, "a", "b")
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".zst", w.EncodeAll(plain, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := RolloutOf(home, one); got != path {
		t.Errorf("with both files, the thread is in %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := RolloutOf(home, one); got != path+".zst" {
		t.Errorf("with the compressed file, the thread is in %q", got)
	}
	all, n, err := Open(path + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if got, err := io.ReadAll(io.NewSectionReader(all, 0, n)); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened, it is %q, %v", got, err)
	}
}

// Reading a fork ends, even if bases refer to one another in a circle.
func TestReadForkInACircle(t *testing.T) {
	const one, two = "019a7c1e-0000-7000-8000-000000000001", "019a7c1e-0000-7000-8000-000000000002"
	home := t.TempDir()
	n, err := os.ReadFile(rollout(t, home, one, two, 100, "a"))
	if err != nil {
		t.Fatal(err)
	}
	rollout(t, home, one, two, len(n), "a")
	if _, err := ReadFile(rollout(t, home, two, one, len(n), "a")); err == nil {
		t.Error("a session stands before itself")
	}
}

// A base is the beginning of a file up to the end of a row, which has the number before the next.
// A file is of the thread whose whole id its name has.
func TestRolloutOfAThread(t *testing.T) {
	home := t.TempDir()
	const id = "019a7c1e-0000-7000-8000-000000000001"
	dir := filepath.Join(home, "sessions", "2026", "11", "01")
	path := filepath.Join(dir, "rollout-2026-11-01T10-00-00-"+id+".jsonl")
	odd := filepath.Join(dir, "rollout-x-y.jsonl")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, nil, 0o600), os.WriteFile(odd, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for thread, want := range map[string]string{id: path, id[:8]: "", "": "", "*": "", "x": ""} {
		if got := RolloutOf(home, thread); got != want {
			t.Errorf("the file of %q is %q, want %q", thread, got, want)
		}
	}
}

func TestBasesFit(t *testing.T) {
	const rows = "{\"ordinal\":1}\n{\"ordinal\":2}\n"
	for _, tt := range []struct {
		bytes   int
		ordinal int64
		data    string
		want    string
	}{
		{len(rows), 0, rows, rows},
		{len(rows), 3, rows, rows},
		{len(rows), 2, rows, ""},
		{len(rows), 1, rows, ""},
		{len(rows), -1, rows, rows},
		{len(rows) / 2, 2, rows, rows[:len(rows)/2]},
		{len(rows) - 1, 3, rows, ""},
		{len(rows) + 1, 3, rows, ""},
		{1, 0, "\n", "\n"},
		{0, 0, rows, ""},
		{-1, 0, rows, ""},
		{3, 7, "{}\n", "{}\n"},
	} {
		if got := (&base{bytes: int64(tt.bytes), ordinal: tt.ordinal}).of([]byte(tt.data)); string(got) != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
