package openai

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// A request gets each kind of media in the form that the API has for it; media without
// such a form are a loss.
func TestEncodeMedia(t *testing.T) {
	for _, tt := range []struct {
		name  string
		media transcript.Media
		want  string // expected in the request, or "" for a loss
	}{
		{"an image by address", transcript.Media{Kind: "image", URL: "https://example.com/a.png"}, `{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}`},
		{"an image in bytes", transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA"}, `"url": "data:image/png;base64,AAAA"`},
		{"an image that is nowhere", transcript.Media{Kind: "image"}, ""},
		{"an image of no type", transcript.Media{Kind: "image", Data: "AAAA"}, ""},
		{"a document by address", transcript.Media{Kind: "document", URL: "https://example.com/a.pdf"}, ""},
		{"a document in bytes", transcript.Media{Kind: "document", MIME: "application/pdf", Data: "AAAA"}, `"file_data": "data:application/pdf;base64,AAAA"`},
		{"a document of another type", transcript.Media{Kind: "document", MIME: "text/plain", Data: "AAAA"}, ""},
		{"speech", transcript.Media{Kind: "audio", MIME: "audio/wav", Data: "AAAA"}, `{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}`},
		{"more speech", transcript.Media{Kind: "audio", MIME: "audio/mp3", Data: "AAAA"}, `"format": "mp3"`},
		{"music", transcript.Media{Kind: "audio", MIME: "audio/ogg", Data: "AAAA"}, ""},
		{"silence", transcript.Media{Kind: "audio", MIME: "audio/wav", URL: "https://example.com/a.wav"}, ""},
	} {
		s := &transcript.Session{Format: "claudecode", Messages: []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("look"), tt.media}}}}
		out, err := format{}.Encode(transcript.Whole(s))
		if err != nil {
			t.Fatal(err)
		}
		if tt.want == "" {
			if len(out.Losses) != 1 || strings.Contains(string(out.Data), "image_url") || strings.Contains(string(out.Data), "input_audio") {
				t.Errorf("%s: losses %v, want one:\n%s", tt.name, out.Losses, out.Data)
			}
		} else if !strings.Contains(string(out.Data), tt.want) || len(out.Losses) > 0 {
			t.Errorf("%s: losses %v, want %s in it:\n%s", tt.name, out.Losses, tt.want, out.Data)
		}
	}
}

// Reasoning is written with a reply of a session of this format, if it has a text.
func TestReasoningOfAReply(t *testing.T) {
	for _, tt := range []struct {
		own  bool
		p    transcript.Thinking
		want string
	}{
		{true, transcript.Thinking{Text: "hm"}, `{"role": "assistant", "content": "x", "reasoning_content": "hm"}`},
		{true, transcript.Thinking{Signature: "s"}, `{"role": "assistant", "content": "x"}`},
		{false, transcript.Thinking{Text: "hm"}, `{"role": "assistant", "content": "x"}`},
	} {
		en := &transcript.Entry{Message: transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{tt.p, transcript.Text("x")}}}
		if got := string((&encoder{own: tt.own}).reply(en)); got != tt.want {
			t.Errorf("%+v is written %s, want %s", tt.p, got, tt.want)
		}
	}
}
