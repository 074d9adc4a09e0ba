package rawjson

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReader(t *testing.T) {
	const text = ` { "a" : [ 1 , {"x":2, "x":3}, "s\u00e9\ud83d\ude00" ] , "b\n":null }`
	r := NewReader([]byte(text))
	var got []string
	err := r.Object(func(key string) error {
		if r.Kind() != Array {
			span, err := r.Skip()
			got = append(got, r.Path()+" "+string(span.Of([]byte(text))))
			return err
		}
		return r.Array(func(int) error {
			if r.Kind() == String {
				s, err := r.String()
				got = append(got, r.Path()+" "+s)
				return err
			}
			span, err := r.Skip()
			got = append(got, r.Path()+" "+string(span.Of([]byte(text))))
			return err
		})
	})
	if err != nil || r.End() != nil {
		t.Fatal(err, r.End())
	}
	want := []string{"a.0 1", `a.1 {"x":2, "x":3}`, "a.2 sé😀", "b\n null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		want   string
	}{
		{``, 0, "the text ends in the middle of a value"},
		{`{"a":1,}`, 7, `found '}', and a string is expected`},
		{`[1,]`, 3, `']' where a value is expected`},
		{`[1 2]`, 3, `'2' where a comma or ']' is expected`},
		{`{"a" 1}`, 5, `'1' where a colon is expected`},
		{`[tru]`, 1, `'t' where a value is expected`},
		{`[tr`, 3, "the text ends in the middle of a value"},
		{`[01]`, 1, "malformed number"},
		{`[1.]`, 1, "malformed number"},
		{`[1e+]`, 1, "malformed number"},
		{`[-]`, 1, "malformed number"},
		{`["\q"]`, 2, "malformed escape in a string"},
		{`["\u12"]`, 2, "malformed escape in a string"},
		{"[\"\x01\"]", 2, "control character 0x01 in a string"},
		{`['a']`, 1, `'\'' where a value is expected`},
		{strings.Repeat("[", MaxDepth+1), MaxDepth, "nested more than 512 levels deep"},
	} {
		_, err := NewReader([]byte(tt.in)).Skip()
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Offset != tt.offset || e.Text != tt.want {
			t.Errorf("%q: %v, want offset %d: %s", tt.in, err, tt.offset, tt.want)
		}
	}
}

// spoiled yields texts that are almost JSON, and some that are JSON: short ones of all characters
// of numbers, escapes of every byte, and longer ones that are cut off, or with one byte
// removed or changed.
func spoiled(yield func(string) bool) {
	const signs = "-+.eE019a "
	var numbers func(string) bool
	numbers = func(s string) bool {
		for _, c := range signs {
			if longer := s + string(c); !yield(longer) || len(longer) < 5 && !numbers(longer) {
				return false
			}
		}
		return true
	}
	if !numbers("") {
		return
	}
	for c := range 256 {
		b := string([]byte{byte(c)})
		for _, s := range []string{b, `"` + b + `"`, `"\` + b + `"`, `"\u` + b + `0Fa"`, `"\u00` + b + b + `"`, `"\u00e` + b + `"`, `"\` + b + `00e9"`} {
			if !yield(s) {
				return
			}
		}
	}
	for _, s := range []string{
		` { "a" : [ 1 , { "x":-2.5e+3, "y":[ ] } , "s\u00e9\ud83d\ude00" ] , "b\n":null,"c":{ }, "d" : true} `,
		"\t[\r\n[false,true,null],\"\\\"\\\\\\/\\b\\f\\n\\r\\t\" ,0.5 ]\n",
	} {
		for i := range len(s) {
			if !yield(s[:i]) || !yield(s[:i]+s[i+1:]) {
				return
			}
			for c := range byte(128) {
				if !yield(s[:i] + string(c) + s[i+1:]) {
					return
				}
			}
		}
		if !yield(s) {
			return
		}
	}
}

// This reader and encoding/json agree on valid JSON, its end, and the values of its strings.
func TestReadsWhatIsJSON(t *testing.T) {
	for s := range spoiled {
		data := []byte(s)
		want := json.Valid(data)
		if got := Valid(data); got != want {
			t.Fatalf("%q: Valid is %t, want %t", s, got, want)
		}
		if !want {
			continue
		}
		r := NewReader(data)
		r.Kind() // moves only over whitespace
		span, err := r.Skip()
		if got := string(span.Of(data)); err != nil || got != strings.Trim(s, " \r\n\t") {
			t.Fatalf("%q is the value %q, %v", s, got, err)
		}
		if NewReader(data).Kind() != String {
			continue
		}
		r = NewReader(data)
		text, err := r.String()
		var other string
		if err != nil || json.Unmarshal(data, &other) != nil || !r.Lossy() && text != other {
			t.Fatalf("%q is %q, want %q: %v", s, text, other, err)
		}
	}
}

// This reader and encoding/json agree on strings longer than one block, for an escape, an end or
// an error at any position in them.
func TestLongStrings(t *testing.T) {
	bits := []string{`\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, "é", "𝄞", "~", `#`, `]`, "!"}
	odd := []string{`"`, `\`, `\x`, "\x1f", "\x7f", `\u12`, "\n"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteByte('"')
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			b.WriteString(strings.Repeat("x", rapid.IntRange(0, 70).Draw(t, "plain")))
			b.WriteString(rapid.SampledFrom(bits).Draw(t, "bit"))
		}
		if rapid.IntRange(0, 3).Draw(t, "wrong") == 0 {
			b.WriteString(rapid.SampledFrom(odd).Draw(t, "odd"))
		}
		b.WriteString(strings.Repeat("y", rapid.IntRange(0, 70).Draw(t, "tail")) + `"`)
		data := []byte(b.String())
		want := json.Valid(data)
		if got := Valid(data); got != want {
			t.Fatalf("%q: Valid is %t, want %t", data, got, want)
		}
		if !want {
			return
		}
		text, err := NewReader(data).String()
		var other string
		if err != nil || json.Unmarshal(data, &other) != nil || text != other {
			t.Fatalf("%q is %q, want %q: %v", data, text, other, err)
		}
	})
}

// Errors distinguish a text that was cut off from an invalid one.
func TestCutOff(t *testing.T) {
	const whole = ` { "a" : [ 1 , { "x":-25, "y":[ ] } , "s\u00e9\n" ] , "b\n":null,"c":{ "d":true}}`
	for i := range len(whole) {
		_, err := NewReader([]byte(whole[:i])).Skip()
		e, ok := errors.AsType[*Error](err)
		if strings.HasSuffix(whole[:i], "-") {
			continue // a number without digits
		}
		if !ok || e.Offset != i || !strings.Contains(e.Text, "ends in the middle") || e.Hint == "" {
			t.Errorf("%q: %+v", whole[:i], e)
		}
	}
	_, err := NewReader([]byte(`[1,]`)).Skip()
	if e, ok := errors.AsType[*Error](err); !ok || e.Hint != "" {
		t.Errorf("a text that is wrong: %+v", e)
	}
}

// An error names the position in the text and the expected value.
func TestErrorsSayWhere(t *testing.T) {
	key := strings.Repeat("k", 50)
	deep := func(r *Reader, read func() error) error {
		return r.Object(func(string) error { return r.Array(func(int) error { return read() }) })
	}
	for _, tt := range []struct {
		in   string
		read func(*Reader) error
		want string
	}{
		{`7`, func(r *Reader) error { return r.Object(nil) }, `offset 0: '7' where an object is expected`},
		{` {`, func(r *Reader) error { return r.Array(nil) }, `offset 1: '{' where an array is expected`},
		{`{"a":[1,{"b":7}]}`, func(r *Reader) error {
			return deep(r, func() error {
				if r.Kind() == Number {
					_, err := r.Skip()
					return err
				}
				return r.Object(func(string) error { _, err := r.String(); return err })
			})
		}, `offset 13: a.1.b: found '7', and a string is expected`},
		{`{"` + key + `":x}`, func(r *Reader) error { _, err := r.Members(); return err }, `offset 54: ` + key[:40] + `…: 'x' where a value is expected`},
		{`{"` + key + `":1,"` + key + `":2}`, func(r *Reader) error { _, err := r.Members(); return err }, `offset 56: key "` + key[:40] + `…" comes twice`},
		{`{"a":1,7}`, func(r *Reader) error { _, err := r.Members(); return err }, `offset 7: found '7', and a string is expected`},
		{`{"a" 1}`, func(r *Reader) error { _, err := r.Members(); return err }, `offset 5: '1' where a colon is expected`},
		{`{"a":1 2}`, func(r *Reader) error { _, err := r.Members(); return err }, `offset 7: '2' where a comma or '}' is expected`},
		{`[1,x]`, func(r *Reader) error { _, err := r.Elements(); return err }, `offset 3: 1: 'x' where a value is expected`},
		{`[1 2]`, func(r *Reader) error { _, err := r.Elements(); return err }, `offset 3: '2' where a comma or ']' is expected`},
		{`"a" 7`, func(r *Reader) error { _, _ = r.String(); return r.End() }, `offset 4: more text behind the end of the value`},
		{` `, func(r *Reader) error { _, err := r.String(); return err }, `offset 1: the text ends in the middle of a value`},
	} {
		err := tt.read(NewReader([]byte(tt.in)))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.want)
		}
	}
}

// At reads a skipped value under its key; afterwards the reader continues at its former
// position.
func TestAt(t *testing.T) {
	r := NewReader([]byte(`{"late": "x", "first": [1]} `))
	list, err := r.Members()
	if err != nil {
		t.Fatal(err)
	}
	behind := r.Position()
	at := list[0].Value.Start
	var got, path string
	read := func() (err error) {
		path = r.Path()
		got, err = r.String()
		return err
	}
	if err := r.At(at, "late", read); err != nil || got != "x" || path != "late" || r.Path() != "" || r.Position() != behind {
		t.Errorf("read %q at %q, then %q and position %d, want %d: %v", got, path, r.Path(), r.Position(), behind, err)
	}
	if err := r.At(list[1].Value.Start, "first", read); err == nil || !strings.Contains(err.Error(), "first: found '[', and a string is expected") {
		t.Errorf("a value of another kind: %v", err)
	}
}

// Members returns the positions of the members of an object.
func TestMembers(t *testing.T) {
	text := []byte(` { "a" : [1] ,"b":2 }`)
	list, err := NewReader(text).Members()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.Key, string(m.Whole.Of(text)), string(m.Value.Of(text)))
	}
	if diff := cmp.Diff([]string{"a", `"a" : [1]`, "[1]", "b", `"b":2`, "2"}, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

// Neighboring values do not count as nested, a byte order mark is not part of the text,
// and Offset does not depend on the whitespace before the next value.
func TestDepthMarkAndSpace(t *testing.T) {
	if wide := "[" + strings.Repeat("[],{},", MaxDepth) + "0]"; !Valid([]byte(wide)) {
		t.Error("values beside one another are taken for nested ones")
	}
	if deepest := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth); !Valid([]byte(deepest)) {
		t.Errorf("%d levels are refused", MaxDepth)
	}
	if !Valid([]byte("\xef\xbb\xbf[]")) {
		t.Error("a mark of the byte order is refused")
	}
	r := NewReader([]byte("  \n\"a\""))
	if at := r.Position(); at != 0 {
		t.Errorf("the reader begins at %d", at)
	}
	if at := r.Offset(); at != 3 {
		t.Errorf("the value is at %d, want 3", at)
	}
	if s, err := NewReader([]byte(` "a"`)).String(); err != nil || s != "a" {
		t.Errorf("a string behind space is %q, %v", s, err)
	}
	if k := NewReader([]byte(" ")).Kind(); k != None {
		t.Errorf("space is a value of kind %q", k)
	}
}

func TestObjectRefusesTwins(t *testing.T) {
	many := "{"
	twins := []string{`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`}
	for i := range 30 {
		key := `"` + strings.Repeat("k", i) + `":0`
		many += key + ","
		twins = append(twins, many+key+"}")
	}
	for i := range 30 {
		twins = append(twins, many+`"`+strings.Repeat("k", i)+`":0}`)
	}
	for _, in := range twins {
		if _, err := NewReader([]byte(in)).Members(); err == nil || !strings.Contains(err.Error(), "comes twice") {
			t.Errorf("%s: %v", in, err)
		}
	}
	if list, err := NewReader([]byte(many + `"x":0}`)).Members(); err != nil || len(list) != 31 {
		t.Errorf("%d members, %v", len(list), err)
	}
}

func TestLossy(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud800"`:       "\ufffd",
		`"\udc00\ud800"`: "\ufffd\ufffd",
		`"\ud800\u0041"`: "\ufffdA",
		`"\ud83d"`:       "\ufffd",
		`"\ud83dxude00"`: "\ufffdxude00",
		`"\ud83d\tde00"`: "\ufffd\tde00",
		"\"a\xffb\"":     "a\ufffdb",
	} {
		r := NewReader([]byte(in))
		if got, err := r.String(); err != nil || got != want || !r.Lossy() {
			t.Errorf("%q is %q, %v, lossy %v", in, got, err, r.Lossy())
		}
	}
	r := NewReader([]byte("[\"a\",\"\xff\"]"))
	if err := r.Array(func(i int) error { _, err := r.String(); return err }); err != nil || !r.Lossy() {
		t.Errorf("lossy %v, %v", r.Lossy(), err)
	}
	r = NewReader([]byte("[\"a\",\"\xff\"]"))
	err := r.Array(func(i int) error {
		if i > 0 {
			_, err := r.Skip()
			return err
		}
		_, err := r.String()
		return err
	})
	if err != nil || r.Lossy() {
		t.Errorf("without the string that is not valid: lossy %v, %v", r.Lossy(), err)
	}
	if r := NewReader([]byte(`"\ufffd \ud83d\ude00"`)); true {
		if got, err := r.String(); err != nil || got != "\ufffd 😀" || r.Lossy() {
			t.Errorf("got %q, %v, lossy %v", got, err, r.Lossy())
		}
	}
}

// Encoding any string with AppendString and decoding it, here or by encoding/json, returns it.
func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		text := AppendString(nil, s)
		got, err := NewReader(text).String()
		var other string
		if err != nil || json.Unmarshal(text, &other) != nil || got != s || other != s {
			t.Fatalf("%q became %s, then %q and %q, %v", s, text, got, other, err)
		}
	})
	if got := string(AppendString(nil, " ~\x7f/'")); got != "\" ~\x7f/'\"" {
		t.Errorf("what needs no escape has one: %s", got)
	}
	if got := string(AppendString(nil, "<&>\u2028\x00\xff")); got != "\"<&>\u2028\\u0000\ufffd\"" {
		t.Errorf("got %s", got)
	}
}

// Remove removes exactly the chosen elements, and leaves an array of the others.
func TestRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		gone := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "gone")
		text := []byte("[")
		var want []int
		for i := range n {
			if i > 0 {
				text = append(text, rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(t, "gap")...)
			}
			text = append(text, byte('0'+i))
			if !gone[i] {
				want = append(want, i)
			}
		}
		text = append(text, ']')
		spans, err := NewReader(text).Elements()
		if err != nil {
			t.Fatal(err)
		}
		out := slices.Clone(text)
		for _, s := range slices.Backward(Remove(spans, func(i int) bool { return gone[i] })) {
			out = slices.Delete(out, s.Start, s.End)
		}
		got := []int{}
		if err := json.Unmarshal(out, &got); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s without %v is %s: %v", text, gone, out, err)
		}
	})
}

// FuzzSkip checks that this reader and encoding/json agree on what is JSON,
// and on what strings mean.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,"\ud83d\ude00\n",true,false,null]}`, `"\ud800"`, "\xff", `[1,]`, "1 2", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.HasPrefix(string(data), string(bom)) {
			return // this reader skips it
		}
		got, want := Valid(data), json.Valid(data)
		if got != want {
			if _, err := NewReader(data).Skip(); err == nil || !strings.Contains(err.Error(), "levels deep") {
				t.Fatalf("%q: Valid is %v, json.Valid is %v", data, got, want)
			}
		}
		r := NewReader(data)
		if !want || r.Kind() != String {
			return
		}
		s, err := r.String()
		var other string
		if err != nil || json.Unmarshal(data, &other) != nil || !utf8.ValidString(s) {
			t.Fatalf("%q is %q, %v", data, s, err)
		}
		if !r.Lossy() && s != other {
			t.Fatalf("%q is %q, want %q", data, s, other)
		}
	})
}
