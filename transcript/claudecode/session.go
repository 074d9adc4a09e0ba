package claudecode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// IsSessionID implements [transcript.Resumed]: ids are UUIDs in lower case, which the agent
// uses as file names.
func (format) IsSessionID(id transcript.SessionID) bool {
	return text.IsUUID(string(id))
}

// SessionOf returns the id of the session in a file with this name.
func (format) SessionOf(name string) transcript.SessionID {
	return transcript.SessionID(strings.TrimSuffix(name, filepath.Ext(name)))
}

// renew returns all rows of a session, also those between its messages, as rows of a new session
// whose id is in as. Each row gets a new id that depends on the new session's id, and references to
// rows use the new ids. Messages keep their bytes.
func renew(s *transcript.Session, as string) []byte {
	renamed := make(map[string]string)
	for i := range s.Items {
		old := gjson.GetBytes(s.Items[i].Raw, "uuid").String()
		if _, ok := renamed[old]; old == "" || ok {
			continue
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "renewed/v1\x00%s\x00%d", as, len(renamed)))
		renamed[old] = uuid(sum[:])
	}
	var out bytes.Buffer
	for i := range s.Items {
		out.Write(renewRow(s.Items[i].Raw, as, renamed))
	}
	return out.Bytes()
}

// quoted matches strings that may be ids.
var quoted = lazy.Regexp(`"[^"\\]+"`)

// renewRow returns a row with the new ids. It does not change the message and the tool
// result, where a text can equal an id.
func renewRow(raw []byte, as string, renamed map[string]string) []byte {
	if !gjson.ValidBytes(raw) {
		return raw // the agent cannot read this row either
	}
	var cuts []transcript.Cut
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		switch key.String() {
		case "message", "toolUseResult":
		case "sessionId":
			cuts = append(cuts, transcript.Cut{From: value.Index, To: value.Index + len(value.Raw), With: quote(as)})
		default:
			for _, at := range quoted.Get().FindAllStringIndex(value.Raw, -1) {
				if to, ok := renamed[value.Raw[at[0]+1:at[1]-1]]; ok {
					cuts = append(cuts, transcript.Cut{From: value.Index + at[0], To: value.Index + at[1], With: quote(to)})
				}
			}
		}
		return true
	})
	return transcript.Splice(raw, cuts...)
}
