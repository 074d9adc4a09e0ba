package facts

import "strings"

// A patch is what a diff does to one file.
type patch struct {
	path   string
	from   string // where it was, if it is moved
	status FactStatus
	old    string // lines that go, and those around
	new    string // lines that come, and those around
}

// patches reads a unified diff or the envelope of apply_patch. What is neither
// has none.
func patches(text string) []patch {
	if i := strings.Index(text, "*** Begin Patch"); i >= 0 {
		return envelope(text[i:])
	}
	return unified(text)
}

// envelope reads the form of apply_patch.
func envelope(text string) []patch {
	var out []patch
	var old, now strings.Builder
	flush := func() {
		if n := len(out); n > 0 {
			out[n-1].old, out[n-1].new = old.String(), now.String()
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
				last.from, last.path, last.status = last.path, path, StatusMoved
			case path != "" && patchStatus[what] != "":
				flush()
				out = append(out, patch{path: path, status: patchStatus[what]})
			}
			continue
		}
		hunk(line, &old, &now)
	}
	flush()
	return out
}

var patchStatus = map[string]FactStatus{"Add File": StatusCreated, "Update File": StatusModified, "Delete File": StatusDeleted}

// unified reads a unified diff, as diff and git write it.
func unified(text string) []patch {
	var out []patch
	var old, now strings.Builder
	from, body := "", false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "--- "):
			from, body = diffPath(line[4:]), false
		case strings.HasPrefix(line, "+++ ") && from != "":
			if n := len(out); n > 0 {
				out[n-1].old, out[n-1].new = old.String(), now.String()
			}
			old.Reset()
			now.Reset()
			to := diffPath(line[4:])
			p := patch{path: to, status: StatusModified}
			switch {
			case to == "/dev/null":
				p.path, p.status = from, StatusDeleted
			case from == "/dev/null":
				p.status = StatusCreated
			case from != to:
				p.from, p.status = from, StatusMoved
			}
			if p.path != "/dev/null" && p.path != "" {
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
		out[n-1].old, out[n-1].new = old.String(), now.String()
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
