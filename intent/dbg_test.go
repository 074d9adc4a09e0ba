package intent

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDbg(t *testing.T) {
	if os.Getenv("DBG") == "" {
		t.Skip()
	}
	for _, s := range strings.Fields(os.Getenv("DBG")) {
		for _, c := range readCases(t, s) {
			cc := &compiler{text: c.Prompt}
			cc.look(DefaultLimit)
			f := cc.find()
			if f.parts == nil {
				continue
			}
			j := weighing().judge(cc, f)
			in := Compile(c.Prompt, nil)
			if j.verb == f.verb() && os.Getenv("ALL") == "" && in.Verb == c.Verb || in.Verb == "" && c.Verb == "" {
				continue
			}
			fmt.Printf("%s | want %s rule %s got %s %d | %.200s\n    got %v gaps %v  %q\n   want %v\n", s, c.Verb, f.verb(), j.verb, j.lead, strings.ReplaceAll(c.Prompt, "\n", "⏎"), show(in), in.Gaps, in.Assumed, c.Slots)
		}
	}
}
