package claudecode

import (
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// sent returns how many tokens the newest request had that was answered, by the usage
// that the provider reports with a reply, or 0 if no row has any. Where the client
// cached a part of a request, that part is counted apart.
func (t *tree) sent(s *transcript.Session) int64 {
	for i := len(t.rows) - 1; i >= 0; i-- {
		r := &t.rows[i]
		if r.kind != "assistant" || r.hidden {
			continue
		}
		usage := gjson.Get(view(s.Items[r.item].Raw), "message.usage")
		var n int64
		for _, part := range [...]string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
			n += max(0, usage.Get(part).Int())
		}
		if n > 0 { // a row that the client or Carrel made has none
			return n
		}
	}
	return 0
}
