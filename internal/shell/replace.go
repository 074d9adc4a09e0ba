package shell

import "strings"

// Replacements parses the format in which the tools apply_diff of Roo Code and replace_in_file of
// Cline take changes: pairs of old and new lines, as below. It returns a patch without a path for
// each pair, and none for a text that is not in this format.
//
//	<<<<<<< SEARCH
//	old lines
//	=======
//	new lines
//	>>>>>>> REPLACE
func Replacements(text string) []Patch {
	var out []Patch
	var old, now strings.Builder
	const outside, search, replace = 0, 1, 2
	at := outside
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case at == outside:
			if strings.HasSuffix(bare, " SEARCH") && (strings.HasPrefix(bare, "<<<<<<<") || strings.HasPrefix(bare, "-------")) {
				at = search
			}
		case at == search && bare == "=======":
			at = replace
		case at == search && old.Len() == 0 && (strings.HasPrefix(bare, ":start_line:") || strings.HasPrefix(bare, ":end_line:") || bare == "-------"):
		case at == search:
			old.WriteString(line)
		case strings.HasSuffix(bare, " REPLACE") && (strings.HasPrefix(bare, ">>>>>>>") || strings.HasPrefix(bare, "+++++++")):
			out = append(out, Patch{Act: Edit, Old: old.String(), New: now.String()})
			old.Reset()
			now.Reset()
			at = outside
		default:
			now.WriteString(line)
		}
	}
	return out
}
