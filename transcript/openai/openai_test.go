package openai

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

func TestFormat(t *testing.T) { formattest.Run(t, Format{}, formattest.Samples(t)) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, Format{}, formattest.Samples(f)) }
