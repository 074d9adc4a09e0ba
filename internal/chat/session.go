package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Describe gives s an id and a title. Bodies have no id of their own: it is made of the name of the
// file, without its folder and extension, the first system message and the first other message, so
// that a conversation that grows keeps it. If the name was made by [transcript.ThreadName], the id
// is made of the name alone, because a client may write its system text and its first message anew.
func Describe(s *transcript.Session, prefix, name string) {
	s.Title = transcript.Title(s.Messages)
	if thread, found := strings.CutPrefix(name, transcript.ThreadName("")); found {
		s.ID = transcript.SessionID(prefix + thread)
		return
	}
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	h := sha256.New()
	fmt.Fprintf(h, "body/v1\x00%s", strings.TrimSuffix(name, path.Ext(name)))
	for _, system := range []bool{true, false} {
		h.Write([]byte{0})
		for i := range s.Messages {
			if m := &s.Messages[i]; (m.Role == transcript.RoleSystem) == system {
				h.Write(s.Raw(m))
				break
			}
		}
	}
	s.ID = transcript.SessionID(prefix + hex.EncodeToString(h.Sum(nil)[:8]))
}

// Indexes returns the index of each message in s, by the message's address.
func Indexes(s *transcript.Session) map[*transcript.Message]int {
	at := make(map[*transcript.Message]int, len(s.Messages))
	for i := range s.Messages {
		at[&s.Messages[i]] = i
	}
	return at
}

// Losses counts the parts of a window that a format cannot carry: one loss for each kind
// of part in each message.
type Losses struct{ List []transcript.Loss }

// Add records the loss of one part of size bytes.
func (l *Losses) Add(message int, what string, size int) {
	for i := len(l.List) - 1; i >= 0 && l.List[i].Message == message; i-- {
		if l.List[i].What == what {
			l.List[i].Count++
			l.List[i].Bytes += size
			return
		}
	}
	l.List = append(l.List, transcript.Loss{Message: message, What: what, Count: 1, Bytes: size})
}
