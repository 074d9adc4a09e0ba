package facts

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

func toolCall(name, input string) transcript.ToolCall {
	return transcript.ToolCall{ID: "call-1", Name: name, Input: json.RawMessage(input)}
}

// The changes by the editing tools of different agents, whose arguments have different names.
func TestEdits(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: n.go\n+func b() {}\n*** End Patch"
	quoted, _ := json.Marshal(patch)
	added := []change{{"n.go", StatusCreated, "func b, 1 line"}}
	for _, tt := range []struct {
		name, tool, in, result string
		want                   []change
	}{
		{"a patch that is no JSON", "apply_patch", patch, "", added},
		{"a patch that is a text", "apply_patch", string(quoted), "", added},
		{"a patch in a field", "apply_patch", `{"patch":` + string(quoted) + `}`, "", added},
		{"no file", "write_file", `{"content":"x"}`, "", nil},
		{"a file that is deleted", "delete_file", `{"path":"a.go"}`, "", []change{{"a.go", StatusDeleted, ""}}},
		{"a file that is moved", "move_file", `{"path":"a.go","destination":"b.go"}`, "", []change{{"b.go", statusMoved, "from a.go"}}},
		{"a file that is renamed", "rename_file", `{"path":"a.go","newPath":"b.go"}`, "", []change{{"b.go", statusMoved, "from a.go"}}},
		{"a move to nowhere", "move_file", `{"path":"a.go"}`, "", nil},
		{
			"several edits, what is the same once", "MultiEdit",
			`{"file_path":"a.go","edits":[{"old_string":"n = 1","new_string":"n = 2"},{"old_string":"n = 1","new_string":"n = 2"},{"old_string":"m = 1","new_string":"m = 3"}]}`, "",
			[]change{{"a.go", StatusModified, "n: 1 → 2, m: 1 → 3"}},
		},
		{"an edit", "str_replace_editor", `{"path":"a.go","command":"str_replace","old_str":"n = 1","new_str":"n = 2"}`, "", []change{{"a.go", StatusModified, "n: 1 → 2"}}},
		{"a text and its replacement", "apply_diff", `{"path":"a.go","diff":"<<<<<<< SEARCH\nn = 1\n=======\nn = 2\n>>>>>>> REPLACE"}`, "", []change{{"a.go", StatusModified, "n: 1 → 2"}}},
		{"an edit of nothing makes the file", "Edit", `{"file_path":"a.go","old_string":"","new_string":"n = 2"}`, "", []change{{"a.go", StatusCreated, "n = 2 (+1 −0 lines)"}}},
		{"a text to put in place of a file", "write", `{"path":"a.txt","new_str":"lit"}`, "", []change{{"a.txt", StatusCreated, "lit"}}},
		{"a look", "str_replace_editor", `{"path":"a.go","command":"view"}`, "", nil},
		{"an edit that is undone", "str_replace_editor", `{"path":"a.go","command":"undo_edit"}`, "", []change{{"a.go", StatusModified, "last edit undone"}}},
		{"lines that are put in by a command", "str_replace_editor", `{"path":"a.go","command":"insert","insert_text":"n = 2"}`, "", []change{{"a.go", StatusModified, "n = 2 (+1 −0 lines)"}}},
		{"lines that are put in by a tool", "insert_lines", `{"path":"a.go","text":"n = 2"}`, "", []change{{"a.go", StatusModified, "n = 2 (+1 −0 lines)"}}},
		{"a cell of a notebook", "NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"n = 2"}`, "", []change{{"a.ipynb", StatusModified, "n = 2 (+1 −0 lines)"}}},
		{"a file that is new", "Write", `{"file_path":"a.txt","content":"lit"}`, "File created successfully", []change{{"a.txt", StatusCreated, "lit"}}},
		{"a file that was there", "Write", `{"file_path":"a.txt","content":"lit"}`, "The file has been UPDATED.", []change{{"a.txt", StatusModified, "lit"}}},
		{"a file that was written over", "Write", `{"file_path":"a.txt","content":"lit"}`, "Overwrote a.txt", []change{{"a.txt", StatusModified, "lit"}}},
		{"words far behind in the result", "Write", `{"file_path":"a.txt","content":"lit"}`, strings.Repeat("x", 300) + " updated", []change{{"a.txt", StatusCreated, "lit"}}},
		{"words in the first 300 bytes", "Write", `{"file_path":"a.txt","content":"lit"}`, strings.Repeat("x", 293) + "updated", []change{{"a.txt", StatusModified, "lit"}}},
		{"a byte behind them", "Write", `{"file_path":"a.txt","content":"lit"}`, strings.Repeat("x", 294) + "updated", []change{{"a.txt", StatusCreated, "lit"}}},
		{"a file that is emptied", "Write", `{"file_path":"a.txt","content":""}`, "", []change{{"a.txt", StatusCreated, ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, edits(toolCall(tt.tool, tt.in), tt.result), cmp.AllowUnexported(change{})); diff != "" {
				t.Errorf("edits of %s %s (-want +got):\n%s", tt.tool, tt.in, diff)
			}
		})
	}
}

// The writings of calls: whether they replace the whole content of a file.
func TestWritings(t *testing.T) {
	const moved = "*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y\n*** End Patch"
	quoted, _ := json.Marshal(moved)
	var both []writing
	for _, in := range []string{moved, string(quoted), `{"input":` + string(quoted) + `}`} {
		got := writings(toolCall("apply_patch", in))
		if both == nil {
			both = got
		}
		if diff := cmp.Diff(both, got, cmp.AllowUnexported(writing{})); diff != "" {
			t.Errorf("a patch in another place does something else (-want +got):\n%s", diff)
		}
	}
	if len(both) != 2 || both[0] != (writing{"a.go", StatusDeleted, true}) || both[1].path != "b.go" || both[1].status != statusMoved {
		t.Errorf("a patch that moves a file writes %+v", both)
	}
	for _, tt := range []struct {
		name, tool, in string
		want           []writing
	}{
		{"no file", "write_file", `{"content":"x"}`, nil},
		{"a file that is deleted", "delete_file", `{"path":"a.go"}`, []writing{{"a.go", StatusDeleted, true}}},
		{"a file that is moved", "move_file", `{"path":"a.go","to":"b.go"}`, []writing{{"a.go", StatusDeleted, true}, {"b.go", statusMoved, true}}},
		{"a file that is renamed", "rename_file", `{"path":"a.go","new_path":"b.go"}`, []writing{{"a.go", StatusDeleted, true}, {"b.go", statusMoved, true}}},
		{"a move to nowhere", "move_file", `{"path":"a.go"}`, nil},
		{"an edit that is undone", "edit", `{"path":"a.go","command":"undo_edit"}`, []writing{{"a.go", StatusModified, false}}},
		{"lines that are put in by a command", "edit", `{"path":"a.go","command":"insert","text":"x"}`, []writing{{"a.go", StatusModified, false}}},
		{"lines that are put in by a tool", "insert_lines", `{"path":"a.go","text":"x"}`, []writing{{"a.go", StatusModified, false}}},
		{"a cell of a notebook", "NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"x"}`, []writing{{"a.ipynb", StatusModified, false}}},
		{"several edits", "MultiEdit", `{"file_path":"a.go","edits":[]}`, []writing{{"a.go", StatusModified, false}}},
		{"an edit", "Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, []writing{{"a.go", StatusModified, false}}},
		{"a file", "Write", `{"file_path":"a.go","content":"x"}`, []writing{{"a.go", StatusCreated, true}}},
		{"a patch that changes lines", "apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch", []writing{{"a.go", StatusModified, false}}},
		{"a patch that makes a file", "apply_patch", "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch", []writing{{"a.go", StatusCreated, true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, writings(toolCall(tt.tool, tt.in)), cmp.AllowUnexported(writing{})); diff != "" {
				t.Errorf("writings of %s %s (-want +got):\n%s", tt.tool, tt.in, diff)
			}
		})
	}
}

// The lines that a call reads, by the arguments of different agents.
func TestExtentOf(t *testing.T) {
	for in, want := range map[string]extent{
		`{}`:                                  allLines,
		`{"view_range":[3,7]}`:                {3, 7},
		`{"view_range":[0,7]}`:                {1, 7},
		`{"view_range":[3,-1]}`:               {3, math.MaxInt},
		`{"view_range":[3,0]}`:                {3, math.MaxInt},
		`{"view_range":[3,1]}`:                {3, 1},
		`{"view_range":[3]}`:                  allLines,
		`{"view_range":[9999999999,1e12]}`:    {maxLine, maxLine},
		`{"offset":5}`:                        {5, math.MaxInt},
		`{"offset":0}`:                        allLines,
		`{"offset":-5}`:                       allLines,
		`{"offset":5,"limit":10}`:             {5, 14},
		`{"offset":5,"limit":1}`:              {5, 5},
		`{"limit":10}`:                        {1, 10},
		`{"limit":0}`:                         allLines,
		`{"start_line":5,"end_line":9}`:       {5, 9},
		`{"startLine":5,"endLine":9}`:         {5, 9},
		`{"start":5,"end":1}`:                 {5, 1},
		`{"line_start":5,"end":9,"limit":50}`: {5, 9},
		`{"from_line":5,"num_lines":3}`:       {5, 7},
		`{"pages":"1-3"}`:                     {},
		`{"cell_id":"c","offset":5}`:          {},
	} {
		if got := extentOf(toolCall("Read", in)); got != want {
			t.Errorf("%s reads %v, want %v", in, got, want)
		}
	}
	for _, tt := range []struct {
		e, other extent
		want     bool
	}{
		{allLines, extent{1, 1}, true},
		{extent{3, 7}, extent{3, 7}, true},
		{extent{3, 7}, extent{2, 7}, false},
		{extent{3, 7}, extent{3, 8}, false},
		{allLines, extent{}, false},
		{extent{}, extent{}, false},
	} {
		if got := tt.e.covers(tt.other); got != tt.want {
			t.Errorf("%v covers %v: %v, want %v", tt.e, tt.other, got, tt.want)
		}
	}
}

// The lines that head and sed show.
func TestPartsThatProgramsShow(t *testing.T) {
	for line, want := range map[string]extent{
		"head a.go": {1, 10}, "head -n 3 a.go": {1, 3}, "head -n3 a.go": {1, 3}, "head -3 a.go": {1, 3}, "head -n 1 a.go": {1, 1}, "head -n 0 a.go": {}, "bat a.go": allLines, "bat -r 1:5 a.go": {}, "bat --line-range=1:5 a.go": {},
		"head -n -5 a.go": {}, "head -n-5 a.go": {}, "head -c 100 a.go": {}, "head -c100 a.go": {},
		"sed -n 5p a.go": {5, 5}, "sed -n 1p a.go": {1, 1}, "sed -n 0p a.go": {}, "sed -n '5,9p' a.go": {5, 9}, "sed -n '5,5p' a.go": {5, 5}, "sed -n '5,4p' a.go": {},
		"sed -n '5,$p' a.go": {5, math.MaxInt}, "sed -n '5,xp' a.go": {}, "sed -n '5,9d' a.go": {}, "sed -n /x/p a.go": {}, "sed -n '$p' a.go": {},
		"cat a.go": allLines, "nl a.go": allLines, "tail a.go": {}, "cat a.go | wc -l": {},
	} {
		if diff := cmp.Diff([]shownFile{{"a.go", want}}, readLine(line).readings(), cmp.AllowUnexported(shownFile{}, extent{})); diff != "" {
			t.Errorf("what %q shows (-want +got):\n%s", line, diff)
		}
	}
}

func TestContents(t *testing.T) {
	many := strings.Join(listOf(9, "func f%d() {}"), "\n")
	for _, tt := range []struct{ name, path, body, want string }{
		{"nothing", "a.txt", "", ""},
		{"two lines", "a.txt", "lit\ndim\n\n", "lit dim"},
		{"three lines", "a.txt", "lit\ndim\noff\n", "3 lines"},
		{"declarations", "a.go", "func a() {}\nfunc b() {}\nfunc a() {}", "func a, func b, 3 lines"},
		{"eight declarations", "a.go", many[:strings.LastIndexByte(many, '\n')], "func f1, func f2, func f3, func f4, func f5, func f6, func f7, func f8, 8 lines"},
		{"nine declarations", "a.go", many, "func f1, func f2, func f3, func f4, func f5, func f6, func f7, func f8, 1 more, 9 lines"},
		{"headings", "a.md", "# Lamp\n#tag\n##### Bulb\n#### Lens\n# Lamp", `"Lamp", "Lens", 5 lines`},
		{"headings of another kind of prose", "a.mdx", "# Lamp", `"Lamp", 1 line`},
	} {
		if got := contents(tt.path, tt.body); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDifference(t *testing.T) {
	for _, tt := range []struct{ name, old, now, want string }{
		{"nothing but space", "a\n  b", "b\na\n", "lines moved or spaced anew"},
		{"one line", "n = 1", "n = 2", "n: 1 → 2"},
		{"declarations that come", "x", "x\nfunc a() {}\nfunc b() {}", "new func a, func b (+2 −0 lines)"},
		{"declarations that go", "x\nfunc a() {}\nfunc b() {}", "x", "gone func a, func b (+0 −2 lines)"},
		{"one that stays", "func a(x int) {}\nvar y", "func a() {}\nconst z = 1\nvar y", "new const z (+2 −1 lines)"},
		{"a comment", "x\ny", "// The lamp is lit here.\nz", `"The lamp is lit here." (+2 −2 lines)`},
		{"a short comment", "x\ny", "// is lit now\nz", `// is lit now (+2 −2 lines)`},
		{"a comment of 12 bytes", "x\ny", "// now it is on\nz", "// now it is on (+2 −2 lines)"},
		{"one of 13", "x\ny", "// now it is lit\nz", `"now it is lit" (+2 −2 lines)`},
		{"names of 80 and 81 bytes", "x\ny", "a_" + repeat(78, "b") + "\na_" + repeat(79, "b"), "new a_" + repeat(78, "b") + " (+2 −2 lines)"},
		{"a comment of three words", "x\ny", "// lamps light now\nz", `"lamps light now" (+2 −2 lines)`},
		{"a comment of two words", "x\ny", "# a-long-option another\nz", `new a-long-option (+2 −2 lines)`},
		{"names", "lampOn(1)\nx", "lampOff(1)\ny", "new lampOff; gone lampOn (+2 −2 lines)"},
		{"lines that go and have no name", "lit\ndim", "", "gone lit (+0 −2 lines)"},
		{"lines that come and have no name", "", "lit\ndim", "lit (+2 −0 lines)"},
	} {
		if got := difference("a.go", tt.old, tt.now); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A file of prose declares its headings, and any other file its functions and types.
func TestDeclared(t *testing.T) {
	lines := []string{"# Lamps", "def lit():", "##### Too deep", "# Lamps"}
	for path, want := range map[string][]string{"a.md": {`"Lamps"`}, "a.mdx": {`"Lamps"`}, "a.rst": {`"Lamps"`}, "a.py": {"def lit"}} {
		if got := declared(path, slices.Values(lines), nil); !slices.Equal(got, want) {
			t.Errorf("%s declares %q, want %q", path, got, want)
		}
	}
}

func TestUnique(t *testing.T) {
	if got := unique([]string{"", "dim", "lit", "", "dim"}); !slices.Equal(got, []string{"dim", "lit"}) {
		t.Errorf("got %q", got)
	}
}

func TestDeclaration(t *testing.T) {
	for line, want := range map[string]string{
		"func Lit() bool {": "func Lit", "func (l *Lamp) Lit() bool {": "func Lamp.Lit", "func (Lamp[T]) Lit() {": "func Lamp.Lit", "func (l *Lamp[K, V]) Lit() {": "func Lamp.Lit",
		"func () Lit() {": "func Lit", "func (l *Lamp": "", "func (": "",
		"\tfunc Lit() {": "", "\tdef lit(self):": "def lit", "\tconst lit = 1": "", "const lit = 1": "const lit",
		"export default async function lit() {": "function lit", "public static final class Lamp {": "class Lamp", "export": "", "publicity func lit": "",
		"class is a word": "", "type of lamp": "", "let's go": "", "let it = 1": "let it", "type": "", "function *lit() {": "function lit",
		`describe("lamp", () => {`: `describe "lamp"`, `  it("dims")`: `it "dims"`, "lit = func() {": "", "": "",
	} {
		if got := declaration(line); got != want {
			t.Errorf("%q declares %q, want %q", line, got, want)
		}
	}
}

// The tools of different agents that keep a task list.
func TestTodoTools(t *testing.T) {
	type deed struct{ name, in, result string }
	for _, tt := range []struct {
		name  string
		deeds []deed
		want  []entry
	}{
		{"made and brought on one by one", []deed{
			{"taskcreate", `{"subject":"Mend it"}`, "Task #1 created"},
			{"taskcreate", `{"title":"Paint it"}`, "Task #12 created"},
			{"taskcreate", `{"description":"Sell it"}`, "created"},
			{"taskupdate", `{"taskId":"12","status":"in_progress"}`, ""},
			{"taskupdate", `{"taskId":"1"}`, ""},
			{"taskupdate", `{"status":"completed"}`, ""},
		}, []entry{{"1", "Mend it", StatusPending}, {"12", "Paint it", StatusActive}, {"", "Sell it", StatusPending}}},
		{"one that is deleted", []deed{
			{"taskcreate", `{"subject":"Mend it"}`, "#1"},
			{"taskcreate", `{"subject":"Paint it"}`, "#2"},
			{"taskcreate", `{"subject":"Sell it"}`, "#3"},
			{"taskupdate", `{"taskId":"2","status":"deleted"}`, ""},
		}, []entry{{"1", "Mend it", StatusPending}, {"3", "Sell it", StatusPending}}},
		{
			"all at once",
			[]deed{{"todowrite", `{"todos":[{"content":"Mend it","status":"completed"},{"task":"Paint it","state":"doing"},{"title":"Sell it"},"Rest",{"status":"done"}]}`, ""}},
			[]entry{{"", "Mend it", StatusCompleted}, {"", "Paint it", StatusActive}, {"", "Sell it", StatusPending}, {"", "Rest", StatusPending}},
		},
		{"what is done is done", []deed{{"updateplan", `{"plan":[{"step":"Mend it","completed":true,"status":"pending"},{"step":"Paint it","done":true},{"step":"Sell it","done":false}]}`, ""}}, []entry{
			{"", "Mend it", StatusCompleted}, {"", "Paint it", StatusCompleted}, {"", "Sell it", StatusPending},
		}},
		{"a list in words", []deed{{"todowrite", `{"todo_list":"- [x] Mend it\n- [ ] Paint it"}`, ""}}, []entry{{"", "Mend it", StatusCompleted}, {"", "Paint it", StatusPending}}},
		{"no list in words for a plan", []deed{{"plan", `{"plan":"- [x] Mend it"}`, ""}}, nil},
		{"an empty list changes nothing", []deed{{"todowrite", `{"items":["Mend it"]}`, ""}, {"todowrite", `{"items":[]}`, ""}}, []entry{{"", "Mend it", StatusPending}}},
		{"a list without texts changes nothing", []deed{{"todowrite", `{"todos":["Mend it"]}`, ""}, {"todowrite", `{"todos":[{"status":"done"}]}`, ""}}, []entry{{"", "Mend it", StatusPending}}},
		{"a list of one entry in words", []deed{{"todowrite", `{"todo_list":"- [x] Mend it"}`, ""}, {"todowrite", `{"todo_list":"Mend all."}`, ""}}, []entry{{"", "Mend it", StatusCompleted}}},
		{"a list of another tool", []deed{{"shoppinglist", `{"items":["Mend it"]}`, ""}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var list todos
			for i, d := range tt.deeds {
				list.call(i, d.name, toolCall(d.name, d.in), d.result)
			}
			if diff := cmp.Diff(tt.want, list.list, cmp.AllowUnexported(entry{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A check list in prose counts until a tool keeps a list. The tool's list replaces it.
func TestToolsKeepTheList(t *testing.T) {
	var list todos
	box := []sentence{{text: "Mend it", box: ' '}}
	if list.prose(3, box); list.block != 3 || len(list.list) != 1 {
		t.Errorf("a check list in prose leaves %+v", list)
	}
	list.call(4, "taskcreate", toolCall("TaskCreate", `{"subject":"Paint it"}`), "#1")
	list.prose(5, box)
	if diff := cmp.Diff([]entry{{"1", "Paint it", StatusPending}}, list.list, cmp.AllowUnexported(entry{})); diff != "" || list.block != 4 || list.callID != "call-1" {
		t.Errorf("of block %d and call %s (-want +got):\n%s", list.block, list.callID, diff)
	}
	if list.call(6, "taskupdate", toolCall("TaskUpdate", `{"taskId":"1","status":"done"}`), ""); list.block != 6 || list.list[0].status != StatusCompleted {
		t.Errorf("an update leaves %+v", list)
	}
}

// Words that must be repeated exactly, and numbers that are references only with the word
// beside them.
func TestExactWords(t *testing.T) {
	for _, tt := range []struct{ prev, w, next, want string }{
		{"", "#1a", "", ""},
		{"", "$1,200.50", "", "$1,200.50"},
		{"", "-$3k", "", "-$3k"},
		{"", "€12", "", "€12"},
		{"", "$1x", "", ""},
		{"", "12.5%", "", "12.5%"},
		{"", "~40%", "", "~40%"},
		{"", "a4%", "", ""},
		{"", "v1.2.3", "", "v1.2.3"},
		{"", "v1.2", "", ""},
		{"", "1.2.3", "", "1.2.3"},
		{"", "1..2.3", "", ""},
		{"", ".1.2.3", "", ""},
		{"", "localhost:8080", "", "localhost:8080"},
		{"PR", "17", "", "17"},
		{"issue", "17", "", "17"},
		{"MR", "17", "", "17"},
		{"support", "17", "", "17"},
		{"amount", "17", "", "17"},
		{"user_id", "17", "", "17"},
		{"lamp", "17", "", ""},
		{"lamp", "17", "lamps", ""},
		{"", "2026-02-03", "", "2026-02-03"},
		{"", "2026-0203", "", ""},
		{"", "20260-2-03", "", ""},
	} {
		if got := reference(tt.prev, tt.w, tt.next); got != tt.want {
			t.Errorf("%q before %q and %q refers to %q, want %q", tt.prev, tt.w, tt.next, got, tt.want)
		}
	}
}

// An absolute path and a relative path that ends it are the same file; if two absolute paths
// end so, neither is.
func TestPathsOfOneFile(t *testing.T) {
	p := &paths{}
	for _, tt := range []struct{ in, want string }{
		{"/srv/app/lib/lamp.go", "/srv/app/lib/lamp.go"},
		{"lib/lamp.go", "/srv/app/lib/lamp.go"},
		{"lamp.go", "lamp.go"},
		{`lib\lens.go`, "lib/lens.go"},
		{"./lib//lens.go", "lib/lens.go"},
		{"/srv/lib/lens.go", "lib/lens.go"},
		{"/srv/one/x/a.go", "/srv/one/x/a.go"},
		{"/srv/two/x/a.go", "/srv/two/x/a.go"},
		{"x/a.go", "x/a.go"},
		{"/srv/y/b.go", "/srv/y/b.go"},
		{"y/b.go", "/srv/y/b.go"},
		{"other/y/b.go", "other/y/b.go"},
		{"lib/z/c.go", "lib/z/c.go"},
		{"z/c.go", "z/c.go"},
		{`a\b`, "a/b"},
		{`\a`, `\a`},
		{`/a\b`, `/a\b`},
		{"", ""},
	} {
		if got := p.of(tt.in); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.in, got, tt.want)
		}
	}
	p = &paths{project: "/srv/app"}
	for in, want := range map[string]string{"/srv/app/lib/lamp.go": "lib/lamp.go", "/srv/app": "", "/srv/apple/lamp.go": "/srv/apple/lamp.go", `C:\x`: "C:/x", `a/b\c`: `a/b\c`} {
		if got := p.of(in); got != want {
			t.Errorf("in a project %q is %q, want %q", in, got, want)
		}
	}
}
