package responses

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

func TestFormat(t *testing.T) { formattest.Run(t, format{}, formattest.Samples(t)) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, formattest.Samples(f)) }
