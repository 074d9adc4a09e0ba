package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// at returns the node at a path of keys and indexes.
func at(t testing.TB, d *Document, path ...any) Node {
	n := Root
	for _, step := range path {
		switch step := step.(type) {
		case string:
			n = d.Member(n, step)
		case int:
			n = slices.Collect(d.Children(n))[step]
		}
	}
	if n == NoNode {
		t.Fatalf("there is no %v", path)
	}
	return n
}

func TestDocument(t *testing.T) {
	const text = "{ \"model\" : \"m\",\r\n \"messages\":[ {\"role\":\"user\",\"content\":\"a\"} ,\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"b\\u00e9\"}, {\"type\":\"x\",\"y\":{\"a\":1,\"a\":2}}]},{\"role\":\"user\",\"content\":[ ]}],\"tools\":[],\"n\":1.50e+1}\n"
	for _, tt := range []struct {
		name      string
		edit      func(d *Document)
		old, with string // of the text
	}{
		{"nothing", func(*Document) {}, "", ""},
		{"nothing that is there", func(d *Document) {
			d.Drop(NoNode)
			d.Drop(Root)
			d.Replace(NoNode, []byte("1"))
			d.Insert(Root, []byte("1"))
			d.Append(d.Member(Root, "model"), []byte("1"))
			d.Append(at(t, d, "messages", 1, "content", 1, "y"), []byte("1"))
		}, "", ""},
		{"the first message", func(d *Document) { d.Drop(at(t, d, "messages", 0)) }, "{\"role\":\"user\",\"content\":\"a\"} ,\n", ""},
		{"the last message", func(d *Document) { d.Drop(at(t, d, "messages", 2)) }, `,{"role":"user","content":[ ]}`, ""},
		{"all of a list", func(d *Document) {
			for c := range d.Children(at(t, d, "messages", 1, "content")) {
				d.Drop(c)
			}
		}, `[{"type":"text","text":"b\u00e9"}, {"type":"x","y":{"a":1,"a":2}}]`, "[]"},
		{"a member", func(d *Document) { d.Drop(at(t, d, "model")) }, "\"model\" : \"m\",\r\n ", ""},
		{"a value", func(d *Document) { d.Replace(at(t, d, "messages", 0, "content"), []byte(`"z"`)) }, `"a"`, `"z"`},
		{"the last word holds", func(d *Document) {
			n := at(t, d, "messages", 0)
			d.Drop(d.Member(n, "role"))
			d.Replace(n, []byte(`1`))
			d.Replace(n, []byte(`2`))
		}, `{"role":"user","content":"a"}`, "2"},
		{"one in front, one behind", func(d *Document) {
			d.Insert(at(t, d, "messages", 1, "content", 0), []byte(`1`))
			d.Insert(at(t, d, "messages", 1, "content", 0), []byte(`2`))
			d.Append(at(t, d, "messages", 1, "content"), []byte(`3`))
		}, `{"type":"text","text":"b\u00e9"}, {"type":"x","y":{"a":1,"a":2}}`, `1,2,{"type":"text","text":"b\u00e9"}, {"type":"x","y":{"a":1,"a":2}},3`},
		{"in front of the first that is left", func(d *Document) {
			d.Drop(at(t, d, "messages", 1, "content", 0))
			d.Insert(at(t, d, "messages", 1, "content", 1), []byte(`1`))
		}, `{"type":"text","text":"b\u00e9"}, `, `1, `},
		{"into an empty list", func(d *Document) {
			d.Append(at(t, d, "tools"), []byte(`1`))
			d.Append(at(t, d, "tools"), []byte(`2`))
		}, `"tools":[]`, `"tools":[1,2]`},
		{"a member in front", func(d *Document) { d.Insert(at(t, d, "model"), []byte(`"a":1`)) }, `"model"`, `"a":1,"model"`},
		{"in place of all", func(d *Document) {
			for c := range d.Children(at(t, d, "messages")) {
				d.Drop(c)
			}
			d.Append(at(t, d, "messages"), []byte(`1`))
		}, text[strings.Index(text, `{"role"`) : strings.Index(text, `,"tools"`)-1], "1"},
	} {
		var d Document
		if err := d.Read([]byte(text)); err != nil {
			t.Fatal(err)
		}
		tt.edit(&d)
		if got, want := string(bytes.Join(d.Segments(), nil)), strings.Replace(text, tt.old, tt.with, 1); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, want)
		}
		segments := d.Segments()
		size := Size(segments)
		b := net.Buffers(segments)
		if out, err := io.ReadAll(&b); err != nil || int64(len(out)) != size {
			t.Errorf("%s: %d bytes, size is %d: %v", tt.name, len(out), size, err)
		}
	}
}

// The rules for keys hold only where Read looks into values. Deeper values, such as results of
// tools, may have any keys and have no nodes.
func TestDocumentLeavesDeepValues(t *testing.T) {
	var d Document
	if err := d.Read([]byte(`{"messages":[{"content":[{"content":[{"ключ":1,"ключ":2}]}]}]}`)); err != nil {
		t.Fatal(err)
	}
	deep := Root
	for _, key := range []string{"messages", "", "content", "", "content"} {
		if key != "" {
			deep = d.Member(deep, key)
			continue
		}
		for c := range d.Children(deep) {
			deep = c
		}
	}
	if d.Kind(deep) != Array {
		t.Fatalf("the result is of kind %q", d.Kind(deep))
	}
	for c := range d.Children(deep) {
		t.Errorf("the result has the child %s", d.Raw(c))
	}
}

func TestDocumentRefuses(t *testing.T) {
	many := "{"
	for i := range maxMembers + 1 {
		many += fmt.Sprintf("%q:1,", fmt.Sprint(i))
	}
	for _, tt := range []struct {
		in     string
		rule   Rule
		offset int
		path   string
	}{
		{`{"a":1} x`, "", 8, ""},
		{"\xef\xbb\xbf{}", "", 0, ""},
		{``, "", 0, ""},
		{`[]`, RuleObject, 0, ""},
		{`{"m\u0065ssages":[]}`, RuleKey, 1, ""},
		{`{"ſystem":[]}`, RuleKey, 1, ""},
		{`{"messages":[],"messages":[]}`, RuleTwice, 15, ""},
		{`{"messages":[],"Messages":[]}`, RuleTwice, 15, ""},
		{`{"messages":[{},{"content":[{"a":1,"b":1,"a":1}]}]}`, RuleTwice, 41, "messages.1.content.0"},
		{`{"messages":[{"content":"` + "\xff" + `"}]}`, RuleUnicode, 24, "messages.0.content"},
		{`{"x":{"y":["` + "\xff" + `"]}}`, RuleUnicode, 11, "x"},
		{`{"x":"\ud800"}`, RuleUnicode, 5, "x"},
		{many, RuleMembers, len(many) - len(`"64":1,`), ""},
		{`{"x":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + "}", RuleDepth, MaxDepth + 4, "x.0"},
		{`{"messages":[{"content":[1,]}]}`, "", 27, "messages.0.content.1"},
	} {
		var d Document
		err := d.Read([]byte(tt.in))
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Rule != tt.rule || e.Offset != tt.offset || e.Path != tt.path {
			t.Errorf("%.60s: %+v, want rule %q at %d in %q", tt.in, err, tt.rule, tt.offset, tt.path)
		}
		if len(d.Segments()) != 0 || d.Kind(Root) != None {
			t.Errorf("%.60s: something of it can be edited", tt.in)
		}
	}
	for _, fine := range []string{`{"x":{"a":1,"a":2,"\u0061":3}}`, ` {"a":"\ud83d\ude00"} `, `{}`, `{"text":"é"}`, `{"a_key_of_more_than_twenty-four_bytes":"é"}`} {
		var d Document
		if err := d.Read([]byte(fine)); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

// drawValue draws a value as text with any kind of whitespace.
func drawValue(t *rapid.T, depth int) string {
	gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "gap") }
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 || kind < 4 {
		return rapid.SampledFrom([]string{`"a"`, `"\\\"é\u00e9"`, `1.50`, `true`, `null`, `""`, `[]`, `{}`}).Draw(t, "plain")
	}
	var b strings.Builder
	list := kind < 7
	b.WriteString(map[bool]string{true: "[", false: "{"}[list] + gap())
	for i := range rapid.IntRange(0, 4).Draw(t, "n") {
		if i > 0 {
			b.WriteString(gap() + "," + gap())
		}
		if !list {
			fmt.Fprintf(&b, `"k%d"%s:%s`, i, gap(), gap())
		}
		b.WriteString(drawValue(t, depth-1))
	}
	b.WriteString(gap() + map[bool]string{true: "]", false: "}"}[list])
	return b.String()
}

// A tree is a decoded value that keeps the order of its members.
type tree struct {
	plain  any
	list   bool
	keys   []string // of an object
	values []*tree
}

// decode decodes a text by encoding/json.
func decode(text []byte) (*tree, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value func() (*tree, error)
	value = func() (*tree, error) {
		tok, err := dec.Token()
		delim, ok := tok.(json.Delim)
		if err != nil || !ok {
			return &tree{plain: tok}, err
		}
		v := &tree{list: delim == '['}
		for dec.More() {
			if !v.list {
				key, err := dec.Token()
				if err != nil {
					return nil, err
				}
				v.keys = append(v.keys, key.(string))
			}
			inner, err := value()
			if err != nil {
				return nil, err
			}
			v.values = append(v.values, inner)
		}
		_, err = dec.Token()
		return v, err
	}
	v, err := value()
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more behind the end: %w", err)
	}
	return v, nil
}

// change makes the same edits in a document and in its decoded tree, and returns the edited tree
// of n. draw returns a number below n.
func change(d *Document, n Node, v *tree, draw func(n int) int, fresh func() (string, *tree)) *tree {
	if draw(8) == 0 && n != Root {
		text, with := fresh()
		d.Replace(n, []byte(text))
		return with
	}
	out := &tree{plain: v.plain, list: v.list}
	add := func(do func(text []byte)) {
		text, with := fresh()
		if !v.list {
			key := fmt.Sprintf("new%d", len(out.keys))
			out.keys = append(out.keys, key)
			text = fmt.Sprintf("%q:%s", key, text)
		}
		out.values = append(out.values, with)
		do([]byte(text))
	}
	i := 0
	for c := range d.Children(n) {
		for draw(4) == 0 {
			add(func(text []byte) { d.Insert(c, text) })
		}
		if draw(3) == 0 {
			d.Drop(c)
		} else {
			if !v.list {
				out.keys = append(out.keys, v.keys[i])
			}
			out.values = append(out.values, change(d, c, v.values[i], draw, fresh))
		}
		i++
	}
	if i < len(v.values) { // its children are not nodes of the document
		return v
	}
	for d.nodes[n].entered && draw(4) == 0 {
		add(func(text []byte) { d.Append(n, text) })
	}
	return out
}

// checkEdits makes random edits, and returns an error unless the edited text has the edited
// tree, and all bytes outside the changes are those of the original text.
func checkEdits(text []byte, draw func(n int) int) error {
	var d Document
	if err := d.Read(text); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	if got := bytes.Join(d.Segments(), nil); !bytes.Equal(got, text) {
		return fmt.Errorf("%q without changes is %q", text, got)
	}
	was, err := decode(text)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	news := 0
	want := change(&d, Root, was, draw, func() (string, *tree) {
		news++
		return fmt.Sprint(news), &tree{plain: json.Number(fmt.Sprint(news))}
	})
	out := bytes.Join(d.Segments(), nil)
	if got, err := decode(out); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%q became %q: %w", text, out, err)
	}
	kept := make([]bool, len(text))
	end := 0
	for _, s := range d.Segments() {
		from := int(uintptr(unsafe.Pointer(unsafe.SliceData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(text))))
		if from < 0 || from >= len(text) {
			continue // not part of the original text
		}
		if from < end {
			return fmt.Errorf("%q became %q: its parts are not in order", text, out)
		}
		for end = from; end < from+len(s); end++ {
			kept[end] = true
		}
	}
	changed := make([]bool, len(text))
	for n := Root; int(n) < len(d.nodes); n++ {
		from, to := int(d.nodes[n].start), int(d.nodes[n].end)
		if d.nodes[n].gone {
			from = int(d.nodes[n].from)
		} else if d.nodes[n].with == 0 {
			continue
		}
		for i := from; i < to; i++ {
			changed[i] = true
		}
	}
	for i, c := range text {
		if kept[i] == changed[i] && (kept[i] || !strings.ContainsRune(", \n\r\t", rune(c))) {
			return fmt.Errorf("%q became %q: byte %d is kept: %t", text, out, i, kept[i])
		}
	}
	return nil
}

func TestEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(" {")
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			if i > 0 {
				b.WriteString(" , ")
			}
			fmt.Fprintf(&b, `"m%d":%s`, i, drawValue(t, 6))
		}
		b.WriteString("}\n")
		if err := checkEdits([]byte(b.String()), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzDocument checks that a document accepts the texts that encoding/json accepts, except by
// its rules, and that its edits change only what they should.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"\ud83d\ude00"}]}],"n":-2.5e+3}`,
		` { "a" : [ [ ] , { } , null ] }`, `{"a":1,"A":2}`, `{"\u0061":1}`, `{"a":"\ud800"}`, `[]`, `{"a":[1,]}`, `{}x`,
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		err := new(Document).Read(data)
		e, _ := errors.AsType[*Error](err)
		if valid := json.Valid(data); valid != (err == nil) && (!valid || e.Rule == "") {
			t.Fatalf("%q: json.Valid is %t: %v", data, valid, err)
		}
		if err != nil {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		if err := checkEdits(data, rng.IntN); err != nil {
			t.Fatal(err)
		}
	})
}

// A document that has read a text of the same size reads, edits and writes without allocating.
func TestDocumentAllocatesNothing(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"messages":[`)
	for i := range 50 {
		fmt.Fprintf(&b, `%s{"role":"user","content":[{"type":"text","text":"number %d \n é"}]}`, strings.Repeat(",", min(i, 1)), i)
	}
	b.WriteString(`]}`)
	text, other := []byte(b.String()), []byte(`"x"`)
	var d Document
	if n := testing.AllocsPerRun(20, func() {
		if err := d.Read(text); err != nil {
			t.Fatal(err)
		}
		i := 0
		for m := range d.Children(d.Member(Root, "messages")) {
			switch i++; i {
			case 1, 7:
				d.Drop(m)
			case 9:
				d.Insert(m, other)
			case 12:
				d.Replace(d.Member(m, "content"), other)
			}
		}
		if Size(d.Segments()) == int64(len(text)) {
			t.Fatal("nothing changed")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
