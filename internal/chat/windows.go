package chat

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A body has one window. What a client compacted is in bodies before it:
//
//	{"carrel":"windows","earlier":[BODY,…],"now":BODY}
//
// Only Carrel writes such a document, see [Windows]; to a provider goes what [Now] returns.
var windowsHead = []byte(`{"carrel":"windows","earlier":`)

const windowsNow = `,"now":`

// Windows returns a document with bodies of earlier windows, the oldest first, and the body of
// the present one.
func Windows(earlier [][]byte, now []byte) []byte {
	if len(earlier) == 0 {
		return now
	}
	return slices.Concat(windowsHead, []byte("["), bytes.Join(earlier, []byte(",")), []byte("]"+windowsNow), now, []byte("}"))
}

// parts returns where the bodies of a document are; nothing if it is a body itself.
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

// Now returns the body of the present window of a document, which is a body itself if it has
// no earlier ones.
func Now(data []byte) []byte {
	_, now := parts(data)
	return now.Of(data)
}

// Decode reads a document of bodies, each with what reads one.
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
		if s.Title == "" {
			s.Title = window.Title
		}
		s.Earlier = append(s.Earlier, take(window, span))
	}
	if s.Title == "" {
		s.Title = now.Title
	}
	s.Messages = take(now, at)
	s.Items = append(s.Items, transcript.Item{Raw: data[from:]})
	return &s, nil
}
