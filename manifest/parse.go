package manifest

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// Parse reads a document. Every byte must be as [Seal] would write it: an
// unknown or repeated key, another order or spelling, a space, a value that is
// no name or out of its range are [ErrFormat], and a document of another
// version is [ErrSchema]. Whether the seal is right is the question of
// [Sealed.Verify].
func Parse(data []byte) (*Sealed, error) {
	d := decoder{rawjson.NewReader(data), data}
	s, err := d.document()
	if err != nil {
		return nil, err
	}
	if err := s.manifest.fields(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	s.data = write(&s.manifest, s.salts).end(s.seal)
	if !bytes.Equal(s.data, data) {
		i := 0
		for i < min(len(data), len(s.data)) && data[i] == s.data[i] {
			i++
		}
		return nil, fmt.Errorf("%w: offset %d: not in canonical form, or without a key that must be there", ErrFormat, i)
	}
	return s, nil
}

// A decoder reads what an encoder wrote. It takes more than that: Parse
// compares the bytes afterwards.
type decoder struct {
	*rawjson.Reader
	data []byte
}

// document reads the whole.
func (d *decoder) document() (*Sealed, error) {
	s := new(Sealed)
	err := d.Object(func(key string) error {
		switch key {
		case "header":
			return d.header(&s.manifest.Header)
		case "items":
			return d.items(s)
		case "schema":
			start := d.Offset()
			if schema, err := d.String(); err != nil || schema != Schema {
				return d.Fail(start, "want %q", Schema)
			}
			return nil
		case "seal":
			return d.hex((*[digest.Size]byte)(&s.seal))
		}
		return d.unknown()
	})
	if err == nil {
		err = d.End()
	}
	if err == nil {
		return s, nil
	}
	if schema, ok := otherSchema(d.data); ok {
		return nil, fmt.Errorf("%w: %q, want %q", ErrSchema, text.Clip(schema, shownText), Schema)
	}
	return nil, format(err)
}

// otherSchema returns the schema of a document that could not be read, if it is
// a document of another one.
func otherSchema(data []byte) (string, bool) {
	var schema string
	r := rawjson.NewReader(data)
	err := r.Object(func(key string) (err error) {
		if key == "schema" {
			schema, err = r.String()
			return err
		}
		_, err = r.Skip()
		return err
	})
	return schema, err == nil && schema != Schema && schema != ""
}

// format wraps an error of the reader.
func format(err error) error { return fmt.Errorf("%w: %w", ErrFormat, err) }

// unknown returns the error for a key that has no place.
func (d *decoder) unknown() error { return d.Fail(d.KeyOffset(), "unknown key") }

// readText reads a string.
func readText[T ~string](d *decoder, v *T) error {
	s, err := d.String()
	*v = T(s)
	return err
}

// number reads a whole number from 0 to most.
func number[T ~int | ~int64](d *decoder, v *T, most int64) error {
	start := d.Offset()
	span, err := d.Skip()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(span.Of(d.data)), 10, 64)
	if err != nil || n < 0 || n > most {
		return d.Fail(start, "want a whole number from 0 to %d", most)
	}
	*v = T(n)
	return nil
}

// count reads a number of tokens, bytes or the like.
func count[T ~int | ~int64](d *decoder, v *T) error { return number(d, v, math.MaxInt32) }

// exact reads a version or a row.
func (d *decoder) exact(v *int64) error { return number(d, v, maxExact) }

// ratio reads a part of a score.
func (d *decoder) ratio(v *ratio.Ratio) error { return number(d, v, int64(ratio.One)) }

// truth reads true. False is never written.
func (d *decoder) truth(v *bool) error {
	*v = true
	start := d.Offset()
	if d.Kind() != rawjson.True {
		return d.Fail(start, "want true")
	}
	_, err := d.Skip()
	return err
}

// hex reads the digits of a digest or a salt.
func (d *decoder) hex(v *[digest.Size]byte) error {
	start := d.Offset()
	s, err := d.String()
	if err != nil {
		return err
	}
	p, err := digest.Parse(s)
	if err != nil {
		return d.Fail(start, "want %d hexadecimal digits", 2*digest.Size)
	}
	*v = p
	return nil
}

func (d *decoder) header(h *Header) error {
	return d.Object(func(key string) error {
		switch key {
		case "actor":
			return readText(d, &h.Actor)
		case "budget":
			return count(d, &h.Budget)
		case "candidates":
			return count(d, &h.Candidates)
		case "created":
			return d.time(&h.Created)
		case "demand":
			return count(d, &h.Demand)
		case "encoding":
			return readText(d, &h.Encoding)
		case "format":
			return readText(d, &h.Format)
		case "id":
			return readText(d, &h.ID)
		case "policy":
			return readText(d, &h.Policy)
		case "query":
			return readText(d, &h.Query)
		case "reserve":
			return count(d, &h.Reserve)
		case "review":
			return d.truth(&h.Review)
		case "revision":
			return d.exact(&h.Revision)
		case "scope":
			return readText(d, &h.Scope)
		case "semantic":
			return readText(d, &h.Semantic)
		case "semantic_calls":
			return count(d, &h.SemanticCalls)
		case "session":
			return readText(d, &h.Session)
		case "tier":
			return readText(d, &h.Tier)
		case "total":
			return count(d, &h.Total)
		case "version":
			return d.exact(&h.Version)
		}
		return d.unknown()
	})
}

func (d *decoder) time(v *time.Time) error {
	start := d.Offset()
	s, err := d.String()
	if err != nil {
		return err
	}
	if *v, err = time.Parse(timeLayout, s); err != nil {
		return d.Fail(start, "want a time such as 2026-01-01T00:00:00.000Z")
	}
	return nil
}

// items reads the items and their salts.
func (d *decoder) items(s *Sealed) error {
	return d.Array(func(int) error {
		var it Item
		var salt digest.Salt
		start := d.Offset()
		err := d.Object(func(key string) (err error) {
			switch key {
			case "digest":
				r := new(Redacted)
				it = r
				return d.hex((*[digest.Size]byte)(&r.Digest))
			case "item":
				it, err = d.item()
				return err
			case "salt":
				return d.hex((*[digest.Size]byte)(&salt))
			}
			return d.unknown()
		})
		if err == nil && it == nil {
			err = d.Fail(start, "neither item nor digest")
		}
		s.manifest.Items = append(s.manifest.Items, it)
		s.salts = append(s.salts, salt)
		return err
	})
}

// item reads an item.
func (d *decoder) item() (it Item, err error) {
	start := d.Offset()
	err = d.Object(func(key string) error {
		switch key {
		case "segment":
			s := new(Segment)
			it = s
			return d.segment(s)
		case "omission":
			o := new(Omission)
			it = o
			return d.omission(o)
		case "set":
			s := new(Set)
			it = s
			return d.set(s)
		case "fetch":
			f := new(Fetch)
			it = f
			return d.fetch(f)
		case "output":
			o := new(Output)
			it = o
			return d.output(o)
		}
		return d.unknown()
	})
	if err == nil && it == nil {
		err = d.Fail(start, "no item")
	}
	return it, err
}

func (d *decoder) segment(s *Segment) error {
	return d.Object(func(key string) error {
		switch key {
		case "bytes":
			return count(d, &s.Bytes)
		case "cell":
			return readText(d, &s.Cell)
		case "class":
			return readText(d, &s.Class)
		case "commit":
			return d.hex((*[digest.Size]byte)(&s.Commit))
		case "fetched":
			return d.truth(&s.Fetched)
		case "form":
			return readText(d, &s.Form)
		case "kind":
			return readText(d, &s.Kind)
		case "neutralized":
			return count(d, &s.Neutralized)
		case "reason":
			return readText(d, &s.Reason)
		case "ref":
			return readText(d, &s.Ref)
		case "row":
			return d.exact(&s.Row)
		case "score":
			s.Score = new(Score)
			return d.score(s.Score)
		case "start":
			return count(d, &s.Start)
		case "tokens":
			return count(d, &s.Tokens)
		case "version":
			return d.exact(&s.Version)
		}
		return d.unknown()
	})
}

func (d *decoder) omission(o *Omission) error {
	return d.Object(func(key string) error {
		switch key {
		case "class":
			return readText(d, &o.Class)
		case "reason":
			return readText(d, &o.Reason)
		case "ref":
			return readText(d, &o.Ref)
		case "row":
			return d.exact(&o.Row)
		case "score":
			o.Score = new(Score)
			return d.score(o.Score)
		case "tokens":
			return count(d, &o.Tokens)
		}
		return d.unknown()
	})
}

func (d *decoder) score(s *Score) error {
	return d.Object(func(key string) error {
		switch key {
		case "first":
			return d.ratio(&s.First)
		case "provenance":
			return d.ratio(&s.Provenance)
		case "recency":
			return d.ratio(&s.Recency)
		case "semantic":
			return d.ratio(&s.Semantic)
		case "tag":
			return readText(d, &s.Tag)
		case "total":
			return d.ratio(&s.Total)
		}
		return d.unknown()
	})
}

func (d *decoder) set(s *Set) error {
	return d.Object(func(key string) error {
		switch key {
		case "count":
			return count(d, &s.Count)
		case "reason":
			return readText(d, &s.Reason)
		case "rows":
			start := d.Offset()
			rows, err := d.String()
			if err != nil {
				return err
			}
			if s.Rows, err = ParseRows(rows); err != nil {
				return d.Fail(start, "rows %q are not in their one form", text.Clip(rows, shownText))
			}
			return nil
		}
		return d.unknown()
	})
}

func (d *decoder) fetch(f *Fetch) error {
	return d.Object(func(key string) error {
		switch key {
		case "from":
			return d.exact(&f.From)
		case "outcome":
			return readText(d, &f.Outcome)
		case "ref":
			return readText(d, &f.Ref)
		case "to":
			return d.exact(&f.To)
		}
		return d.unknown()
	})
}

func (d *decoder) output(o *Output) error {
	return d.Object(func(key string) error {
		switch key {
		case "bytes":
			return count(d, &o.Bytes)
		case "commit":
			return d.hex((*[digest.Size]byte)(&o.Commit))
		}
		return d.unknown()
	})
}
