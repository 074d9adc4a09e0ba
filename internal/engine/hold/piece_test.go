package hold

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
)

// Piece returns the same text for a block as the whole session does, for nearly all blocks.
func TestPieceSaysWhatTheSessionDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		for name, data := range map[string][]byte{
			"claudecode": fakesession.ClaudeCode(seed, 6), "anthropic": fakesession.Messages(seed, 6), "openai": fakesession.Chat(seed, 6),
			"responses": fakesession.Responses(seed, 6),
		} {
			f, err := FormatNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Decode("fake", data)
			if err != nil {
				t.Fatal(err)
			}
			blocks, earlier := s.Blocks()
			checkPieces(t, name, f.(piecewise), s, s.Messages, blocks) //nolint:forcetypeassert // all of them are
			for w, msgs := range s.Earlier {
				checkPieces(t, name, f.(piecewise), s, msgs, earlier[w]) //nolint:forcetypeassert // all of them are
			}
		}
	})
}

func checkPieces(t *rapid.T, name string, p piecewise, s *transcript.Session, msgs []transcript.Message, blocks []transcript.Block) {
	t.Helper()
	for i := range blocks {
		var items [][]byte
		for _, k := range blocks[i].Messages {
			for _, item := range msgs[k].Items {
				items = append(items, s.Items[item].Raw)
			}
		}
		got, ok := pieceText(p, items)
		if !ok && (name == "claudecode" || blocks[i].Kind != transcript.KindSystem) {
			t.Fatalf("%s: block %d, a %s, cannot be read alone", name, i, blocks[i].Kind)
		}
		if want := blocks[i].Text(msgs); ok && got != want {
			t.Fatalf("%s: block %d, a %s, says\n%q, want\n%q", name, i, blocks[i].Kind, got, want)
		}
	}
}
