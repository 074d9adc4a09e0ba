package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/shell"
)

func TestReplacements(t *testing.T) {
	for text, want := range map[string][]shell.Patch{
		"": nil,
		"<<<<<<< SEARCH\n:start_line:3\n-------\na\n-------\n=======\nb\nc\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE": {
			{Act: shell.Edit, Old: "a\n-------\n", New: "b\nc\n"}, {Act: shell.Edit, Old: "d\n"},
		},
		"<<<<<<< SEARCH\n:start_line:3\n:end_line:4\n-------\na\n=======\n>>>>>>> REPLACE":                            {{Act: shell.Edit, Old: "a\n"}},
		"------- SEARCH\r\na\r\n=======\r\nb\r\n+++++++ REPLACE\r\n":                                                  {{Act: shell.Edit, Old: "a\r\n", New: "b\r\n"}},
		"<<<<<<< SEARCH\na\n=======\nb REPLACE\n>>>>>>> b\n>>>>>>> REPLACE\nx SEARCH\na\n=======\nb\n>>>>>>> REPLACE": {{Act: shell.Edit, Old: "a\n", New: "b REPLACE\n>>>>>>> b\n"}},
		"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> REPLACE":                                                                nil,
		"<<<<<<< SEARCH\na\n=======\nb\n":                                                                             nil,
		"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n":                                                                 nil,
	} {
		if diff := cmp.Diff(want, shell.Replacements(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
