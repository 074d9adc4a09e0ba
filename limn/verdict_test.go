package limn

import "testing"

// What a pack finds is told in words: what was claimed, what was found, and where.
func TestWordsOfVerdicts(t *testing.T) {
	session, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "remember a source called paper with \"There were 120 patients, from 5 to 9 years old.\"\nremember a source called words with \"nothing\"\n" +
		"remember a claim called ours with year as 2020\nremember a source called theirs with year as 2021\nremember a shape called form with dose as 1\n"
	for statement, want := range map[string]string{
		`cite "121 patients" from paper`:    "'paper' does not contain: 121 patients",
		"measure 125 from paper within 1":   "the nearest number in 'paper' is 120, 5 from 125",
		"measure 115 from paper within 4.5": "the nearest number in 'paper' is 120, 5 from 115",
		"measure 1 from words within 5":     "there is no number in 'words'",
		"fit ours to form":                  "'ours' is not of the shape of 'form'",
		"verify ours from theirs":           "'ours' is not as 'theirs': mismatch",
		"measure 120 from paper within 0":   "",
	} {
		opts := &Options{Packs: []*Pack{session}}
		var last Result
		for r := range NewMachine(opts).Run(Parse("", begin+statement, opts)) {
			last = r
		}
		if failed := last.Status == StatusPackFailure; last.Message != want || failed != (want != "") {
			t.Errorf("%s: got %q (%s), want %q", statement, last.Message, last.Status, want)
		}
	}
}
