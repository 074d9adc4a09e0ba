package shell

import "strings"

// A Patch is what a diff does to one file.
type Patch struct {
	Path string
	From string // where it was, if it is renamed
	Act  Act    // Write, Edit, Delete or Rename
	Old  string // lines that go, and those around
	New  string // lines that come, and those around
}

// Patches reads a unified diff or the envelope of apply_patch. What is neither
// has none. The paths are as they stand there, without the a/ and b/ of git.
func Patches(text string) []Patch {
	if i := strings.Index(text, "*** Begin Patch"); i >= 0 {
		return envelope(text[i:])
	}
	return unified(text)
}

// envelope reads the form of apply_patch.
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

// patchAct returns what a head of the envelope does to its file.
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

// unified reads a unified diff, as diff and git write it.
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

// diffPath takes the time and the a/ or b/ off a path.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if len(s) > 2 && (s[:2] == "a/" || s[:2] == "b/") {
		s = s[2:]
	}
	return s
}

// hunk adds a line of a hunk to what was there and what is there now.
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
