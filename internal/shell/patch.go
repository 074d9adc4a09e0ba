package shell

import "strings"

// A Patch is the change of one file by a diff.
type Patch struct {
	Path string
	From string // old path, if the file is renamed
	Act  Act    // Write, Edit, Delete or Rename
	Old  string // removed lines and their context
	New  string // added lines and their context
}

// Patches parses a unified diff or the envelope of apply_patch, and returns none for another
// text. Paths are as in the text, without git's a/ and b/.
func Patches(text string) []Patch {
	if i := strings.Index(text, "*** Begin Patch"); i >= 0 {
		return envelope(text[i:])
	}
	return unified(text)
}

// envelope parses the format of apply_patch.
func envelope(text string) []Patch {
	var out []Patch
	var old, now strings.Builder
	flush := func() {
		if n := len(out); n > 0 {
			out[n-1].Old, out[n-1].New = old.String(), now.String()
		}
		old.Reset()
		now.Reset()
	}
	for line := range strings.SplitSeq(text, "\n") {
		if head, ok := strings.CutPrefix(line, "*** "); ok {
			what, path, _ := strings.Cut(head, ": ")
			path = strings.TrimSpace(path)
			switch {
			case what == "Move to" && len(out) > 0 && path != "":
				last := &out[len(out)-1]
				last.From, last.Path, last.Act = last.Path, path, Rename
			case path != "" && patchAct(what) != "":
				flush()
				out = append(out, Patch{Path: path, Act: patchAct(what)})
			}
			continue
		}
		hunk(line, &old, &now)
	}
	flush()
	return out
}

// patchAct returns the act in a header line of the envelope.
func patchAct(head string) Act {
	switch head {
	case "Add File":
		return Write
	case "Update File":
		return Edit
	case "Delete File":
		return Delete
	}
	return ""
}

// unified parses a unified diff by diff or git.
func unified(text string) []Patch {
	var out []Patch
	var old, now strings.Builder
	from, body := "", false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "--- "):
			from, body = diffPath(line[4:]), false
		case strings.HasPrefix(line, "+++ ") && from != "":
			if n := len(out); n > 0 {
				out[n-1].Old, out[n-1].New = old.String(), now.String()
			}
			old.Reset()
			now.Reset()
			to := diffPath(line[4:])
			p := Patch{Path: to, Act: Edit}
			switch {
			case to == "/dev/null":
				p.Path, p.Act = from, Delete
			case from == "/dev/null":
				p.Act = Write
			case from != to:
				p.From, p.Act = from, Rename
			}
			if p.Path != "/dev/null" && p.Path != "" {
				out = append(out, p)
			}
			from = ""
		case strings.HasPrefix(line, "@@"):
			body = true
		case body:
			hunk(line, &old, &now)
		}
	}
	if n := len(out); n > 0 {
		out[n-1].Old, out[n-1].New = old.String(), now.String()
	}
	return out
}

// diffPath removes the time stamp and the prefix a/ or b/ from a path.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if len(s) > 2 && (s[:2] == "a/" || s[:2] == "b/") {
		s = s[2:]
	}
	return s
}

// hunk adds a line of a hunk to the old text, the new text or both.
func hunk(line string, old, now *strings.Builder) {
	if line == "" {
		return
	}
	if line[0] == '-' || line[0] == ' ' {
		old.WriteString(line[1:] + "\n")
	}
	if line[0] == '+' || line[0] == ' ' {
		now.WriteString(line[1:] + "\n")
	}
}
