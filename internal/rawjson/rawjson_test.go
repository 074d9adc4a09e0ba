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
		{`{"a":1,}`, 7, `'}' where a string is expected`},
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

func TestObjectRefusesTwins(t *testing.T) {
	many := "{"
	for i := range 30 {
		many += `"` + strings.Repeat("k", i) + `":0,`
	}
	for _, in := range []string{`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, many + `"kkk":0}`} {
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
		"\"a\xffb\"":     "a\ufffdb",
	} {
		r := NewReader([]byte(in))
		if got, err := r.String(); err != nil || got != want || !r.Lossy() {
			t.Errorf("%q is %q, %v, lossy %v", in, got, err, r.Lossy())
		}
	}
	if r := NewReader([]byte(`"\ufffd \ud83d\ude00"`)); true {
		if got, err := r.String(); err != nil || got != "\ufffd 😀" || r.Lossy() {
			t.Errorf("got %q, %v, lossy %v", got, err, r.Lossy())
		}
	}
}

// Any string comes back from its JSON, by this reader and by another.
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
	if got := string(AppendString(nil, "<&>\u2028\x00\xff")); got != "\"<&>\u2028\\u0000\ufffd\"" {
		t.Errorf("got %s", got)
	}
}

// What is removed is gone, and what is left is the array of the others.
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
			return // this one passes over it
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
