package hold

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// ErrReadWhole means that what is new in a file cannot be known from its end.
var ErrReadWhole = errors.New("the whole file has to be read")

// A FileProgress is how far a file was read. It is in the about cell of the session, which each
// import writes anew, and is erased with that. The end of the file begins with the last
// block of the conversation.
type FileProgress struct {
	Rules    int                `json:"rules"`
	Size     int64              `json:"size"` // bytes that were read
	From     int64              `json:"from"` // where the end begins
	HeadSize int                `json:"head_size"`
	Head     digest.Digest      `json:"head"`   // of the first HeadSize bytes
	End      digest.Digest      `json:"end"`    // of the bytes between From and Size
	Pieces   int                `json:"pieces"` // items of the store that are before the end
	Cells    []store.CellID     `json:"cells"`  // the items of the end
	Block    transcript.BlockID `json:"block"`  // the block of the end
	Earlier  int                `json:"earlier,omitempty"`
	Warnings int                `json:"warnings,omitempty"`
	Names    []store.CellID     `json:"names"` // what has the ids of all rows, the largest first
}

// A FilePrefix is what is known of a file before its end. The zero value is that of a file
// that is read as a whole.
type FilePrefix struct {
	Trail    FileProgress
	Names    []NameSet       // of trail.Names
	End      map[string]bool // ids that the end brought when it was read
	Messages int
	Blocks   int
}

// Known reports whether a row of the beginning has an id. It may be wrong with a yes.
func (b *FilePrefix) Known(id string) bool {
	return !b.End[id] && slices.ContainsFunc(b.Names, func(s NameSet) bool { return s.Has(id) })
}

// A NameSet is the hashes of ids, in order.
type NameSet []uint32

// NameHash returns what a set keeps of a name.
func NameHash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id)) // a hash takes everything
	return h.Sum32()
}

// Has reports whether a name is in the set.
func (s NameSet) Has(id string) bool {
	_, ok := slices.BinarySearch(s, NameHash(id))
	return ok
}

// Body returns the set as it is stored.
func (s NameSet) Body() []byte {
	b := make([]byte, 0, 4*len(s))
	for _, n := range s {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

// Read returns the end of a file of a size, and what is behind it, if the file is the one
// that was read and has not become shorter.
func (t *FileProgress) Read(file io.ReaderAt, size int64) ([]byte, error) {
	if t.From > t.Size || t.Size > size {
		return nil, ErrReadWhole
	}
	head, err := io.ReadAll(io.NewSectionReader(file, 0, int64(t.HeadSize)))
	if err != nil {
		return nil, err
	}
	if digest.Of(head) != t.Head {
		return nil, ErrReadWhole
	}
	end, err := io.ReadAll(io.NewSectionReader(file, t.From, size-t.From))
	if err != nil {
		return nil, err
	}
	if int64(len(end)) != size-t.From || digest.Of(end[:t.Size-t.From]) != t.End {
		return nil, ErrReadWhole
	}
	return end, nil
}
