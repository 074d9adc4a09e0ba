package opencode

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

const common = `"sessionID": "ses_1", "messageID": "msg_1"`

var large = formattest.Large{
	Format: format{}, List: "messages",
	Head: `"info": {"id": "ses_1", "slug": "s", "projectID": "global", "directory": "/", "title": "t", "version": "1.18.33", "time": {"created": 1, "updated": 1}}, `,
	First: `{"info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}, "agent": "build", "model": {"providerID": "p", "modelID": "m"}}, ` +
		`"parts": [{"id": "prt_1", ` + common + `, "type": "text", "text": "go"}]}`,
	Turn: func(id string, result []byte) string {
		return fmt.Sprintf(`, {"info": {"id": "msg_2%012[1]s", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2}, "parentID": "msg_1", "modelID": "m", "providerID": "p", "mode": "build", "agent": "build", `+
			`"path": {"cwd": "/", "root": "/"}, "cost": 0, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}}, `+
			`"parts": [{"id": "prt_2%012[1]sa", %[2]s, "type": "text", "text": "I read on."}, {"id": "prt_2%012[1]sb", %[2]s, "type": "tool", "callID": %[1]q, "tool": "read", `+
			`"state": {"status": "completed", "input": {"filePath": "main.go"}, "output": %[3]s, "title": "main.go", "metadata": {}, "time": {"start": 2, "end": 2}}}]}`, id, common, result)
	},
}

func BenchmarkLarge(b *testing.B)   { large.Run(b) }
func TestDecodeMemory(t *testing.T) { large.Memory(t) }
