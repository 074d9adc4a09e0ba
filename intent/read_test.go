package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	compiled := Compile("fix the pager score", nil)
	text, err := compiled.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"a prompt", "fix the pager score", []string{"fix", "pager", "score"}},
		{"an intent", string(text), []string{"fix", "pager", "score"}},
		{"keywords of a history of the context pager", `{"intent_ir": ["pager", "score"], "blocks": []}`, []string{"pager", "score"}},
		{"a prompt that begins like a list", "[x] explain DNS", []string{"explain", "dns"}},
	} {
		if diff := cmp.Diff(tt.want, Read(tt.text, nil).Keywords()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
