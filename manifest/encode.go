package manifest

import (
	"encoding/hex"
	"strconv"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// timeLayout is how times are written.
const timeLayout = "2006-01-02T15:04:05.000Z"

// An encoder writes canonical JSON (RFC 8785) of what has been checked. Its
// callers name the keys of an object in their order. Strings are names and
// numbers whole and exact, so that both have one form and nothing needs an
// escape.
type encoder []byte

// key writes a key, and a comma if it is not the first.
func (e encoder) key(key string) encoder {
	if e[len(e)-1] != '{' {
		e = append(e, ',')
	}
	e = append(e, '"')
	e = append(e, key...)
	return append(e, '"', ':')
}

func (e encoder) str(key, v string) encoder {
	e = append(e.key(key), '"')
	e = append(e, v...)
	return append(e, '"')
}

// optStr, as the other functions with opt, leaves out a zero value.
func (e encoder) optStr(key, v string) encoder {
	if v == "" {
		return e
	}
	return e.str(key, v)
}

func (e encoder) int(key string, v int64) encoder { return strconv.AppendInt(e.key(key), v, 10) }

func (e encoder) optInt(key string, v int64) encoder {
	if v == 0 {
		return e
	}
	return e.int(key, v)
}

func (e encoder) optTrue(key string, v bool) encoder {
	if !v {
		return e
	}
	return append(e.key(key), "true"...)
}

func (e encoder) hex(key string, v [digest.Size]byte) encoder {
	e = append(e.key(key), '"')
	e = hex.AppendEncode(e, v[:])
	return append(e, '"')
}

// open begins an object under a key.
func (e encoder) open(key string) encoder { return append(e.key(key), '{') }

func (e encoder) close() encoder { return append(e, '}') }

func (e encoder) header(h *Header) encoder {
	e = append(e, '{')
	e = e.str("actor", h.Actor)
	e = e.int("budget", int64(h.Budget))
	e = e.int("candidates", int64(h.Candidates))
	e = e.str("created", h.Created.UTC().Format(timeLayout))
	e = e.int("demand", int64(h.Demand))
	e = e.str("encoding", h.Encoding)
	e = e.str("format", h.Format)
	e = e.str("id", h.ID)
	e = e.str("policy", h.Policy)
	e = e.optStr("query", h.Query)
	e = e.int("reserve", int64(h.Reserve))
	e = e.optTrue("review", h.Review)
	e = e.optInt("revision", h.Revision)
	e = e.str("scope", h.Scope)
	e = e.optStr("semantic", h.Semantic)
	e = e.optInt("semantic_calls", int64(h.SemanticCalls))
	e = e.optStr("session", string(h.Session))
	e = e.str("tier", string(h.Tier))
	e = e.int("total", int64(h.Total))
	e = e.int("version", h.Version)
	return e.close()
}

// item writes an item that is not redacted.
func (e encoder) item(it Item) encoder {
	e = append(e, '{')
	switch it := it.(type) {
	case *Segment:
		e = e.segment(it)
	case *Omission:
		e = e.omission(it)
	case *Set:
		e = e.open("set")
		e = e.int("count", int64(it.Count))
		e = e.str("reason", string(it.Reason))
		e = e.key("rows")
		e = append(e, '"')
		e = it.Rows.append(e)
		e = append(e, '"')
		e = e.close()
	case *Fetch:
		e = e.open("fetch")
		e = e.optInt("from", it.From)
		e = e.str("outcome", string(it.Outcome))
		e = e.str("ref", it.Ref)
		e = e.optInt("to", it.To)
		e = e.close()
	case *Output:
		e = e.open("output")
		e = e.int("bytes", int64(it.Bytes))
		e = e.hex("commit", it.Commit)
		e = e.close()
	}
	return e.close()
}

func (e encoder) segment(s *Segment) encoder {
	e = e.open("segment")
	e = e.int("bytes", int64(s.Bytes))
	e = e.str("cell", s.Cell)
	e = e.optStr("class", string(s.Class))
	e = e.hex("commit", s.Commit)
	e = e.optTrue("fetched", s.Fetched)
	e = e.optStr("form", string(s.Form))
	e = e.str("kind", string(s.Kind))
	e = e.optInt("neutralized", int64(s.Neutralized))
	e = e.str("reason", string(s.Reason))
	e = e.optStr("ref", s.Ref)
	e = e.optInt("row", s.Row)
	e = e.score(s.Score)
	e = e.int("start", int64(s.Start))
	e = e.int("tokens", int64(s.Tokens))
	e = e.optInt("version", s.Version)
	return e.close()
}

func (e encoder) omission(o *Omission) encoder {
	e = e.open("omission")
	e = e.optStr("class", string(o.Class))
	e = e.str("reason", string(o.Reason))
	e = e.str("ref", o.Ref)
	e = e.optInt("row", o.Row)
	e = e.score(o.Score)
	e = e.optInt("tokens", int64(o.Tokens))
	return e.close()
}

func (e encoder) score(s *Score) encoder {
	if s == nil {
		return e
	}
	e = e.open("score")
	e = e.optInt("first", int64(s.First))
	e = e.optInt("provenance", int64(s.Provenance))
	e = e.optInt("recency", int64(s.Recency))
	e = e.optInt("semantic", int64(s.Semantic))
	e = e.optStr("tag", string(s.Tag))
	e = e.optInt("total", int64(s.Total))
	return e.close()
}

// A draft is a document without its end, which holds the seal.
type draft struct {
	data   []byte
	header rawjson.Span
	items  []rawjson.Span // empty where an item was taken out
}

// write writes all but the seal. There is a salt for each item, which is not
// used where the item was taken out.
func write(m *Manifest, salts []digest.Salt) *draft {
	const usual = 600 // bytes of an item and its salt
	d := &draft{items: make([]rawjson.Span, len(m.Items))}
	e := append(make(encoder, 0, 1024+usual*len(m.Items)), `{"header":`...)
	d.header.Start = len(e)
	e = e.header(&m.Header)
	d.header.End = len(e)
	e = append(e, `,"items":[`...)
	for i, it := range m.Items {
		if i > 0 {
			e = append(e, ',')
		}
		e = append(e, '{')
		if r, ok := it.(*Redacted); ok {
			e = e.hex("digest", r.Digest).close()
			continue
		}
		e = e.key("item")
		d.items[i].Start = len(e)
		e = e.item(it)
		d.items[i].End = len(e)
		e = e.hex("salt", salts[i]).close()
	}
	d.data = append(e, ']')
	return d
}

// end completes the document.
func (d *draft) end(seal digest.Digest) []byte {
	return encoder(d.data).str("schema", Schema).hex("seal", seal).close()
}
