package shell

import (
	"strconv"
	"strings"
)

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

// A diff is a unified diff that is being read.
type diff struct {
	lines    []string
	out      []Patch
	old, now strings.Builder // of the last patch
	body     bool            // a hunk has begun
	left     [2]int          // lines of the hunk that are still to come: old and new
}

// unified parses a unified diff by diff or git.
func unified(text string) []Patch {
	d := diff{lines: strings.Split(text, "\n")}
	from := ""
	for i := 0; i < len(d.lines); i++ {
		line := d.lines[i]
		switch {
		case d.isHead(i):
			d.head(line[4:], d.lines[i+1][4:])
			i++
		case strings.HasPrefix(line, "diff --git "):
			d.body = false
		case !d.body && strings.HasPrefix(line, "rename from "):
			from = line[len("rename from "):]
		case !d.body && strings.HasPrefix(line, "rename to ") && from != "":
			d.begin(Patch{Path: line[len("rename to "):], From: from, Act: Rename})
			from = ""
		case strings.HasPrefix(line, "@@"):
			d.body, d.left = true, sizes(line)
		case d.body:
			hunk(line, &d.old, &d.now)
			if line == "" || line[0] == '-' || line[0] == ' ' {
				d.left[0]--
			}
			if line == "" || line[0] == '+' || line[0] == ' ' {
				d.left[1]--
			}
		}
	}
	d.flush()
	return d.out
}

// isHead reports whether the line i and the next one are the head of a file. In a hunk, lines of
// the same form may be removed or added; there a hunk must follow, or the present one be complete.
func (d *diff) isHead(i int) bool {
	if i+1 >= len(d.lines) || !strings.HasPrefix(d.lines[i], "--- ") || !strings.HasPrefix(d.lines[i+1], "+++ ") {
		return false
	}
	return !d.body || d.left[0] <= 0 && d.left[1] <= 0 || i+2 < len(d.lines) && strings.HasPrefix(d.lines[i+2], "@@")
}

// head reads the paths in the head of a file. Different names are a rename only if git wrote them.
func (d *diff) head(old, now string) {
	from, to := diffPath(old), diffPath(now)
	d.body = false
	p := Patch{Path: to, Act: Edit}
	switch {
	case to == "/dev/null":
		p.Path, p.Act = from, Delete
	case from == "/dev/null":
		p.Act = Write
	case from != to && strings.HasPrefix(old, "a/") && strings.HasPrefix(now, "b/"):
		p.From, p.Act = from, Rename
	}
	n := len(d.out)
	if p.Path == "/dev/null" || p.Path == "" || p.Act == Rename && n > 0 && d.out[n-1] == p { // git has said it before
		return
	}
	d.begin(p)
}

// begin begins the patch of another file.
func (d *diff) begin(p Patch) {
	d.flush()
	d.out = append(d.out, p)
}

// flush ends the last patch.
func (d *diff) flush() {
	if n := len(d.out); n > 0 {
		d.out[n-1].Old, d.out[n-1].New = d.old.String(), d.now.String()
	}
	d.old.Reset()
	d.now.Reset()
}

// sizes returns how many old and new lines a hunk has by its head, @@ -1,4 +1,3 @@, or 0.
func sizes(head string) (n [2]int) {
	f := strings.Fields(head)
	for i, sign := range [...]string{"-", "+"} {
		if i+1 >= len(f) || !strings.HasPrefix(f[i+1], sign) {
			return [2]int{}
		}
		n[i] = 1
		if _, count, ok := strings.Cut(f[i+1], ","); ok {
			n[i], _ = strconv.Atoi(count)
		}
	}
	return n
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
