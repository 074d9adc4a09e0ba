package upstream_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// gemini posts a request to the Gemini API and returns the status and the answer.
func gemini(t *testing.T, s *upstream.Server, call, body string, header ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1beta/models/"+call, strings.NewReader(body))
	if len(header) == 0 {
		header = []string{"X-Goog-Api-Key", "dummy"}
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const (
	turn    = `{"role":"user","parts":[{"text":"what is in it?"}]}`
	replies = `{"role":"model","parts":[{"text":"a list"}]}`
)

func contents(list ...string) string {
	return `{"contents":[` + strings.Join(list, ",") + `],"tools":[{"functionDeclarations":[{"name":"ls"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]}}`
}

// A script is played as a stream and as a document, and what it gives is signed.
func TestGeminiPlaysAScript(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Reply: upstream.Say(upstream.Thinking("first I look"), upstream.Text("Looking."), upstream.Call{Name: "ls", Input: map[string]any{"b": 1}}, upstream.Call{Name: "ls"})},
	}})
	status, stream := gemini(t, s, "gemini-3-pro:streamGenerateContent?alt=sse", contents(turn))
	if status != http.StatusOK {
		t.Fatalf("got %d, %s", status, stream)
	}
	var parts []json.RawMessage
	for event := range strings.SplitSeq(strings.TrimSpace(stream), "\r\n\r\n") {
		var c struct {
			Candidates []struct {
				Content struct{ Parts []json.RawMessage }
			}
			UsageMetadata struct{ PromptTokenCount int }
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &c); err != nil {
			t.Fatalf("%v: %s", err, event)
		}
		parts = append(parts, c.Candidates[0].Content.Parts...)
		if last := len(parts) == 4; last != (c.UsageMetadata.PromptTokenCount > 0) {
			t.Errorf("usage in %s", event)
		}
	}
	if len(parts) != 4 || !strings.Contains(string(parts[2]), "thoughtSignature") || strings.Contains(string(parts[3]), "thoughtSignature") {
		t.Fatalf("parts %s", parts)
	}
	r := s.Requests()[0]
	if r.Kind != upstream.KindMain || r.Model != "gemini-3-pro" || r.Prompt() != "what is in it?" || !r.Contains("Be brief.") || r.Tools()[0] != "ls" || r.Tokens == 0 {
		t.Errorf("the request is recorded as %+v", r)
	}
	answers := `{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}},{"functionResponse":{"name":"ls","response":{"error":"y"}}}]}`
	reply := func(parts ...json.RawMessage) string {
		data, err := json.Marshal(map[string]any{"role": "model", "parts": parts})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	whole := contents(turn, reply(parts...), answers)
	half := strings.Replace(answers, `{"functionResponse":{"name":"ls","response":{"output":"x"}}},`, "", 1)
	skipped := `{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]}`
	for name, tt := range map[string]struct{ body, says string }{
		"as it was given":      {whole, `"text":"Done."`},
		"without thoughts":     {contents(turn, reply(parts[1:]...), answers), `"text":"Done."`},
		"an edited call":       {strings.Replace(whole, `"b":1`, `"b":2`, 1), "Corrupted thought signature"},
		"a lost signature":     {strings.Replace(whole, `thoughtSignature`, `partMetadata`, 1), "missing a thought_signature"},
		"a skipped signature":  {contents(turn, skipped, half), `"text":"Done."`},
		"an older turn's lost": {strings.Replace(contents(turn, reply(parts...), answers, replies, turn), `thoughtSignature`, `partMetadata`, 1), `"text":"Done."`},
		"half of the answers":  {contents(turn, reply(parts...), half), "number of function response parts"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, said := gemini(t, s, "gemini-3-pro:generateContent", tt.body); !strings.Contains(said, tt.says) || (status == http.StatusOK) != strings.Contains(said, "Done.") {
				t.Errorf("got %d, %s, want %s", status, said, tt.says)
			}
		})
	}
	if gemini(t, s, "gemini-3-pro:generateContent", whole); len(s.Requests()) == 0 {
		t.Fatal("no request")
	}
	all := s.Requests()
	if rs := all[len(all)-1].Results(); len(rs) != 2 || rs[0].Text != "x" || !rs[1].Failed {
		t.Errorf("results %v", rs)
	}
}

func TestGeminiRefuses(t *testing.T) {
	s := upstream.New(&upstream.Options{Window: 2000})
	for name, tt := range map[string]struct {
		call, body, says string
		header           []string
		status           int
	}{
		"a count":          {"gemini-2.5-pro:countTokens", contents(turn), "totalTokens", nil, 200},
		"no key":           {"gemini-2.5-pro:generateContent", contents(turn), "PERMISSION_DENIED", []string{"X", "y"}, 403},
		"an unknown model": {"claude-3:generateContent", contents(turn), "NOT_FOUND", nil, 404},
		"another method":   {"gemini-2.5-pro:embedContent", contents(turn), "NOT_FOUND", nil, 404},
		"a reply first":    {"gemini-2.5-pro:generateContent", contents(replies), "INVALID_ARGUMENT", nil, 400},
		"too long":         {"gemini-2.5-pro:generateContent", contents(strings.Replace(turn, "what", strings.Repeat("seven b", 2000), 1)), "exceeds the maximum number of tokens", nil, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if status, said := gemini(t, s, tt.call, tt.body, tt.header...); status != tt.status || !strings.Contains(said, tt.says) {
				t.Errorf("got %d, %s", status, said)
			}
		})
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/v1beta/models?key=x", nil)
	if s.ServeHTTP(w, r); !strings.Contains(w.Body.String(), `"models/gemini-3"`) {
		t.Errorf("models: %s", w.Body)
	}
}
