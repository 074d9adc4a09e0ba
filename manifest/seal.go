package manifest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// The prefixes of digests, which keep different kinds of digests apart.
const (
	itemPrefix   = "carrel.manifest.item.v1"
	sealPrefix   = "carrel.manifest.v1"
	outputPrefix = "carrel.manifest.output.v1"
)

// A Sealed is a manifest with its salts and its seal.
type Sealed struct {
	manifest Manifest
	salts    []digest.Salt // one for each item; not used for redacted items
	seal     digest.Digest
	data     []byte
}

// Seal checks a manifest and seals it. It reads one salt of 32 bytes for each item from random,
// which must be a cryptographic source, because a known salt lets its holder confirm guesses at
// a redacted item. The result keeps the items, so the caller must not change them. Seal fails
// with a [*CheckError] if the manifest breaks an invariant of [Manifest.Check], or with the
// error of random.
func Seal(m *Manifest, random io.Reader) (*Sealed, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	salts, err := readSalts(len(m.Items), random)
	if err != nil {
		return nil, err
	}
	s := &Sealed{manifest: Manifest{m.Header, slices.Clone(m.Items)}, salts: salts}
	s.manifest.Header.Created = m.Header.Created.UTC()
	d := write(&s.manifest, salts)
	s.seal = d.seal(&s.manifest, salts)
	s.data = d.end(s.seal)
	return s, nil
}

// readSalts reads n salts.
func readSalts(n int, random io.Reader) ([]digest.Salt, error) {
	raw := make([]byte, n*digest.Size)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, fmt.Errorf("read the salts for %d items: %w", n, err)
	}
	salts := make([]digest.Salt, n)
	for i := range salts {
		copy(salts[i][:], raw[i*digest.Size:])
	}
	return salts, nil
}

// Manifest returns the manifest, with a [*Redacted] in place of each redacted item. The caller
// must not change it.
func (s *Sealed) Manifest() *Manifest { return &s.manifest }

// Seal returns the seal.
func (s *Sealed) Seal() digest.Digest { return s.seal }

// Bytes returns the document. The caller must not change it.
func (s *Sealed) Bytes() []byte { return s.data }

// Verify computes the seal again and returns [ErrSeal] if it differs from the seal in the
// document. If nothing is redacted, it then returns the result of [Manifest.Check].
//
// Verify does not prove that the document is the right one. For that, the caller compares
// [Sealed.Seal] with a seal recorded elsewhere.
func (s *Sealed) Verify() error {
	got := write(&s.manifest, s.salts).seal(&s.manifest, s.salts)
	if !got.Equal(s.seal) {
		return fmt.Errorf("%w: computed %s, the document has %s", ErrSeal, got.Short(), s.seal.Short())
	}
	if s.Redacted() > 0 {
		return nil
	}
	return s.manifest.Check()
}

// Redacted returns the number of redacted items.
func (s *Sealed) Redacted() int {
	n := 0
	for _, it := range s.manifest.Items {
		if _, ok := it.(*Redacted); ok {
			n++
		}
	}
	return n
}

// Redact returns a copy in which each item that matches is replaced by a [*Redacted], without
// its salt. The seal stays the same. Items that are redacted already stay so.
func (s *Sealed) Redact(match func(Item) bool) *Sealed {
	c := &Sealed{
		manifest: Manifest{s.manifest.Header, slices.Clone(s.manifest.Items)},
		salts:    slices.Clone(s.salts),
		seal:     s.seal,
	}
	digests := s.digests()
	for i, it := range c.manifest.Items {
		if _, ok := it.(*Redacted); !ok && match(it) {
			c.manifest.Items[i] = &Redacted{digests[i]}
			c.salts[i] = digest.Salt{}
		}
	}
	c.data = write(&c.manifest, c.salts).end(c.seal)
	return c
}

// digests returns the digest of each item.
func (s *Sealed) digests() []digest.Digest {
	d := write(&s.manifest, s.salts)
	list := make([]digest.Digest, 0, len(d.items))
	d.each(&s.manifest, s.salts, func(sum []byte) { list = append(list, digest.Digest(sum)) })
	return list
}

// seal returns the seal of a document:
//
//	SHA-256("carrel.manifest.v1" SHA-256(header) n digest₁ … digestₙ)
//
// with n in 8 bytes, big endian.
func (d *draft) seal(m *Manifest, salts []digest.Salt) digest.Digest {
	h := newSealHash(digest.Of(d.header.Of(d.data)), len(d.items))
	d.each(m, salts, func(sum []byte) { h.Write(sum) })
	return digest.Digest(h.Sum(nil))
}

// newSealHash returns the hash of a seal over everything before the items' digests.
func newSealHash(header digest.Digest, items int) hash.Hash {
	h := sha256.New()
	h.Write([]byte(sealPrefix))
	h.Write(header[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(items)))
	return h
}

// each calls f with the digest of each item:
//
//	SHA-256("carrel.manifest.item.v1" salt item)
func (d *draft) each(m *Manifest, salts []digest.Salt, f func(sum []byte)) {
	h, prefix := sha256.New(), []byte(itemPrefix)
	sum := make([]byte, 0, digest.Size)
	for i, it := range m.Items {
		if r, ok := it.(*Redacted); ok {
			f(r.Digest[:])
			continue
		}
		h.Reset()
		h.Write(prefix)
		h.Write(salts[i][:])
		h.Write(d.items[i].Of(d.data))
		sum = h.Sum(sum[:0])
		f(sum)
	}
}

// CommitOutput returns the commitment to a whole output. Its salt is
//
//	SHA-256("carrel.manifest.output.v1" n salt₁ … saltₙ)
//
// over the salts of the segments' cells, in the order of the segments and with repetitions; n is
// their number in 8 bytes, big endian. So nobody can confirm a guess at the output once one of the
// cells is erased.
func CommitOutput(salts []digest.Salt, output []byte) digest.Digest {
	h := sha256.New()
	h.Write([]byte(outputPrefix))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(salts))))
	for i := range salts {
		h.Write(salts[i][:])
	}
	return digest.Commit(digest.Salt(h.Sum(nil)), "output", output)
}

// A Proof shows that an item is at a position of a sealed manifest. It reveals nothing else but
// the number of items. It is encoded as JSON.
type Proof struct {
	Header digest.Digest   `json:"header"` // SHA-256 of the header
	Before []digest.Digest `json:"before"` // digests of the items before it
	After  []digest.Digest `json:"after"`  // digests of the items after it
	Salt   digest.Digest   `json:"salt"`   // salt of the item; it has the length of a digest
	Item   string          `json:"item"`   // item as canonical JSON
}

// Proof returns the proof for item i, and false if there is no item i or it is redacted.
func (s *Sealed) Proof(i int) (*Proof, bool) {
	if i < 0 || i >= len(s.manifest.Items) {
		return nil, false
	}
	if _, ok := s.manifest.Items[i].(*Redacted); ok {
		return nil, false
	}
	d, list := write(&s.manifest, s.salts), s.digests()
	return &Proof{
		Header: digest.Of(d.header.Of(d.data)),
		Before: list[:i:i],
		After:  list[i+1:],
		Salt:   digest.Digest(s.salts[i]),
		Item:   string(d.items[i].Of(d.data)),
	}, true
}

// VerifyItem checks that p proves an item of the manifest with this seal, and returns the
// item. The item is at the index len(p.Before). It fails with [ErrSeal] if p proves nothing,
// and with [ErrFormat] if p.Item is no item in canonical form.
func VerifyItem(seal digest.Digest, p *Proof) (Item, error) {
	d := decoder{rawjson.NewReader([]byte(p.Item)), []byte(p.Item)}
	it, err := d.item()
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return nil, format(err)
	}
	if wrong := checkItem(it); wrong != "" {
		return nil, fmt.Errorf("%w: %s", ErrFormat, wrong)
	}
	text := encoder(nil).item(it)
	if string(text) != p.Item {
		return nil, fmt.Errorf("%w: the item is not in canonical form: pass its bytes as they stand in the manifest", ErrFormat)
	}
	own := sha256.New()
	own.Write([]byte(itemPrefix))
	own.Write(p.Salt[:])
	own.Write(text)
	h := newSealHash(p.Header, len(p.Before)+1+len(p.After))
	for _, sum := range slices.Concat(p.Before, []digest.Digest{digest.Digest(own.Sum(nil))}, p.After) {
		h.Write(sum[:])
	}
	if got := digest.Digest(h.Sum(nil)); !got.Equal(seal) {
		return nil, fmt.Errorf("%w: the proof leads to %s, want %s", ErrSeal, got.Short(), seal.Short())
	}
	return it, nil
}
