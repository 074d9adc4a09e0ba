package chat

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// windowsHead begins a document of several bodies. Carrel writes such a document to keep the
// windows before a compaction by the client, because a body has only one window:
//
//	{"carrel":"windows","earlier":[BODY,…],"now":BODY}
//
// Only Carrel writes such a document, see [Windows]; a provider gets the result of [Now].
var windowsHead = []byte(`{"carrel":"windows","earlier":`)

const windowsNow = `,"now":`

// Windows returns a document with the bodies of the earlier windows, oldest first, and of the
// present one. A byte order mark at the beginning of now is left out, since JSON allows none inside.
func Windows(earlier [][]byte, now []byte) []byte {
	if len(earlier) == 0 {
		return now
	}
	return slices.Concat(windowsHead, []byte("["), bytes.Join(earlier, []byte(",")), []byte("]"+windowsNow), bytes.TrimPrefix(now, []byte("\ufeff")), []byte("}"))
}

// parts returns the positions of the bodies in a document. If data is a single body, it returns
// zero spans.
func parts(data []byte) (earlier []rawjson.Span, now rawjson.Span) {
	if !bytes.HasPrefix(data, windowsHead) {
		return nil, rawjson.Span{End: len(data)}
	}
	members, err := rawjson.NewReader(data).Members()
	if err != nil || len(members) != 3 || members[2].Key != "now" {
		return nil, rawjson.Span{End: len(data)}
	}
	list := members[1].Value
	spans, err := rawjson.NewReader(list.Of(data)).Elements()
	if err != nil {
		return nil, rawjson.Span{End: len(data)}
	}
	for _, s := range spans {
		earlier = append(earlier, rawjson.Span{Start: list.Start + s.Start, End: list.Start + s.End})
	}
	return earlier, members[2].Value
}

// Now returns the body of the present window of a document; a single body is returned as it is.
func Now(data []byte) []byte {
	_, now := parts(data)
	return now.Of(data)
}

// Decode decodes a document of bodies, each of them with the function body.
func Decode(name string, data []byte, body func(name string, data []byte) (*transcript.Session, error)) (*transcript.Session, error) {
	earlier, at := parts(data)
	now, err := body(name, at.Of(data))
	if err != nil || len(earlier) == 0 {
		return now, err
	}
	s := *now
	s.Items, s.Earlier, s.Title = nil, nil, ""
	from := 0
	take := func(part *transcript.Session, span rawjson.Span) []transcript.Message {
		s.Items = append(s.Items, transcript.Item{Raw: data[from:span.Start]})
		shift := len(s.Items)
		s.Items, from = append(s.Items, part.Items...), span.End
		messages := slices.Clone(part.Messages)
		for i := range messages {
			messages[i].Items = slices.Clone(messages[i].Items)
			for k := range messages[i].Items {
				messages[i].Items[k] += shift
			}
		}
		return messages
	}
	for _, span := range earlier {
		window, err := body(name, span.Of(data))
		if err != nil {
			return nil, err
		}
		s.Title = cmp.Or(s.Title, window.Title)
		s.Earlier = append(s.Earlier, take(window, span))
	}
	s.Title = cmp.Or(s.Title, now.Title)
	s.Messages = take(now, at)
	s.Items = append(s.Items, transcript.Item{Raw: data[from:]})
	return &s, nil
}
