package tool

import "testing"

func TestPrinted(t *testing.T) {
	for in, want := range map[string][2]string{
		"plain\ntext": {"plain\ntext", ""},
		"<untrusted_context>\nOutput: total 12\nalpha\nProcess Group PGID: 22876\n</untrusted_context>":                      {"\ntotal 12\nalpha", ""},
		"<untrusted_context>\nOutput: (empty)\nExit Code: 3\nProcess Group PGID: 22881\n</untrusted_context>":                {"\n", "3"},
		"<untrusted_context>\nOutput: on\nSignal: 9\nBackground PIDs: 1, 2\nProcess Group PGID: 22881\n</untrusted_context>": {"\non", ""},
		"<untrusted_context>\nOutput: \nExit Code: 3\n</untrusted_context>":                                                  {"\n", "3"},
		"<untrusted_context>\nOutput: Note: off\n</untrusted_context>":                                                       {"\nNote: off", ""},
		"<untrusted_context>\nrecalled text\n</untrusted_context>":                                                           {"\nrecalled text", ""},
		"<untrusted_context>\nOutput: boom\nExit Code: 0\nExit Code: 1\n</untrusted_context>":                                {"\nboom\nExit Code: 0", "1"},
		"<untrusted_context>\nOutput: a\nError: b\nError: c\nExit Code: 2\nSignal: 3\n</untrusted_context>":                  {"\na\nError: b", "2"},
		"<untrusted_context>\nOutput: a\nExit Code: 0\nError: c\nProcess Group PGID: 1\n</untrusted_context>":                {"\na\nExit Code: 0", ""},
		"<untrusted_context>\nno end": {"<untrusted_context>\nno end", ""},
		"":                            {"", ""},
	} {
		if printed, status := Printed(in); printed != want[0] || status != want[1] {
			t.Errorf("Printed(%q) = %q, %q, want %q", in, printed, status, want)
		}
	}
}
