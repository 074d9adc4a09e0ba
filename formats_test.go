package carrel_test

import (
	"testing"

	"github.com/carrel-dev/carrel"
)

// No format mistakes another's file for its own.
func TestDetect(t *testing.T) {
	const (
		asked   = `{"role":"user","content":"x"}`
		replied = `{"role":"assistant","content":"y"}`
		noted   = `{"role":"system","content":"z"}`
	)
	block := func(kind string) string {
		return `{"messages":[` + asked + `,{"role":"assistant","content":[{"type":"` + kind + `"},{"type":"text","text":"y"}]}]}`
	}
	for _, tt := range []struct {
		format string
		files  []string
	}{
		{"anthropic", []string{
			block("compaction"), block("mcp_tool_use"), block("mcp_tool_result"), block("server_tool_use"), block("web_search_tool_result"),
			block("web_fetch_tool_result"), block("code_execution_tool_result"), block("bash_code_execution_tool_result"),
			block("text_editor_code_execution_tool_result"), block("tool_search_tool_result"), block("a_later_tool_result"), block("container_upload"),
			block("search_result"), block("tool_reference"), block("redacted_thinking"), block("tool_addition"), block("tool_removal"),
			`[` + asked + `,{"role":"assistant","content":[{"content":"summary","type":"compaction","signature":"s"}]}]`,
			`{"model":"claude-opus-5-5","max_tokens":100,"messages":[` + asked + `,` + noted + `]}`,
			`{"max_tokens":100,"messages":[` + asked + `,` + noted + `,` + replied + `],"model":"claude-opus-4-8"}`,
			`{"messages":[` + asked + `,{"role":"system","content":[],"output_config":{"effort":"low"}},` + replied + `]}`,
			`{"messages":[` + asked + `],"context_management":{"edits":[]}}`,
			`{"messages":[` + asked + `],"mcp_servers":[]}`,
			`{"messages":[` + asked + `],"output_config":{"effort":"low"}}`,
			`{"messages":[` + asked + `],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
			`{"messages":[` + asked + `],"tools":[{"type":"mcp_toolset","mcp_server_name":"m"}]}`,
			`{"messages":[` + asked + `],"anthropic_beta":["x"]}`,
		}},
		{"openai", []string{
			block("image_url"), block("input_audio"), block("file"), block("refusal"),
			`{"messages":[` + asked + `,` + replied + `]}`,
			`{"model":"gpt-4o","messages":[` + asked + `,` + noted + `,` + replied + `]}`,
			`{"messages":[` + asked + `,` + noted + `]}`,
			`{"model":"claude-opus-5-5","messages":[` + noted + `,` + asked + `]}`,
			`{"model":"claude-opus-5-5","messages":[` + asked + `,` + noted + `],"response_format":{"type":"text"}}`,
			`{"model":"claude-opus-5-5","messages":[` + asked + `,{"role":"assistant","content":null,"tool_calls":[]}]}`,
			`{"model":"anthropic/claude-opus-5.5","messages":[` + asked + `,` + noted + `]}`,
			`{"messages":[` + asked + `],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			`{"messages":[` + asked + `],"tools":[{"type":"custom","custom":{"name":"f"}}]}`,
		}},
		{"claudecode", []string{
			`{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"x"}}` + "\n" +
				`{"type":"assistant","uuid":"v","parentUuid":"u","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"compaction","content":"c"}]}}` + "\n",
		}},
		{"codex", []string{
			`{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}` + "\n" +
				`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}` + "\n",
			`{"timestamp":"t","type":"response_item","payload":{"role":"user","content":"x"}}`,
		}},
		{"geminicli", []string{
			`{"sessionId":"s","projectHash":"h","startTime":"t","lastUpdated":"t","kind":"main"}` + "\n" + `{"id":"u","timestamp":"t","type":"user","content":[{"text":"x"}]}` + "\n",
			`{"sessionId":"s","projectHash":"h","messages":[{"id":"u","type":"user","content":"x"}]}`,
		}},
		{"gemini", []string{
			`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`,
			`{"contents":[{"parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]}],"tools":[{"functionDeclarations":[]}]}`,
			`{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"{\"messages\":[]}"}]}],"model":"claude-opus-5-5"}`,
			`[{"role":"user","parts":[{"text":"x"}]}]`,
		}},
		{"responses", []string{
			`{"model":"gpt-5","input":"x"}`,
			`{"model":"gpt-5","input":[` + asked + `]}`,
			`{"input":[` + asked + `,{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}],"tools":[{"type":"function","name":"f"}]}`,
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}]`,
			`{"input":[{"type":"compaction","encrypted_content":"x"}],"model":"claude-opus-5-5"}`,
			`{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`,
		}},
		{"opencode", []string{
			`{"info":{"id":"ses_1","title":"t"},"messages":[]}`,
			`{"messages":[{"info":{"id":"msg_1","role":"user"},"parts":[{"type":"text","text":"x"}]}],"info":{"slug":"s","id":"ses_1"}}`,
		}},
		{"pager", []string{
			`{"intent_ir":["x"],"blocks":[{"id":"b1","turn":1,"role":"user","kind":"active","text":"[{\"type\":\"compaction\"}]"}],"current_turn":2}`,
		}},
	} {
		for _, file := range tt.files {
			f, err := carrel.Detect([]byte(file))
			if err != nil || f.Name() != tt.format {
				t.Errorf("%s is taken for %v (%v), want %s", file, f, err, tt.format)
				continue
			}
			if _, err := f.Decode("x", []byte(file)); err != nil {
				t.Errorf("%s cannot read %s: %v", tt.format, file, err)
			}
		}
	}
}
