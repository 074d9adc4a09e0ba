package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A Target is the requested size of a window: a number of tokens for the
// whole window, or a share of the imported conversation, to which system text
// and tools are added. The zero Target means the default. As text and in JSON
// it is "40000" or "25%"; in JSON a number of tokens may also be a number.
type Target struct {
	Tokens token.Count
	Share  ratio.Ratio // used if Tokens is 0
}

// ParseTarget parses a number of tokens, such as "40000" or "40,000", or a
// share, such as "25%" or "2.5%". It fails for any other text, and for 0.
func ParseTarget(text string) (Target, error) {
	if strings.HasSuffix(text, "%") {
		share, err := ratio.Parse(text)
		if err != nil || share <= 0 || share > ratio.One {
			return Target{}, fmt.Errorf("%q is not a share of the conversation: give more than 0%% and at most 100%%", text)
		}
		return Target{Share: share}, nil
	}
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(text), 10, 32)
	if err != nil || n <= 0 {
		return Target{}, fmt.Errorf("%q is not a size: give a number of tokens above 0, such as 40000, or a share such as 50%%", text)
	}
	return Target{Tokens: token.Count(n)}, nil
}

func (t Target) String() string {
	if t.Share != 0 {
		return strconv.FormatFloat(float64(t.Share)/10_000, 'f', -1, 64) + "%"
	}
	return strconv.Itoa(int(t.Tokens))
}

// MarshalJSON encodes tokens as a number and a share as a text in percent.
func (t Target) MarshalJSON() ([]byte, error) {
	if t.Share != 0 {
		return json.Marshal(t.String())
	}
	return json.Marshal(t.Tokens)
}

// UnmarshalJSON decodes a number of tokens or the text of a target.
func (t *Target) UnmarshalJSON(data []byte) (err error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t, err = ParseTarget(text)
		return err
	}
	*t = Target{}
	return json.Unmarshal(data, &t.Tokens)
}
