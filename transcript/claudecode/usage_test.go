package claudecode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// usageRows is a session with five cases: a reply in two rows, a rewound reply, a compaction,
// a reply after it, and a sub-agent.
const usageRows = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"begin"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-03-01T12:00:09Z","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"one"}],"usage":{"input_tokens":3,"cache_creation_input_tokens":900,"cache_creation":{"ephemeral_5m_input_tokens":400,"ephemeral_1h_input_tokens":500},"cache_read_input_tokens":7,"output_tokens":11}}}
{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","timestamp":"2026-03-01T12:01:00Z","message":{"role":"user","content":"go on"}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s","timestamp":"2026-03-01T12:01:02Z","message":{"id":"m2","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"two"}],"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":907,"output_tokens":1}}}
{"type":"assistant","uuid":"a3","parentUuid":"a2","sessionId":"s","timestamp":"2026-03-01T12:01:05Z","message":{"id":"m2","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"more"}],"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":907,"output_tokens":60}}}
{"type":"assistant","uuid":"a4","parentUuid":"a3","sessionId":"s","timestamp":"2026-03-01T12:01:06Z","isApiErrorMessage":true,"message":{"id":"e","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"an error"}],"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"user","uuid":"u3","parentUuid":"a1","sessionId":"s","timestamp":"2026-03-01T12:02:00Z","message":{"role":"user","content":"no, otherwise"}}
{"type":"assistant","uuid":"a5","parentUuid":"u3","sessionId":"s","timestamp":"2026-03-01T12:02:02Z","message":{"id":"m3","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"three"}],"usage":{"input_tokens":6,"cache_read_input_tokens":907,"output_tokens":8}}}
{"type":"user","uuid":"x1","parentUuid":null,"isSidechain":true,"sessionId":"s","timestamp":"2026-03-01T12:02:30Z","message":{"role":"user","content":"look"}}
{"type":"assistant","uuid":"x2","parentUuid":"x1","isSidechain":true,"sessionId":"s","timestamp":"2026-03-01T12:02:40Z","message":{"id":"m4","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"seen"}],"usage":{"input_tokens":70,"output_tokens":9}}}
{"type":"system","uuid":"c1","parentUuid":null,"logicalParentUuid":"a5","subtype":"compact_boundary","sessionId":"s","timestamp":"2026-03-01T12:03:00Z"}
{"type":"user","uuid":"u4","parentUuid":"c1","isCompactSummary":true,"sessionId":"s","timestamp":"2026-03-01T12:03:00Z","message":{"role":"user","content":"a summary"}}
{"type":"assistant","uuid":"a6","parentUuid":"u4","sessionId":"s","timestamp":"2026-03-01T12:03:09Z","message":{"id":"m5","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"four"}],"usage":{"input_tokens":2,"cache_creation_input_tokens":300,"output_tokens":4}}}
`

func TestReadings(t *testing.T) {
	s, err := Format.Decode("s.jsonl", []byte(usageRows))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range Format.(transcript.Metered).Receipts(s) {
		got = append(got, fmt.Sprintf("%s %s after %d: %d+%d+%d+%d → %d, %s to %s, compacted %t, side %t",
			r.ID, r.Model, r.After, r.Uncached, r.Read, r.Write5m, r.Write1h, r.Output, r.Begun.Format("04:05"), r.Ended.Format("04:05"), r.Compacted, r.Side))
	}
	want := []string{
		"m1 claude-opus-4-5 after -1: 3+7+400+500 → 11, 00:00 to 00:09, compacted false, side false",
		"m2 claude-opus-4-5 after 0: 5+907+20+0 → 60, 01:00 to 01:05, compacted false, side false",
		"m3 claude-opus-4-5 after 0: 6+907+0+0 → 8, 02:00 to 02:02, compacted false, side false",
		"m4 claude-haiku-4-5 after -1: 70+0+0+0 → 9, 02:30 to 02:40, compacted false, side true",
		"m5 claude-opus-4-5 after 2: 2+0+300+0 → 4, 03:00 to 03:09, compacted true, side false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the receipts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
