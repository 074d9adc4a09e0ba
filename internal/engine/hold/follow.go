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

// ErrReadWhole means that the new part of a file cannot be found from its end, so the caller must
// read the whole file.
var ErrReadWhole = errors.New("the whole file has to be read")

// A FileProgress records how far a file was read. It is stored in the about cell of the session,
// which each import writes anew, and is erased with it. The end of the file is the part that
// begins with the last block of the conversation.
type FileProgress struct {
	Rules    int                `json:"rules"` // version of the code that read the file
	Size     int64              `json:"size"`  // number of bytes read so far
	From     int64              `json:"from"`  // offset at which the end begins
	HeadSize int                `json:"head_size"`
	Head     digest.Digest      `json:"head"`   // digest of the first HeadSize bytes
	End      digest.Digest      `json:"end"`    // digest of the bytes between From and Size
	Pieces   int                `json:"pieces"` // number of the store's items before the end
	Cells    []store.CellID     `json:"cells"`  // cells of the items of the end
	Block    transcript.BlockID `json:"block"`  // the last block, with which the end begins
	Earlier  int                `json:"earlier,omitempty"`
	Warnings int                `json:"warnings,omitempty"`
	Names    []store.CellID     `json:"names"` // cells with the ids of all rows as sets of hashes, the largest first
}

// A FilePrefix describes the part of a file that an import does not read. That part is everything
// before the end, and Trail records where the end begins. The zero value stands for a file that is
// read whole.
type FilePrefix struct {
	Trail    FileProgress
	Names    []NameSet       // the sets that Trail.Names refers to
	End      map[string]bool // ids of rows in the end when it was last read
	Messages int
	Blocks   int
}

// Known reports whether a row before the end of the file has the given id. It may wrongly return
// true, because it compares hashes.
func (b *FilePrefix) Known(id string) bool {
	return !b.End[id] && slices.ContainsFunc(b.Names, func(s NameSet) bool { return s.Has(id) })
}

// A NameSet is a sorted list of hashes of ids.
type NameSet []uint32

// NameHash returns the hash of a name in a NameSet.
func NameHash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id)) // Write of a hash never fails
	return h.Sum32()
}

// Has reports whether the hash of a name is in the set.
func (s NameSet) Has(id string) bool {
	_, ok := slices.BinarySearch(s, NameHash(id))
	return ok
}

// Body returns the set in its stored form.
func (s NameSet) Body() []byte {
	b := make([]byte, 0, 4*len(s))
	for _, n := range s {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

// Read returns the end of a file and everything behind it, given the size of the file. It fails
// with [ErrReadWhole] if the file became shorter, or if its first bytes or its end are not as they
// were. It does not notice a change between them.
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
