package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// imprintSize is the size of an imprint in bytes.
const imprintSize = 16

// An imprint is a checksum of a row, stored with the row and compared whenever the row is read.
// The XOR of the imprints of the rows of a list is the imprint of the list; it changes when a row
// is added, removed or changed, because each row contains its own key.
//
// An imprint has no secret. It detects damage, but not a deliberate change by a writer who also
// computes new imprints.
type imprint [imprintSize]byte

// join changes p, the imprint of a list, by a row: it adds the row, or removes it if the list has it.
func (p *imprint) join(row imprint) {
	for i, b := range row {
		p[i] ^= b
	}
}

// blob returns an imprint as a value to bind.
func (p *imprint) blob() []byte { return p[:] }

// Scan implements [sql.Scanner]. It reads an invalid value as the zero imprint, which no row has.
func (p *imprint) Scan(value any) error {
	*p = imprint{}
	if b, ok := value.([]byte); ok && len(b) == imprintSize {
		copy(p[:], b)
	}
	return nil
}

var _ sql.Scanner = (*imprint)(nil)

// A flag is a column that is 0 or 1. Scan reports any other value as damage, because queries
// would treat it otherwise than Go code does.
type flag bool

// Scan implements [sql.Scanner].
func (f *flag) Scan(value any) error {
	n, ok := value.(int64)
	if !ok || n != 0 && n != 1 {
		return fmt.Errorf("a flag is %v, want 0 or 1: %w", value, store.ErrCorrupt)
	}
	*f = n == 1
	return nil
}

var _ sql.Scanner = (*flag)(nil)

// A record is the encoding of a row from which its imprint is computed: its values in a fixed
// order, each with its type and length.
type record []byte

// recordOf begins the record of a row of a table.
func recordOf(table string) record { return make(record, 0, 256).text(table) }

func (r record) text(texts ...string) record {
	for _, s := range texts {
		r = append(r, 't')
		r = binary.BigEndian.AppendUint64(r, uint64(len(s)))
		r = append(r, s...)
	}
	return r
}

func (r record) number(numbers ...int64) record {
	for _, n := range numbers {
		r = append(r, 'n')
		r = binary.BigEndian.AppendUint64(r, uint64(n)) //nolint:gosec // only the bits matter
	}
	return r
}

func (r record) flag(flags ...bool) record {
	for _, yes := range flags {
		n := int64(0)
		if yes {
			n = 1
		}
		r = r.number(n)
	}
	return r
}

// blob adds bytes, or NULL if b is nil.
func (r record) blob(b []byte) record {
	if b == nil {
		return append(r, '0')
	}
	r = append(r, 'b')
	r = binary.BigEndian.AppendUint64(r, uint64(len(b)))
	return append(r, b...)
}

// value adds a value whose type is known only at run time, such as one for an optional column.
func (r record) value(v any) record {
	switch v := v.(type) {
	case nil:
		return r.blob(nil)
	case int64:
		return r.number(v)
	case string:
		return r.text(v)
	case []byte:
		return r.blob(blob(v))
	default:
		return r.text(fmt.Sprintf("%T %v", v, v))
	}
}

func (r record) imprint() imprint {
	sum := sha256.Sum256(r)
	return imprint(sum[:imprintSize])
}

// imprintWith returns the imprint of the record followed by the bytes b as one more value. It does
// not copy b.
func (r record) imprintWith(b []byte) imprint {
	r = append(r, 'b')
	r = binary.BigEndian.AppendUint64(r, uint64(len(b)))
	h := sha256.New()
	h.Write(r) // never fails, as below
	h.Write(b)
	return imprint(h.Sum(nil)[:imprintSize])
}

func cellImprint(scope governance.Scope, c *cellRow, id store.CellID) imprint {
	return recordOf("cell").text(string(scope), string(id), string(c.kind), c.state).blob(c.commitment).imprint()
}

func edgeImprint(scope governance.Scope, e *store.Edge) imprint {
	return recordOf("edge").text(string(scope), string(e.Derived), string(e.Source), e.Rel).imprint()
}

func headImprint(scope governance.Scope, h *store.Head) imprint {
	return recordOf("session").text(string(scope), string(h.ID)).number(int64(h.Revision)).
		text(h.Format, h.Model, h.Encoding, string(h.About)).
		number(int64(h.Messages), int64(h.Blocks), int64(h.Tokens), int64(h.Window), h.Bytes, h.Created.UnixMilli(), h.Updated.UnixMilli()).
		text(string(h.Summary), string(h.Status)).imprint()
}

func itemImprint(scope governance.Scope, session transcript.SessionID, at int64, cell store.CellID) imprint {
	return recordOf("item").text(string(scope), string(session)).number(at).text(string(cell)).imprint()
}

// blockImprint returns the imprint of a block with its cells. The text in tools is the stored JSON
// of the names of its tools.
func blockImprint(scope governance.Scope, session transcript.SessionID, b *store.Block, tools string) imprint {
	r := recordOf("block").text(string(scope), string(session), string(b.ID)).number(int64(b.Turn)).
		text(string(b.Kind), tools).number(int64(b.Tokens)).text(string(b.State), b.Form).
		number(int64(b.Window)).text(string(b.Stub)).flag(b.Pinned, b.Off).number(int64(len(b.Cells)))
	for _, id := range b.Cells {
		r = r.text(string(id))
	}
	if b.Earlier != 0 { // imprints of schema 6 and older do not have it
		r = r.number(int64(b.Earlier))
	}
	return r.imprint()
}

func entryImprint(scope governance.Scope, session transcript.SessionID, e *store.Entry) imprint {
	return recordOf("entry").text(string(scope), string(session)).number(int64(e.Revision)).
		text(e.ID, e.Op, string(e.Actor)).number(e.Time.UnixMilli()).blob(e.Data).imprint()
}

func logImprint(key int64, e *store.Entry) imprint {
	return recordOf("log").number(key).text(e.ID, e.Op, string(e.Actor)).number(e.Time.UnixMilli()).blob(e.Data).imprint()
}

func statementImprint(scope governance.Scope, session transcript.SessionID, at int64, text string) imprint {
	return recordOf("statement").text(string(scope), string(session)).number(at).text(text).imprint()
}

func rewriteImprint(scope governance.Scope, session transcript.SessionID, r *store.Rewrite) imprint {
	return recordOf("rewrite").text(string(scope), string(session), string(r.Kind)).blob(r.Chain[:]).
		number(int64(r.Epoch), int64(r.Messages)).text(string(r.Cell)).imprint()
}

func callImprint(scope governance.Scope, r *callRow) imprint {
	return recordOf("call").text(string(scope)).number(r.Seq).text(r.ID, string(r.Session)).number(r.place).text(string(r.State)).
		number(r.Begun.UnixMilli(), r.latest).value(millisOf(r.Ended)).blob(r.Intent).blob(r.Outcome).imprint()
}

func docImprint(doc int64, scope governance.Scope, ref store.BlockRef) imprint {
	return recordOf("doc").number(doc).text(string(scope), string(ref.Session), string(ref.Block)).imprint()
}

// artifactImprint returns the imprint of an artifact. The parameter doc is the key of the artifact,
// and key is that of the update that wrote it.
func artifactImprint(doc, key int64, a *store.Artifact) imprint {
	expires := record{}.blob(nil)
	if !a.Expires.IsZero() {
		expires = record{}.number(a.Expires.UnixMilli())
	}
	r := recordOf("artifact").number(doc).text(string(a.ID)).number(key).text(string(a.Class), string(a.Status)).flag(a.Pinned).
		text(string(a.Content), string(a.About)).number(a.Bytes, int64(a.Tokens)).text(a.Encoding, a.Source).
		number(a.Created.UnixMilli(), a.Updated.UnixMilli())
	return append(r, expires...).text(a.Address).blob(a.Gate).imprint()
}

// manifestImprint returns the imprint of the manifest with the given key, without its body and its
// uses.
func manifestImprint(key int64, m *store.Manifest) imprint {
	return recordOf("manifest").number(key).text(m.ID, string(m.Session)).number(m.Created.UnixMilli()).
		text(m.Format, string(m.Tier)).number(int64(m.Budget), int64(m.Total)).blob(m.Seal[:]).imprint()
}

func bodyImprint(key int64, body []byte) imprint {
	return recordOf("body").number(key).imprintWith(body)
}

// usesImprint returns the imprint of the list of artifacts that a manifest uses.
func usesImprint(key int64, docs []int64, ids []store.ArtifactID) imprint {
	r := recordOf("uses").number(key)
	for i, doc := range docs {
		r = r.number(doc).text(string(ids[i]))
	}
	return r.imprint()
}

func outcomeImprint(key, manifest int64, o *store.ContextOutcome) imprint {
	return recordOf("outcome").number(key, manifest).text(string(o.Actor)).number(o.Time.UnixMilli()).blob(o.Data).imprint()
}

// credentialImprint returns the imprint of a credential. The parameters scopes and permissions are
// the JSON that is stored of them.
func credentialImprint(t *store.Credential, scopes, permissions string) imprint {
	r := recordOf("token").text(t.ID).blob(t.Hash).text(string(t.Actor), scopes, permissions, t.Note).number(t.Created.UnixMilli())
	return r.value(millisOf(t.Expires)).value(millisOf(t.Revoked)).imprint()
}

// wordSum returns the checksum of the words of a block with their frequencies.
func wordSum(words map[string]uint32) (sum int64) {
	for word, n := range words {
		sum += wordValue([]byte(word)) * int64(n)
	}
	return sum
}

// fieldSum returns the checksum of words separated by spaces, which does not depend on their
// order.
func fieldSum(words string) (sum int64) {
	for word := range strings.FieldsSeq(words) {
		sum += wordValue([]byte(word))
	}
	return sum
}

// wordValue returns the summand of one word in a checksum of words.
func wordValue(word []byte) int64 {
	h := fnv.New64a()
	h.Write(word)           // never fails
	return int64(h.Sum64()) //nolint:gosec // only the bits matter
}

// damaged is the error for a row or a list that does not match its imprint.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s does not match its checksum: %w", fmt.Sprintf(format, args...), store.ErrCorrupt)
}

// same reports whether two imprints are equal and not zero.
func same(have, want imprint) bool {
	return have == want && !bytes.Equal(have[:], make([]byte, imprintSize))
}
