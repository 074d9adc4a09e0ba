package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// The published programs do not check types: they join lists of strings and index objects. The
// functions below fail where these programs would.

// textsOf returns a list of strings.
func textsOf(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%T where a list is expected", v)
	}
	all := make([]string, len(list))
	for i, e := range list {
		if all[i], ok = e.(string); !ok {
			return nil, fmt.Errorf("entry %d is %T, want a text", i, e)
		}
	}
	return all, nil
}

// field returns a field of an object, which must have type T.
func field[T any](object map[string]any, key string) (T, error) {
	v, ok := object[key].(T)
	if !ok {
		return v, fmt.Errorf("%s is %T", key, object[key])
	}
	return v, nil
}

// skillFields are the arguments that both published versions of the summary take.
var skillFields = []string{"session_intent", "files_modified", "decisions_made", "current_state", "blockers", "next_steps", "compression_count"}

// skillRows renders a state document as the skill does, one row per entry. Like the skill, it
// fails for a key that is no argument of the summary.
func skillRows(document string) (rows []string, err error) {
	var state struct {
		Compression map[string]any `json:"compression_state"`
	}
	if err := json.Unmarshal([]byte(document), &state); err != nil {
		return nil, err
	}
	s, err := field[map[string]any](state.Compression, "summary")
	if err != nil {
		return nil, err
	}
	for key := range s {
		if !slices.Contains(skillFields, key) {
			return nil, fmt.Errorf("unexpected argument %s", key)
		}
	}
	files, err := field[map[string]any](s, "files_modified")
	if err != nil {
		return nil, err
	}
	for path, v := range files {
		changes, err := textsOf(v)
		if err != nil {
			return nil, fmt.Errorf("files_modified[%s]: %w", path, err)
		}
		rows = append(rows, path+": "+strings.Join(changes, ", "))
	}
	decisions, err := field[[]any](s, "decisions_made")
	if err != nil {
		return nil, err
	}
	for _, v := range decisions {
		d, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("a decision is %T", v)
		}
		what, err1 := field[string](d, "decision")
		why, err2 := field[string](d, "rationale")
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("decision: %w", errors.Join(err1, err2))
		}
		rows = append(rows, what+": "+why)
	}
	for _, key := range []string{"blockers", "next_steps"} {
		list, err := textsOf(s[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		rows = append(rows, list...)
	}
	for _, key := range []string{"session_intent", "current_state"} {
		text, err := field[string](s, key)
		if err != nil {
			return nil, err
		}
		rows = append(rows, text)
	}
	return rows, nil
}

// A program written for the skill can read the state of a session, and gets the entries of the
// summary.
func TestStateCompatIsReadByTheSkill(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	run(0, "import", sample(t, "claude.jsonl"))
	run(0, "compress", "--strategy", "anchored", "--target", "5000")

	plain := run(0, "state")
	if _, err := skillRows(plain); err == nil {
		t.Fatalf("the plain state is in the published form already: this test shows nothing\n%s", plain)
	}
	rows, err := skillRows(run(0, "state", "--compat"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(rows, "\n")
	found := 0
	for _, query := range []string{
		".files_modified[][]", ".blockers[]", ".next_steps[]", ".decisions_made[].decision",
	} {
		query = ".compression_state.summary" + query + " | if type == \"object\" then .text else . end"
		for text := range strings.Lines(run(0, "state", "--jq", query)) {
			if text = strings.TrimSpace(text); text == "" || text == "None" {
				continue
			}
			found++
			if !strings.Contains(all, text) {
				t.Errorf("%q is not in what the skill renders:\n%s", text, all)
			}
		}
	}
	if found == 0 {
		t.Error("the summary says nothing")
	}
	if slices.Contains(rows, "None") {
		t.Errorf("an entry says None:\n%s", all)
	}
	var outer struct {
		Compression map[string]json.RawMessage `json:"compression_state"`
	}
	if err := json.Unmarshal([]byte(run(0, "state", "--compat")), &outer); err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 0, len(outer.Compression))
	for key := range outer.Compression {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if d := cmp.Diff([]string{"compression_count", "last_compressed_at", "probe_score", "summary"}, keys); d != "" {
		t.Errorf("keys of the state (-published +got):\n%s", d)
	}
}

// packetKeys are the keys of Intent IR v0.
var packetKeys = []string{"amber_flags", "assumptions", "confidence", "gaps", "human_context", "schema", "secondary_intents", "slots", "verb"}

// A program written for the published packets can read the intent of a prompt.
func TestIntentCompatIsReadAsAPacket(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		verb   any
		slots  map[string]string
		gaps   []string
		amber  []string
		human  []string
		then   []string
	}{
		{
			"Write a brief but exhaustive report on tides, without jargon, at most two pages, and then translate it into Dutch. I'm not sure how long.", "create",
			map[string]string{"artifact": "report", "topic": "tides", "constraints": "without jargon, at most two pages"},
			[]string{},
			[]string{"BREVITY_DEPTH_TENSION"},
			[]string{"UNCERTAIN_USER"},
			[]string{"transform"},
		},
		{"Fix it.", "fix", map[string]string{}, []string{"target"}, []string{}, []string{}, []string{}},
		{"hello", nil, map[string]string{}, []string{}, []string{}, []string{}, []string{}},
	} {
		t.Run(tt.prompt, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			var packet map[string]any
			text := runner(t, env, stdout, stderr)(0, "intent", "--compat", tt.prompt)
			if err := json.Unmarshal([]byte(text), &packet); err != nil {
				t.Fatal(err)
			}
			var keys []string
			for key := range packet {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			if d := cmp.Diff(packetKeys, keys); d != "" {
				t.Errorf("keys (-published +got):\n%s", d)
			}
			if packet["verb"] != tt.verb {
				t.Errorf("verb is %v, want %v", packet["verb"], tt.verb)
			}
			slots, err := field[map[string]any](packet, "slots")
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for name := range slots {
				if got[name], err = field[string](slots, name); err != nil {
					t.Errorf("slots: %v", err)
				}
			}
			if d := cmp.Diff(tt.slots, got); d != "" {
				t.Errorf("slots (-want +got):\n%s", d)
			}
			for key, want := range map[string][]string{"gaps": tt.gaps, "amber_flags": tt.amber, "human_context": tt.human, "secondary_intents": tt.then} {
				got, err := textsOf(packet[key])
				if err != nil {
					t.Errorf("%s: %v", key, err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", key, d)
				}
			}
		})
	}
}
