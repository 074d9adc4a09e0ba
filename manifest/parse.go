package manifest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
)

// Parse reads a document. Every byte must be as [Seal] writes it. An unknown or repeated key,
// another order or spelling, a space, and a value that is no name or out of range are
// [ErrFormat]. A document of another version is [ErrSchema]. Parse does not keep data. It does not
// check the seal; [Sealed.Verify] does.
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
		return nil, fmt.Errorf("%w: offset %d: not in canonical form, or a required key is missing", ErrFormat, i)
	}
	return s, nil
}

// A decoder reads documents. It accepts more forms than an encoder writes; Parse compares the
// bytes afterwards.
type decoder struct {
	*rawjson.Reader
	data []byte
}

// document reads a whole document.
func (d *decoder) document() (*Sealed, error) {
	s := new(Sealed)
	err := d.Object(func(key string) error {
		switch key {
		case "header":
			members := s.manifest.Header.members()
			return d.object(members[:])
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

// otherSchema returns the schema that a document names, and whether it is another one
// than [Schema]. It is for documents that could not be read.
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

// unknown returns the error for an unknown key.
func (d *decoder) unknown() error { return d.Fail(d.KeyOffset(), "unknown key") }

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
			members := s.members()
			it = s
			return d.object(members[:])
		case "omission":
			o := new(Omission)
			members := o.members()
			it = o
			return d.object(members[:])
		case "set":
			s := new(Set)
			members := s.members()
			it = s
			return d.object(members[:])
		case "fetch":
			f := new(Fetch)
			members := f.members()
			it = f
			return d.object(members[:])
		case "output":
			o := new(Output)
			members := o.members()
			it = o
			return d.object(members[:])
		}
		return d.unknown()
	})
	if err == nil && it == nil {
		err = d.Fail(start, "no item")
	}
	return it, err
}
