package manifest

import (
	"encoding/hex"
	"strconv"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// timeLayout is the form of times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// An encoder writes canonical JSON (RFC 8785) of checked values. Callers write the keys of an
// object in canonical order. Strings are names, and numbers are whole and exact, so neither
// needs escapes or a choice of form.
type encoder []byte

// key writes a key, preceded by a comma if it is not the first.
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

func (e encoder) int(key string, v int64) encoder { return strconv.AppendInt(e.key(key), v, 10) }

func (e encoder) hex(key string, v [digest.Size]byte) encoder {
	e = append(e.key(key), '"')
	e = hex.AppendEncode(e, v[:])
	return append(e, '"')
}

func (e encoder) close() encoder { return append(e, '}') }

// item writes an item that is not redacted.
func (e encoder) item(it Item) encoder {
	e = append(e, '{')
	switch it := it.(type) {
	case *Segment:
		members := it.members()
		e = e.key("segment").object(members[:])
	case *Omission:
		members := it.members()
		e = e.key("omission").object(members[:])
	case *Set:
		members := it.members()
		e = e.key("set").object(members[:])
	case *Fetch:
		members := it.members()
		e = e.key("fetch").object(members[:])
	case *Output:
		members := it.members()
		e = e.key("output").object(members[:])
	}
	return e.close()
}

// A draft is an encoded document that still lacks its last part, the seal.
type draft struct {
	data   []byte
	header rawjson.Span
	items  []rawjson.Span // empty for a redacted item
}

// write writes the document up to the seal. salts has one salt for each item; the salt of a
// redacted item is not used.
func write(m *Manifest, salts []digest.Salt) *draft {
	d := &draft{items: make([]rawjson.Span, len(m.Items))}
	e := append(make(encoder, 0, 1024+600*len(m.Items)), `{"header":`...) // an item usually takes less
	d.header.Start = len(e)
	header := m.Header.members()
	e = e.object(header[:])
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
