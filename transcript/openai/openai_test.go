package openai

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

func TestFormat(t *testing.T) { formattest.Run(t, format{}, formattest.Samples(t, "*.json", "tools")) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, formattest.Samples(f, "*.json", "tools")) }
