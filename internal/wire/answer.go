package wire

import (
	"bytes"
	"strconv"

	"github.com/carrel-dev/carrel/token"
)

// A Usage has the token counts that a provider reported for a call. The first four do not
// overlap: in every dialect, their sum is the whole prompt.
type Usage struct {
	Input        token.Count // of the prompt, neither read from the cache nor written to it
	CacheRead    token.Count
	CacheWrite5m token.Count // for five minutes, or for the provider's only lifetime
	CacheWrite1h token.Count // for an hour
	Output       token.Count // includes Reasoning
	Reasoning    token.Count
}

// Prompt returns the tokens of the whole prompt.
func (u *Usage) Prompt() token.Count {
	return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
}

// An Answer describes an answer to a call, without its text.
type Answer struct {
	Status int    // HTTP status; the caller of [Tap.End] sets it
	ID     string // the provider's id of the answer, or empty
	Model  string // the model that answered
	Stop   string // the provider's stop reason, or empty
	Error  string // the provider's type or code of the error, or empty
	Whole  bool   // the terminal event came, or the last byte of the JSON
	Used   bool   // the provider reported Usage
	Usage  Usage
}

// A field is a value of an answer that the scanner looks for.
type field int

const (
	noField field = iota
	fieldType
	fieldModel
	fieldID
	fieldStop
	fieldError
	fieldCode // the code of an error, unless it is in an event of another type
	fieldInput
	fieldRead
	fieldWrite
	fieldWrite5m
	fieldWrite1h
	fieldOutput
	fieldReasoning
)

// fieldAt returns the field at a path, or noField if the scanner does not look for the value
// there. The path is that of a value in a JSON answer or in the data of an event; it means the
// same in both. In a path, "*" stands for an element of a list.
func fieldAt(d Dialect, path []byte) field {
	switch d {
	case Anthropic:
		return messageField(bytes.TrimPrefix(path, []byte("message.")))
	case Chat:
		return chatField(path)
	case Responses:
		return responseField(bytes.TrimPrefix(path, []byte("response.")))
	}
	return noField
}

func messageField(path []byte) field {
	switch string(path) {
	case "type":
		return fieldType
	case "model":
		return fieldModel
	case "id":
		return fieldID
	case "stop_reason", "delta.stop_reason":
		return fieldStop
	case "error.type":
		return fieldError
	case "usage.input_tokens":
		return fieldInput
	case "usage.cache_read_input_tokens":
		return fieldRead
	case "usage.cache_creation_input_tokens":
		return fieldWrite
	case "usage.cache_creation.ephemeral_5m_input_tokens":
		return fieldWrite5m
	case "usage.cache_creation.ephemeral_1h_input_tokens":
		return fieldWrite1h
	case "usage.output_tokens":
		return fieldOutput
	case "usage.output_tokens_details.thinking_tokens":
		return fieldReasoning
	}
	return noField
}

func chatField(path []byte) field {
	switch string(path) {
	case "model":
		return fieldModel
	case "id":
		return fieldID
	case "choices.*.finish_reason":
		return fieldStop
	case "error.type", "error.code":
		return fieldError
	case "usage.prompt_tokens":
		return fieldInput
	case "usage.prompt_tokens_details.cached_tokens":
		return fieldRead
	case "usage.prompt_tokens_details.cache_write_tokens":
		return fieldWrite
	case "usage.completion_tokens":
		return fieldOutput
	case "usage.completion_tokens_details.reasoning_tokens":
		return fieldReasoning
	}
	return noField
}

func responseField(path []byte) field {
	switch string(path) {
	case "model":
		return fieldModel
	case "type":
		return fieldType
	case "id":
		return fieldID
	case "status", "incomplete_details.reason":
		return fieldStop
	case "code":
		return fieldCode
	case "error.code", "error.type":
		return fieldError
	case "usage.input_tokens":
		return fieldInput
	case "usage.input_tokens_details.cached_tokens":
		return fieldRead
	case "usage.input_tokens_details.cache_write_tokens":
		return fieldWrite
	case "usage.output_tokens":
		return fieldOutput
	case "usage.output_tokens_details.reasoning_tokens":
		return fieldReasoning
	}
	return noField
}

// figures has the counts of an answer so far. A later value of a field replaces an earlier
// one, because providers report growing counts while they stream.
type figures struct {
	count [fieldReasoning + 1]token.Count
}

// note stores the value of a field; raw is its JSON.
func (a *Answer) note(l *figures, f field, raw []byte) {
	if raw[0] == 'n' { // null
		return
	}
	if f == fieldModel {
		a.Model = unquote(raw)
		return
	}
	if f == fieldID {
		a.ID = unquote(raw)
		return
	}
	if f == fieldStop {
		if s := unquote(raw); s != "" && s != "in_progress" && s != "queued" && (s != "incomplete" || a.Stop == "") {
			a.Stop = s
		}
		return
	}
	if f == fieldError {
		if s := unquote(raw); s != "" && a.Error == "" {
			a.Error = s
		}
		return
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err == nil && n >= 0 && n <= maxTokens {
		l.count[f], a.Used = token.Count(n), true
	}
}

// maxTokens is a number of tokens that no call can reach. Larger numbers are
// ignored.
const maxTokens = 1 << 40

// settle sets a.Usage from the figures. It subtracts the tokens of the cache from OpenAI's
// input count, which includes them; Anthropic's does not. Writes to the cache beyond those that
// the provider counted by lifetime have the lifetime of the others, or five minutes if those have
// none or both.
func (a *Answer) settle(d Dialect, l *figures) {
	u := &a.Usage
	u.Input, u.CacheRead = l.count[fieldInput], l.count[fieldRead]
	u.CacheWrite5m, u.CacheWrite1h = l.count[fieldWrite5m], l.count[fieldWrite1h]
	if rest := l.count[fieldWrite] - u.CacheWrite5m - u.CacheWrite1h; rest > 0 { // an event had the sum alone
		if u.CacheWrite5m == 0 && u.CacheWrite1h > 0 {
			u.CacheWrite1h += rest
		} else {
			u.CacheWrite5m += rest
		}
	}
	if d != Anthropic {
		u.Input = max(0, u.Input-u.CacheRead-u.CacheWrite5m)
	}
	u.Output, u.Reasoning = l.count[fieldOutput], l.count[fieldReasoning]
	if d == Responses && a.Stop == "failed" && a.Error == "" {
		a.Error = a.Stop
	}
}
