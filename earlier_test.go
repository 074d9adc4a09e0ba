package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// compactedDiary returns a session that its client compacted twice, and how many blocks
// each of its windows has.
func compactedDiary() (d *diary, windows []int) {
	d = newDiary()
	d.compacts("The user wants the beam test fixed; a mutex is in.")
	d.asks("Now make the lens test faster, but never touch lens.go.")
	d.runs("go test ./lens", "ok lens 41.507s\n", false)
	d.compacts("The lens test is slow.")
	d.asks("Go on.")
	d.says("The lens test sleeps in a loop.")
	return d, []int{6, 3, 3}
}

func blocksOf(t testing.TB, b *bench, id transcript.SessionID) (earlier, now []carrel.BlockInfo) {
	t.Helper()
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	return list.Messages[:list.Earlier], list.Messages[list.Earlier:]
}

// What the client compacted is blocks like any other: cold, of a window before the
// present one, in no figure of that one, and there for whatever looks back.
func TestWhatTheClientCompactedStays(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d, windows := compactedDiary()
	id := b.imports(t, d)
	earlier, now := blocksOf(t, b, id)

	var got []int
	for _, info := range earlier {
		if info.Earlier > len(got) {
			got = append(got, 0)
		}
		got[info.Earlier-1]++
		if info.Turn != got[info.Earlier-1] || info.State != store.StateCold || info.Form != pager.Gone || info.Window != 0 || info.Discardable || info.Tokens == 0 || info.Kept == "" {
			t.Errorf("earlier block: %+v", info)
		}
	}
	if diff := cmp.Diff(windows, append(got, len(now))); diff != "" {
		t.Fatalf("blocks of the windows (-want +got):\n%s", diff)
	}

	var tokens, standing int64
	for _, info := range now {
		tokens += int64(info.Tokens)
	}
	for _, info := range earlier {
		standing += int64(info.Tokens)
	}
	c, err := b.Context(t.Context(), scope, &carrel.ContextRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	if c.Earlier.Blocks != len(earlier) || int64(c.Earlier.Stands) != standing || c.Earlier.Tokens != 0 || c.Cold.Blocks != 0 {
		t.Errorf("context: %+v", c)
	}
	if int64(c.Tokens) != tokens || c.Used != c.Fixed.Tokens+c.Pinned.Tokens+c.Live.Tokens || c.Blocks != len(now) {
		t.Errorf("the present window is %+v, its blocks have %d tokens", c, tokens)
	}
	if !strings.HasPrefix(c.Title, "The beam test of the lamp") {
		t.Errorf("title %q", c.Title)
	}

	for _, info := range earlier {
		res, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(info.ID)})
		if err != nil || !bytes.Contains(d.file(), res.Data) || len(res.Data) == 0 || res.State != store.StateCold {
			t.Errorf("recall of %s: %v, %v", info.ID, res, err)
		}
	}
	found, err := carrel.Items(b.Search(t.Context(), scope, &carrel.SearchRequest{Query: "goroutines count sweeps", Session: id}))
	if err != nil || len(found) == 0 || found[0].Block != earlier[2].ID || found[0].Earlier != 1 || found[0].State != store.StateCold {
		t.Errorf("search: %+v, %v", found, err)
	}
	text, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(earlier[2].ID), Text: true})
	if err != nil || string(text.Data) != "Two goroutines count sweeps without a lock.\n" {
		t.Errorf("text: %v, %v", text, err)
	}
	stats, err := b.Stats(t.Context(), scope, &carrel.SessionRequest{Session: id})
	if err != nil || len(stats.Tasks) != 4 || stats.Tasks[0].Block != earlier[0].ID || stats.Tasks[2].Calls != 1 {
		t.Errorf("stats: %+v, %v", stats, err)
	}
	packet, err := b.Handoff(t.Context(), scope, &carrel.HandoffRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	out := packet.Packet.Markdown()
	for _, want := range []string{"never touch lens.go", "Don't add sleeps to any test", "Block " + earlier[1].ID.Short(), "go vet ./beam", "41.507s"} {
		if want == "Block "+earlier[1].ID.Short() {
			want = earlier[1].ID.Short()
		}
		if !strings.Contains(out, want) {
			t.Errorf("the packet does not say %q:\n%s", want, out)
		}
	}
}

// The journal says that the client took a block out of the window, and why tells it.
func TestWhyNamesTheClient(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	id := b.imports(t, d)
	_, was := blocksOf(t, b, id)
	d.compacts("The user wants the beam test fixed.")
	b.imports(t, d)
	earlier, _ := blocksOf(t, b, id)
	if len(earlier) != len(was) {
		t.Fatalf("%d blocks of %d are of an earlier window", len(earlier), len(was))
	}
	for i := range earlier {
		if earlier[i].ID != was[i].ID {
			t.Errorf("block %s is %s after the compaction", was[i].ID, earlier[i].ID)
		}
		why, err := b.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(earlier[i].ID)})
		if err != nil {
			t.Fatal(err)
		}
		if why.Off || why.Earlier != 1 || why.Now != nil || why.Preview == "" || len(why.History) != 2 {
			t.Fatalf("why: %+v", why)
		}
		first, last := why.History[0], why.History[1]
		if first.Kind != "import" || last.Kind != "compacted" || last.Actor != "client:claudecode" || last.Reason != "compacted by the client" {
			t.Errorf("history: %+v", why.History)
		}
	}
}

// No pass, no larger target and no undoing brings back what the client took out, and no
// export has it.
func TestNothingBringsBackWhatTheClientCompacted(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Strategy: carrel.StrategyImportance})
	d := newDiary()
	for i := range 12 {
		d.runs(fmt.Sprintf("make module%d", i), strings.Repeat(fmt.Sprintf("module%d built by marzipan\n", i), 30), false)
	}
	d.says("All modules are built.")
	id := b.imports(t, d)
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(1, 2)}}); err != nil {
		t.Fatal(err)
	}
	d.compacts("Twelve modules are built.")
	for i := range 9 {
		d.asks(fmt.Sprintf("Run step %d.", i))
		d.runs(fmt.Sprintf("step %d", i), strings.Repeat(fmt.Sprintf("step %d is nougat\n", i), 30), false)
	}
	b.imports(t, d)
	earlier, _ := blocksOf(t, b, id)

	unchanged := func(after string) {
		t.Helper()
		still, now := blocksOf(t, b, id)
		if diff := cmp.Diff(earlier, still); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", after, diff)
		}
		for _, to := range []string{"openai", "anthropic"} {
			out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: id, To: to})
			if err != nil || bytes.Contains(out.Data, []byte("marzipan")) || !bytes.Contains(out.Data, []byte("nougat")) {
				t.Errorf("after %s the export to %s has what was compacted, or not the rest: %v", after, to, err)
			}
		}
		if slices.ContainsFunc(now, func(i carrel.BlockInfo) bool { return i.Form != pager.Whole }) {
			out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: id})
			if err != nil || bytes.Contains(out.Data, []byte("marzipan")) {
				t.Errorf("after %s the resumed session has what was compacted: %v", after, err)
			}
		}
	}
	unchanged("the import")
	if _, err := b.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	unchanged("undoing the pass before the compaction")
	if res, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(1, 2)}}); err != nil || res.Changed == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	unchanged("a pass")
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 1_000_000}}); err != nil {
		t.Fatal(err)
	}
	unchanged("a larger target")
	if _, err := b.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	unchanged("undoing the pass")
	out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: id, Whole: true})
	if err != nil || !bytes.Equal(out.Data, d.file()) {
		t.Errorf("the file is not what was imported: %v", err)
	}
}

// A pin outlives the compaction: what it is on stays in briefs and packets, and the pin
// can be lifted and set again.
func TestPinsOutliveACompaction(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	id := b.imports(t, d)
	_, was := blocksOf(t, b, id)
	pinned := was[2].ID
	if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(pinned)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 100_000}}); err != nil {
		t.Fatal(err)
	}
	d.compacts("Two goroutines, it is said.")
	d.asks("Go on.")
	b.imports(t, d)
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 100_000}}); err != nil {
		t.Fatalf("a pass after the compaction of what was pinned: %v", err)
	}
	brief, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id})
	if err != nil || !strings.Contains(brief.Text, "Pinned:\n- Two goroutines count sweeps without a lock. ["+pinned.Short()+"]") {
		t.Errorf("brief: %v, %v", brief, err)
	}
	for _, unpin := range []bool{true, false} {
		if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(pinned)}, Unpin: unpin}); err != nil {
			t.Fatal(err)
		}
		earlier, _ := blocksOf(t, b, id)
		if earlier[2].Pinned == unpin || earlier[2].State != store.StateCold {
			t.Errorf("unpin %t: %+v", unpin, earlier[2])
		}
	}
	if _, err := b.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	if earlier, _ := blocksOf(t, b, id); earlier[2].Pinned {
		t.Error("the pin is there after it was undone")
	}
}

// A contract with a correction that a compacted block records goes on to hold.
func TestACompactedCorrectionStopsNoPass(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	id := b.imports(t, d)
	_, was := blocksOf(t, b, id)
	if _, err := b.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{
		Session: id, Init: true, Corrections: []carrel.ContractCorrection{{Text: "no sleeps in tests", Blocks: []string{string(was[3].ID)}}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 100_000}}); err != nil {
		t.Fatal(err)
	}
	d.compacts("No sleeps.")
	d.asks("Go on.")
	b.imports(t, d)
	if _, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 100_000}}); err != nil {
		t.Error(err)
	}
}

// A file with less of a session than what is known, and nothing new, is refused, and
// changes nothing. With a rewind what is missing leaves, and is the same when it is back.
func TestAShorterCopyIsRefused(t *testing.T) {
	d, _ := compactedDiary()
	file := d.file()
	lines := slices.Collect(bytes.Lines(file))
	talk := func(n int) []byte {
		var msgs []message
		for i := range n {
			msgs = append(msgs, message{Role: []string{"user", "assistant"}[i%2], Content: fmt.Sprint("word ", i)})
		}
		return body(t, msgs)
	}
	for _, tt := range []struct {
		name        string
		whole, less []byte
	}{
		{"the beginning of it", file, bytes.Join(lines[:3], nil)},
		{"all but the last row", file, bytes.Join(lines[:len(lines)-1], nil)},
		{"a reply without its result", bytes.Join(lines[:3], nil), bytes.Join(lines[:2], nil)},
		{"rows missing in the middle", file, slices.Concat(bytes.Join(lines[:2], nil), bytes.Join(lines[5:], nil))},
		{"before the compaction", file, bytes.Join(lines[:8], nil)},
		{"a line that is cut", file, file[:len(file)-20]},
		{"a request with fewer messages", talk(9), talk(4)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, stores.New(t), carrel.Options{})
			in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s", Data: tt.whole})
			if err != nil {
				t.Fatal(err)
			}
			earlier, now := blocksOf(t, b, in.Session)
			all := append(earlier, now...)
			if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(all[len(all)-1].ID), string(all[0].ID)}}); err != nil {
				t.Fatal(err)
			}
			before, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s", Data: tt.less})
			shorter, ok := errors.AsType[*carrel.ShorterError](err)
			if !ok || !errors.Is(err, carrel.ErrShorter) || shorter.Session != in.Session || shorter.Bytes != int64(len(tt.less)) || shorter.KnownBytes != int64(len(tt.whole)) || shorter.Has > shorter.Known {
				t.Fatalf("error %v", err)
			}
			after, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if diff := cmp.Diff(before, after); err != nil || diff != "" {
				t.Errorf("the refusal changed something: %v\n%s", err, diff)
			}
			if _, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s", Data: tt.less, Rewind: true}); err != nil {
				t.Fatal(err)
			}
			for _, info := range before.Messages {
				if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(info.ID)}); err != nil {
					t.Errorf("recall after the rewind: %v", err)
				}
			}
			if _, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s", Data: tt.whole}); err != nil {
				t.Fatal(err)
			}
			again, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if diff := cmp.Diff(before.Messages, again.Messages); err != nil || diff != "" {
				t.Errorf("the whole again: %v (-before +again)\n%s", err, diff)
			}
		})
	}
}

// A rewind by the client, which leaves a second child under an old parent, is none.
func TestAForkIsNoShorterCopy(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	id := b.imports(t, d)
	_, was := blocksOf(t, b, id)
	d.last = fmt.Sprintf("00000000-0000-4000-8000-%012d", 4) // what the agent said first
	d.asks("Not a mutex: use a channel.")
	if d2 := b.imports(t, d); d2 != id {
		t.Fatalf("another session: %s", d2)
	}
	earlier, now := blocksOf(t, b, id)
	if len(earlier) != 0 || len(now) != 4 {
		t.Fatalf("%d and %d blocks", len(earlier), len(now))
	}
	for i := range 3 {
		if now[i].ID != was[i].ID {
			t.Errorf("block %d was %s and is %s", i, was[i].ID, now[i].ID)
		}
	}
	if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(was[5].ID)}); err != nil {
		t.Error(err)
	}
}

// What an agent reads later of a reply that had begun is the same block.
func TestAReplyThatGrowsInBetweenIsTheSame(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := &diary{}
	d.asks("Look into both files.")
	call := func(reply, id string) {
		d.add("assistant", "", fmt.Sprintf(`{"id":%q,"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Read","input":{}}]}`, reply, id))
	}
	result := func(id string) {
		d.add("user", "", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"it"}]}`, id))
	}
	call("m1", "t1")
	result("t1")
	id := b.imports(t, d)
	_, was := blocksOf(t, b, id)
	call("m1", "t2")
	result("t2")
	b.imports(t, d)
	_, is := blocksOf(t, b, id)
	if len(was) != 2 || len(is) != 2 || was[1].ID != is[1].ID || is[1].Tokens <= was[1].Tokens || is[1].Window != is[1].Tokens {
		t.Errorf("was %+v, is %+v", was, is)
	}
	why, err := b.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(is[1].ID)})
	if data, _ := json.Marshal(why); err != nil || why.Off {
		t.Errorf("%s, %v", data, err)
	}
}

// A summary that somebody wrote may speak of what the client compacted: it is on record.
func TestASummaryMaySpeakOfEarlierWindows(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d, _ := compactedDiary()
	id := b.imports(t, d)
	res, err := b.CheckSummary(t.Context(), scope, &carrel.CheckSummaryRequest{Session: id, Data: []byte(
		"## Session Intent\nGo on.\n\n## Technical Context\n- `beam_test.go:41` is where the sweeps are counted\n- `flute_test.go:77` is next to it\n")})
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(res.Problems)
	if strings.Contains(said, "beam_test.go:41") || !strings.Contains(said, "flute_test.go:77") {
		t.Errorf("problems: %s", said)
	}
}

// The whole of a summary begins with what the client compacted, with ids that bring it
// back. The window has none of that: the client left a text of its own there.
func TestASummaryBeginsWithTheEarlierWindows(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d, _ := compactedDiary()
	for i := range 8 {
		d.asks(fmt.Sprintf("Look at lens %d.", i))
		d.runs(fmt.Sprintf("go doc lens.L%d", i), strings.Repeat("A lens of the lamp.\n", 60), false)
	}
	id := b.imports(t, d)
	earlier, _ := blocksOf(t, b, id)
	compress := func(target int64) *carrel.CompressResult {
		t.Helper()
		res, err := b.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: token.Count(target)}, Strategy: carrel.StrategyAnchored})
		if err != nil {
			t.Fatal(err)
		}
		if res.Summary == nil {
			t.Fatalf("no summary was made: %q", res.Warnings)
		}
		return res
	}
	whole := func(res *carrel.CompressResult) string {
		t.Helper()
		all, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(res.Summary.ID)})
		if err != nil {
			t.Fatal(err)
		}
		return string(all.Data)
	}
	first := compress(1700)
	var text string
	for _, res := range []*carrel.CompressResult{first, compress(1500)} {
		text = whole(res)
		for _, want := range []string{"The beam test of the lamp fails now and then.", "never touch lens.go", "go test ./beam -count 50: failed", earlier[2].ID.Short(), "go doc lens.L1"} {
			if !strings.Contains(text, want) {
				t.Errorf("the summary does not say %q:\n%s", want, text)
			}
		}
		s, err := b.Summary(t.Context(), scope, &carrel.SessionRequest{Session: id})
		if err != nil {
			t.Fatal(err)
		}
		if s.Summary.Markdown() != text {
			t.Errorf("the summary is\n%s\nand recalled it is\n%s", s.Summary.Markdown(), text)
		}
		if strings.Contains(s.Text, "beam -count") || strings.Contains(s.Text, "touch lens.go") {
			t.Errorf("the window repeats what the client compacted:\n%s", s.Text)
		}
	}
	j, err := b.CheckSummary(t.Context(), scope, &carrel.CheckSummaryRequest{Session: id, Data: []byte(text)})
	if err != nil || !j.Accepted {
		t.Errorf("the session's own summary is judged %+v, %v", j, err)
	}
}
