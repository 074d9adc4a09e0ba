package gemini

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

func TestFormat(t *testing.T) { formattest.Run(t, format{}, formattest.Samples(t, "*.json", "tools")) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, formattest.Samples(f, "*.json", "tools")) }

// Conversations can be converted from this format into every other, and back.
func TestOtherFormats(t *testing.T) {
	formattest.RunOthers(t, format{}, formattest.Samples(t, "*.json", "tools"), map[transcript.Format][]byte{
		openai.Format:     fakesession.Chat(3, 3),
		anthropic.Format:  fakesession.Messages(3, 3),
		responses.Format:  fakesession.Responses(3, 3),
		claudecode.Format: fakesession.ClaudeCode(3, 3),
	})
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]bool{
		`{"contents":[{"parts":[{"text":"x"}]}]}`: true, `[{"role":"user","parts":[]}]`: true, `{"contents":[{"role":"user","parts":[{"te`: true,
		`{"contents":[{"role":"user"}]}`: false, `{"contents":"x"}`: false, `{"contents":[]}`: false, `[]`: false, `{"parts":[]}`: false, ``: false, `7`: false,
		`{"messages":[{"role":"user","parts":[]}]}`: false, `{"contents":[{"parts":[]}]}` + "\n" + `{"contents":[{"parts":[]}]}`: false,
		`{"contents":[{"content":"x"},{"parts":[]}]}`: false,
	} {
		if got := Format.Sniff([]byte(in)); got != want {
			t.Errorf("Sniff(%s) = %v, want %v", in, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	formattest.Refuses(t, format{}, []formattest.Refusal{
		{Name: "no list", In: `{"content":[]}`, Says: "no list of messages"},
		{Name: "a role of another provider", In: `{"contents":[{"role":"assistant","parts":[]}]}`, Says: `unknown role "assistant"`},
		{Name: "a part that is a text", In: `{"contents":[{"role":"user","parts":["x"]}]}`, Says: "contents.0.parts.0"},
		{Name: "a body that ends", In: "{\"contents\":[{\"role\":\"user\",\n\"parts\":[{\"text\":\"x", Says: "x.json:2:"},
	})
}
