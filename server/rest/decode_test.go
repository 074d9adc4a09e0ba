package rest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
)

// requests are those with the most kinds of fields.
func requests() []any {
	return []any{
		new(api.PutRequest), new(carrel.AppendRequest), new(carrel.CommitRequest), new(carrel.CompressRequest), new(carrel.RunProbesRequest),
		new(carrel.AmendContractRequest), new(carrel.DiscardRequest), new(carrel.ImportRequest),
	}
}

// FuzzDecode checks that the reader takes nothing that encoding/json would not take, and
// understands what it takes as that does; and that it takes what encoding/json writes.
func FuzzDecode(f *testing.F) {
	for at, text := range []string{
		`{"artifacts":[{"class":"document","content":"aGk=","ttl":5,"created":"2026-01-02T03:04:05Z","from":["a"]},null]}`,
		`{"messages":[{"a":[1,2.50,"x"]},null],"at":3,"model":"\u00e9\"\\"}`,
		`{"text":"x","verdict":{"evaluator":"e","confidence":0.25,"content":"` +
			`0000000000000000000000000000000000000000000000000000000000000000","scope":"s","policy":"p","expires":"2026-01-02T03:04:05Z"}}`,
		`{"target":"50%","probe_min":null,"todos":[],"intent":null,"keep_last":-1}`,
		`{"probes":[{"id":"1","type":"t","question":"q","expected_keywords":["a"],"need":0,"critical":true}],"text":""}`,
		`{"init":true,"payload":{"sources":[{"name":"a","text":"b"}]},"verified":[{"text":"t"}]}`,
		`{"trigger":{"warn":0.6,"floor":7},"auto":false}`,
		`{"name":"","data":null}`,
	} {
		f.Add(at, text)
	}
	ds := make(decoders)
	f.Fuzz(func(t *testing.T, at int, text string) {
		list := requests()
		got := list[(at%len(list)+len(list))%len(list)]
		typ := reflect.TypeOf(got).Elem()
		if document(ds.of(typ), []byte(text), reflect.ValueOf(got).Elem()) != nil {
			t.Skip()
		}
		want := reflect.New(typ).Interface()
		if err := json.Unmarshal([]byte(text), want); err != nil {
			t.Fatalf("%s: encoding/json: %v", text, err)
		}
		unexported := cmpopts.IgnoreUnexported(carrel.NewArtifact{}, carrel.AmendContractRequest{}, carrel.ImportRequest{})
		if diff := cmp.Diff(want, got, unexported); diff != "" {
			t.Fatalf("%s (-encoding/json +strict):\n%s", text, diff)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := document(ds.of(typ), again, reflect.New(typ).Elem()); err != nil {
			t.Fatalf("%s is not taken back: %v", again, err)
		}
	})
}

// What is embedded gives way to what is not, by its name in JSON.
func TestFieldsOfStructs(t *testing.T) {
	type inner struct {
		Tokens int `json:"tokens"`
		Name   string
		Hidden string `json:"-"`
	}
	type outer struct {
		inner
		Tokens int    `json:"own_tokens,omitempty"`
		Name   string `json:"Name,omitzero"`
		plain  bool
	}
	var got []string
	for _, f := range fieldsOf(reflect.TypeFor[outer]()) {
		name := f.name
		if f.optional {
			name += "?"
		}
		got = append(got, name)
	}
	if diff := cmp.Diff([]string{"tokens", "own_tokens?", "Name?"}, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	_ = outer{}.plain
	type word string
	type deep struct{ inner }
	type other struct {
		deep
		word
		inner `json:"own"`
		Named struct{ X int }
		Name  int
		Own   int `json:"tokens"`
	}
	_, got = other{}.word, nil
	for _, f := range fieldsOf(reflect.TypeFor[other]()) {
		got = append(got, f.name+" "+f.typ.Kind().String())
	}
	if diff := cmp.Diff([]string{"Named struct", "Name int", "tokens int"}, got); diff != "" {
		t.Errorf("fields of what is embedded twice (-want +got):\n%s", diff)
	}
}
