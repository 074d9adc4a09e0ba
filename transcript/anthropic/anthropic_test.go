package anthropic

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
)

func TestFormat(t *testing.T) { formattest.Run(t, format{}, formattest.Samples(t, "*.json", "tools")) }

func TestFromOpenAI(t *testing.T) {
	names, err := filepath.Glob("../openai/testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			formattest.RunCross(t, openai.Format, format{}, data)
		})
	}
}

func TestToOpenAI(t *testing.T) {
	for name, data := range formattest.Samples(t, "*.json", "tools") {
		t.Run(name, func(t *testing.T) { formattest.RunCross(t, format{}, openai.Format, data) })
	}
}

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, formattest.Samples(f, "*.json", "tools")) }
