package facts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// A slow model of the features of [Estimate]: for each name and each line it reads all pieces
// again. It represents features by the names of their bins, and finds the bin of a number by
// parsing the names.
type slow struct {
	pieces []Piece
	need   *Need
	ages   []int
	calls  []int // by piece: the number of its call, or of the calls before it
	asked  int
	newest int
	words  map[uint16]int // word → number of its occurrences
	plan   int
	lines  int
	want   map[uint16]bool // words of the newest messages and plan
	done   map[uint16]bool // words in the arguments of the last calls
	marked map[int32][]markedAt
}

func newSlow(pieces []Piece, need *Need) *slow {
	s := &slow{
		pieces: pieces, need: need, plan: -1, words: make(map[uint16]int), want: make(map[uint16]bool), done: make(map[uint16]bool),
		marked: make(map[int32][]markedAt),
	}
	called := make(map[string]int)
	for i := range pieces {
		p := &pieces[i]
		age := 0
		for j := i; j < len(pieces); j++ {
			age += 4 + len(pieces[j].Text)/4
		}
		s.ages = append(s.ages, age)
		number := s.asked
		if p.source.arguments() {
			called[p.Call] = s.asked
			s.asked++
		} else if n, ok := called[p.Call]; ok {
			number, s.newest = n, i
		}
		s.calls = append(s.calls, number)
		if p.source == sourcePlan {
			s.plan = i
		}
		s.lines += len(p.Lines)
		for k, l := range p.Lines {
			for m := int(l.First); m < int(l.End); m++ {
				id := need.Marks[i][m]
				s.marked[id] = append(s.marked[id], markedAt{i, k, m})
			}
		}
		for _, w := range p.words {
			s.words[w]++
		}
	}
	for i := range pieces {
		p := &pieces[i]
		for k, w := range p.words {
			s.want[w] = s.want[w] || p.source == sourceNewest || p.source == sourceNewestReply || i == s.plan
			s.done[w] = s.done[w] || k < 200 && p.source.arguments() && s.asked-s.calls[i] <= 3
		}
	}
	return s
}

// A markedAt is the position of an occurrence of a name: a mark in a line of a piece.
type markedAt struct{ piece, line, mark int }

func (s *slow) placesOf(id int32) []markedAt { return s.marked[id] }

// sinceNamed returns the number of calls since a name was in arguments, or -1.
func (s *slow) sinceNamed(at []markedAt) int {
	for _, a := range slices.Backward(at) {
		if s.pieces[a.piece].source.arguments() {
			return s.asked - s.calls[a.piece]
		}
	}
	return -1
}

func (s *slow) isNamed(at []markedAt) bool {
	return slices.ContainsFunc(at, func(a markedAt) bool {
		from := s.pieces[a.piece].source
		return from == sourceNewest || from == sourceNewestReply
	})
}

func (s *slow) blocksOf(at []markedAt) int {
	blocks := make(map[int]bool)
	for _, a := range at {
		blocks[s.pieces[a.piece].Block] = true
	}
	return len(blocks)
}

func (s *slow) isHot(at []markedAt) bool {
	n := s.sinceNamed(at)
	return s.blocksOf(at) <= 12 && (s.isNamed(at) || n >= 0 && n <= 3)
}

// touched returns the index of the last piece of a file.
func (s *slow) touched(path string) int {
	last := -1
	for i := range s.pieces {
		if s.pieces[i].Path == path {
			last = i
		}
	}
	return last
}

// rankOf returns the number of files that were used after a file.
func (s *slow) rankOf(path string) int {
	later := make(map[string]bool)
	for i := s.touched(path) + 1; i < len(s.pieces); i++ {
		if p := s.pieces[i].Path; p != "" {
			later[p] = true
		}
	}
	return len(later)
}

// heatOf returns the bin of the heat of a file: named, in use, or cold.
func (s *slow) heatOf(path string) string {
	heat := "cold"
	for _, name := range []string{path, path[strings.LastIndexByte(path, '/')+1:]} {
		var at []markedAt
		for id := range s.need.Names {
			places := s.placesOf(int32(id))
			if s.pieces[places[0].piece].Marks[places[0].mark].Key == hash(name) {
				at = places
			}
		}
		switch n := s.sinceNamed(at); {
		case s.isNamed(at):
			return "named"
		case n >= 0 && n <= 6:
			heat = "in-use"
		}
	}
	return heat
}

// says returns the sums of the weights of the words of a line: of the words in want, of
// those in done, and of all.
func (s *slow) says(i, k int) (asked, done, all int) {
	p := &s.pieces[i]
	seen := make(map[uint16]bool)
	for _, w := range p.words[p.Lines[k].words:p.Lines[k].wordsEnd] {
		if seen[w] {
			continue
		}
		seen[w] = true
		rare := 0
		for n := s.lines / (s.words[w] + 1); n > 0; n /= 2 {
			rare++
		}
		all += rare
		if s.want[w] {
			asked += rare
		}
		if s.done[w] {
			done += rare
		}
	}
	return asked, done, all
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// binOf returns the name of the bin of a number. If the names are percentages, the number is
// in thousandths.
func binOf(f Feature, v int) string {
	for _, b := range f.Bins {
		switch size, below := strings.CutPrefix(b, "<"); {
		case below:
			scale := 1.0
			if rest, ok := strings.CutSuffix(size, "k"); ok {
				size, scale = rest, 1000
			}
			if rest, ok := strings.CutSuffix(size, "%"); ok {
				size, scale = rest, 10
			}
			if n, err := strconv.ParseFloat(size, 64); err == nil && float64(v) < n*scale {
				return b
			}
		case b == "more":
			return b
		default:
			from, to, ok := strings.Cut(b, "-")
			if !ok {
				to = from
			}
			low, err := strconv.Atoi(from)
			high, err2 := strconv.Atoi(to)
			if err == nil && err2 == nil && low <= v && v <= high {
				return b
			}
		}
	}
	return fmt.Sprint("no bin for ", v)
}

// name returns the bins of the features of a name.
func (s *slow) name(id int32) map[string]string {
	at := s.placesOf(id)
	first, last := at[0], at[len(at)-1]
	mark := s.pieces[first.piece].Marks[first.mark]
	text := s.pieces[first.piece].Text[mark.From:mark.To]
	args, recent, files, file, rank := 0, 0, 0, "", math.MaxInt32
	fresh, fails := false, false
	neighbors, withHot, withAsked := math.MaxInt32, 0, 0
	var from [sources]bool
	for _, a := range at {
		p := &s.pieces[a.piece]
		from[p.source] = true
		fresh = fresh || a.piece >= s.newest
		fails = fails || p.Lines[a.line].fails
		if p.source.arguments() {
			args++
			if s.asked-s.calls[a.piece] <= 6 {
				recent++
			}
		}
		if p.Path != "" {
			if p.Path != file {
				files++
			}
			file = p.Path
			rank = min(rank, s.rankOf(p.Path))
		}
		distinct := make(map[int32]bool)
		for _, other := range s.need.Marks[a.piece] {
			distinct[other] = true
		}
		neighbors = min(neighbors, len(distinct))
		hot := 0
		for _, other := range s.need.Marks[a.piece][p.Lines[a.line].First:p.Lines[a.line].End] {
			if s.isHot(s.placesOf(other)) {
				hot++
			}
		}
		if s.isHot(at) {
			hot--
		}
		withHot = max(withHot, hot)
		if p.source != sourceNewest && p.source != sourceNewestReply {
			asked, _, _ := s.says(a.piece, a.line)
			withAsked = max(withAsked, asked)
		}
	}
	kinds := 0
	for _, b := range from {
		if b {
			kinds++
		}
	}
	since := "never"
	f := FeaturesOfNames()
	if n := s.sinceNamed(at); n >= 0 {
		since = binOf(f[5], n)
	}
	ofFile := "no-file"
	if file != "" {
		ofFile = s.heatOf(file)
	}
	round := "no-number"
	if mark.kind == KindNumber {
		switch {
		case strings.HasSuffix(text, "00"):
			round = "100"
		case strings.HasSuffix(text, "50"):
			round = "50"
		case strings.HasSuffix(text, "0"):
			round = "10"
		default:
			round = "no"
		}
	}
	return map[string]string{
		"kind": string(mark.kind), "last": binOf(f[1], s.ages[last.piece]), "count": binOf(f[2], len(at)), "blocks": binOf(f[3], s.blocksOf(at)),
		"in-arguments": binOf(f[4], args), "calls-since": since, "seen-calls": binOf(f[6], s.asked-s.calls[last.piece]), "recent": binOf(f[7], recent),
		"newest-words": yesOrNo(from[sourceNewest]), "newest-result": yesOrNo(fresh), "error-line": yesOrNo(fails),
		"neighbors": binOf(f[11], neighbors), "source": origins[slices.Index(from[:], true)], "sources": binOf(f[13], kinds),
		"in-read": yesOrNo(from[sourceRead]), "in-edit": yesOrNo(from[sourceEdit]), "length": binOf(f[16], len(text)), "round": round,
		"with-hot": binOf(f[18], withHot), "with-asked": rare(f[19], withAsked), "file": ofFile, "files": binOf(f[21], files),
		"file-rank": binOf(f[22], rank+1),
	}
}

// rare returns the bin of a number in bins of which the first is for 0 alone.
func rare(f Feature, v int) string {
	if v == 0 {
		return "0"
	}
	return binOf(f, v)
}

// line returns the bins of the features of the lines with a copy number, and the position of
// the occurrence that the features are computed from.
func (s *slow) line(copied int32) map[string]string {
	i, k, files, count, twice, file := 0, 0, 0, 0, false, ""
	var from [sources]bool
	for j := range s.pieces {
		p := &s.pieces[j]
		here := 0
		for m := range p.Lines {
			if s.need.Lines[j][m].Copy != copied {
				continue
			}
			here++
			from[p.source] = true
			if !p.removes(&p.Lines[m]) {
				count++
			}
			if p.Path != "" && p.Path != file {
				files++
				file = p.Path
			}
			if p.Path != "" || file == "" {
				i, k = j, m
			}
		}
		if here > 0 {
			twice = here > 1
		}
	}
	p := &s.pieces[i]
	l := &p.Lines[k]
	f := FeaturesOfLines()
	change := "none"
	if p.source == sourceEdit {
		change = "gives"
		if p.removes(l) {
			change = "takes"
		}
		if twice {
			change = "both"
		}
	}
	other := "no"
	for _, t := range []source{sourceEdit, sourceSearch, sourceOutput, sourceEdited} {
		if from[t] && t != p.source {
			if other != "no" {
				other = "several"
				break
			}
			other = origins[t]
		}
	}
	read := "no-read"
	if p.source == sourceRead {
		read = "whole"
		if p.start > 1 {
			read = "part"
		}
	}
	likeliest, around := Chance(0), Chance(0)
	for m := max(k-4, 0); m <= k+4 && m < len(p.Lines); m++ {
		for _, id := range s.need.Marks[i][p.Lines[m].First:p.Lines[m].End] {
			if c := s.need.Names[id].Chance; m == k {
				likeliest = max(likeliest, c)
			} else {
				around += c
			}
		}
	}
	asked, done, all := s.says(i, k)
	askedNear, allNear := 0, 1
	for m := max(k-5, 0); m <= k+5 && m < len(p.Lines); m++ {
		if m != k {
			a, _, of := s.says(i, m)
			askedNear += a
			allNear += of
		}
	}
	within := "none"
	for m := k; m >= 0; m-- {
		if p.Lines[m].indent == 0 && p.Lines[m].shape == shapeDeclaration {
			within = "cold"
			for _, id := range s.need.Marks[i][p.Lines[m].First:p.Lines[m].End] {
				if at := s.placesOf(id); s.isNamed(at) {
					within = "named"
				} else if s.isHot(at) && within == "cold" {
					within = "hot"
				}
			}
			break
		}
	}
	share := func(f Feature, part, of int) string {
		if v := 1000 * part / max(of, 1); v >= 10 {
			return binOf(f, v)
		}
		return "0"
	}
	got := map[string]string{
		"source": origins[p.source], "elsewhere": other, "count": binOf(f[2], count), "seen-calls": binOf(f[3], s.asked-s.calls[i]), "change": change,
		"part": read, "lines": binOf(f[6], len(p.Lines)), "length": binOf(f[7], int(l.To-l.From)), "names": binOf(f[8], int(l.End-l.First)),
		"likely-name": binOf(f[9], int(likeliest/1_000_000)), "likely-around": binOf(f[10], int(around/1_000_000)),
		"asked": rare(f[11], asked), "asked-share": share(f[12], asked, all), "asked-around": share(f[13], askedNear, allNear),
		"done": rare(f[14], done), "done-share": share(f[15], done, all), "within": within, "files": binOf(f[17], files),
		"file-since": "no-file", "file-edited": "no-file", "file-rank": "no-file", "file-copied": "no-file", "sibling": "no",
	}
	if p.Path == "" {
		return got
	}
	got["file-since"], got["file-edited"], got["file-rank"], got["file-copied"] = "nothing", "never", binOf(f[20], s.rankOf(p.Path)+1), "none"
	lines, repeated := 0, 0
	for j := range s.pieces {
		q := &s.pieces[j]
		switch {
		case q.Path == "":
		case q.Path != p.Path:
			if testStem(q.Path) == testStem(p.Path) && s.heatOf(q.Path) == "named" {
				got["sibling"] = "yes"
			}
		case q.source == sourceEdit:
			got["file-edited"] = binOf(f[19], s.asked-s.calls[j])
			if j > i {
				got["file-since"] = "edited"
			}
		default:
			if q.source == sourceRead && j > i && got["file-since"] == "nothing" {
				got["file-since"] = "read"
			}
			for m := range q.Lines {
				if c := s.need.Lines[j][m].Copy; c != 0 {
					lines++
					if s.inArguments(c) {
						repeated++
					}
				}
			}
		}
	}
	if repeated > 0 {
		got["file-copied"] = binOf(f[21], 1000*repeated/lines)
	}
	return got
}

// inArguments reports whether a line is in the arguments of a call.
func (s *slow) inArguments(copied int32) bool {
	for i := range s.pieces {
		for k := range s.need.Lines[i] {
			if s.need.Lines[i][k].Copy == copied && s.pieces[i].source.arguments() {
				return true
			}
		}
	}
	return false
}

// binNames returns the names of the bins of features.
func binNames(list []Feature, bins []uint8) map[string]string {
	got := make(map[string]string)
	for i, f := range list {
		got[f.Name] = f.Bins[bins[i]]
	}
	return got
}

// A day draws a conversation in which calls, files, names and lines recur.
func day(t *rapid.T) *talk {
	paths := []string{"pool/dial.go", "pool/dial_test.go", "pool/retry.go", "web/form.ts", "web/form.spec.ts", "cmd/main.go", "doc/a.md", "x/y.go"}
	path := rapid.SampledFrom(paths)
	line := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 12), func(n int) string { return fmt.Sprintf("value of limit_%d is read from the table %d", n, n) }),
		rapid.SampledFrom([]string{
			"func dialAll(limit_3 int) error {", "\treturn errors.Join(limit_3, errClosed, newLimit)", "type poolState struct {", "error: newLimit is 1200, not 1250",
			"see pool/dial.go and web/form.ts for errClosed", "the port is 8443 or 130", "so much for today", "plain words alone are no names here", "",
			"newLimit newLimit errClosed limit_1 limit_2 limit_3", "const errClosed = 4711", "\tgo on with form.ts and the table of words that are many",
			"ada@example.com reads https://example.com/a/long/path/to/read at v1.2.3 in 40ms on 2024-05-15",
		}),
	)
	text := rapid.Custom(func(t *rapid.T) string {
		list := rapid.SliceOfN(line, 1, 8).Draw(t, "lines")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			list = append(list, strings.Repeat("so many words of no use\n", rapid.IntRange(1, 300).Draw(t, "more")))
		}
		return strings.Join(list, "\n")
	})
	s := new(talk).user("Begin with " + line.Draw(t, "task"))
	for range rapid.IntRange(0, 30).Draw(t, "turns") {
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0:
			s.user(text.Draw(t, "words"))
		case 1:
			s.reply(text.Draw(t, "reply"))
		case 2, 3:
			file := text.Draw(t, "file")
			if rapid.Bool().Draw(t, "part") {
				s.call("", "Read", map[string]any{"file_path": path.Draw(t, "path"), "offset": 40}, "40→"+file)
				break
			}
			s.read(path.Draw(t, "path"), file)
		case 4, 5:
			s.edit(path.Draw(t, "path"), line.Draw(t, "old"), text.Draw(t, "new"))
		case 6, 7:
			s.run(line.Draw(t, "command"), text.Draw(t, "output"))
		case 8:
			s.call("", "Grep", map[string]string{"pattern": "newLimit"}, text.Draw(t, "hits"))
		case 9:
			s.call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": line.Draw(t, "plan"), "status": "pending"}}}, "ok")
		}
	}
	return s
}

func TestFeaturesAgainstModel(t *testing.T) {
	ofNames, ofLines := FeaturesOfNames(), FeaturesOfLines()
	m := DefaultModel()
	rapid.Check(t, func(t *rapid.T) {
		msgs := day(t).msgs
		pieces := History(msgs, transcript.Group("s", 0, msgs), nil)
		need := Estimate(pieces, nil)
		s := newSlow(pieces, need)
		for id := range need.Names {
			n := &need.Names[id]
			if d := cmp.Diff(s.name(int32(id)), binNames(ofNames, n.Features[:])); d != "" {
				t.Fatalf("name %d (-want +got):\n%s", id, d)
			}
			outer := slices.ContainsFunc(s.placesOf(int32(id)), func(a markedAt) bool { return !pieces[a.piece].Marks[a.mark].inner })
			if want := m.Names.chance(n.Features[:]); outer && n.Chance != want || !outer && n.Chance != 0 {
				t.Fatalf("name %d has the chance %d, want %d if it stands alone: %v", id, n.Chance, want, outer)
			}
		}
		seen := make(map[int32]bool)
		for i := range need.Lines {
			for k := range need.Lines[i] {
				l := &need.Lines[i][k]
				if l.Copy == 0 || seen[l.Copy] {
					continue
				}
				seen[l.Copy] = true
				if d := cmp.Diff(s.line(l.Copy), binNames(ofLines, l.Features[:])); d != "" {
					t.Fatalf("line %q (-want +got):\n%s", pieces[i].Text[pieces[i].Lines[k].From:pieces[i].Lines[k].To], d)
				}
				if want := m.Lines.chance(l.Features[:]); l.Chance != want {
					t.Fatalf("line %d has the chance %d, want %d", k, l.Chance, want)
				}
			}
		}
	})
}
