package responses

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
)

func TestFormat(t *testing.T) { formattest.Run(t, format{}, formattest.Samples(t, "*.json", "tools")) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, formattest.Samples(f, "*.json", "tools")) }

// Conversations can be converted from this format into every other, and back.
func TestOtherFormats(t *testing.T) {
	samples := formattest.Samples(t, "*.json", "tools")
	samples["fake"] = fakesession.Responses(3, 3)
	for _, tt := range []struct {
		format transcript.Format
		sample []byte
	}{
		{openai.Format, fakesession.Chat(3, 3)},
		{anthropic.Format, fakesession.Messages(3, 3)},
		{claudecode.Format, fakesession.ClaudeCode(3, 3)},
	} {
		t.Run("from "+tt.format.Name(), func(t *testing.T) { formattest.RunCross(t, tt.format, format{}, tt.sample) })
		for name, data := range samples {
			t.Run(name+" to "+tt.format.Name(), func(t *testing.T) { formattest.RunCross(t, format{}, tt.format, data) })
		}
	}
}
