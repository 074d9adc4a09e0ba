package proxy

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// replyOf returns an answer with one text in the dialect of a request, whole or as a stream.
// Its usage is 0, its model is that of the request, and the header X-Carrel-Answer says that
// Carrel answered.
func replyOf(q *wire.Request, text string) *Reply {
	model, said := string(rawjson.AppendString(nil, q.Model)), string(rawjson.AppendString(nil, text))
	r := &Reply{Header: http.Header{"Content-Type": {"application/json"}, "X-Carrel-Answer": {"compaction"}}}
	if q.Stream {
		r.Header.Set("Content-Type", "text/event-stream")
	}
	switch q.Dialect {
	case wire.Anthropic:
		r.Body = messageReply(q.Stream, model, said)
	case wire.Chat:
		r.Body = chatReply(q.Stream, model, said)
	case wire.Responses:
		r.Body = responseReply(q.Stream, model, said)
	}
	return r
}

// replyID is the end of the ids in answers that Carrel makes.
const replyID = "carrel_compaction"

func messageReply(stream bool, model, text string) []byte {
	const usage = `{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}`
	message := func(content, stop string) string {
		return fmt.Sprintf(`{"id":"msg_%s","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":%s}`, replyID, model, content, stop, usage)
	}
	if !stream {
		return []byte(message(`{"type":"text","text":`+text+`}`, `"end_turn"`))
	}
	return events(
		"message_start", `{"type":"message_start","message":`+message("", "null")+`}`,
		"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+text+`}}`,
		"content_block_stop", `{"type":"content_block_stop","index":0}`,
		"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":0}}`,
		"message_stop", `{"type":"message_stop"}`,
	)
}

func chatReply(stream bool, model, text string) []byte {
	const usage = `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
	if !stream {
		return fmt.Appendf(nil, `{"id":"chatcmpl_%s","object":"chat.completion","created":0,"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":%s}`, replyID, model, text, usage)
	}
	chunk := func(choices, rest string) string {
		return fmt.Sprintf(`{"id":"chatcmpl_%s","object":"chat.completion.chunk","created":0,"model":%s,"choices":[%s]%s}`, replyID, model, choices, rest)
	}
	return events(
		"", chunk(`{"index":0,"delta":{"role":"assistant","content":`+text+`},"finish_reason":null}`, ""),
		"", chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`, ""),
		"", chunk("", `,"usage":`+usage),
		"", "[DONE]",
	)
}

func responseReply(stream bool, model, text string) []byte {
	const usage = `{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}`
	part := `{"type":"output_text","text":` + text + `,"annotations":[]}`
	item := func(status, content string) string {
		return fmt.Sprintf(`{"id":"msg_%s","type":"message","role":"assistant","status":%q,"content":[%s]}`, replyID, status, content)
	}
	response := func(status, output, usage string) string {
		return fmt.Sprintf(`{"id":"resp_%s","object":"response","created_at":0,"status":%q,"model":%s,"output":[%s],"usage":%s}`, replyID, status, model, output, usage)
	}
	done := response("completed", item("completed", part), usage)
	if !stream {
		return []byte(done)
	}
	const at = `"item_id":"msg_` + replyID + `","output_index":0,"content_index":0`
	return events(
		"response.created", `{"type":"response.created","sequence_number":0,"response":`+response("in_progress", "", "null")+`}`,
		"response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":`+item("in_progress", "")+`}`,
		"response.content_part.added", `{"type":"response.content_part.added","sequence_number":2,`+at+`,"part":{"type":"output_text","text":"","annotations":[]}}`,
		"response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":3,`+at+`,"delta":`+text+`}`,
		"response.output_text.done", `{"type":"response.output_text.done","sequence_number":4,`+at+`,"text":`+text+`}`,
		"response.content_part.done", `{"type":"response.content_part.done","sequence_number":5,`+at+`,"part":`+part+`}`,
		"response.output_item.done", `{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":`+item("completed", part)+`}`,
		"response.completed", `{"type":"response.completed","sequence_number":7,"response":`+done+`}`,
	)
}

// events returns a stream of server-sent events. The pairs are name and data; a name may be empty.
func events(pairs ...string) []byte {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != "" {
			b.WriteString("event: " + pairs[i] + "\n")
		}
		b.WriteString("data: " + pairs[i+1] + "\n\n")
	}
	return b.Bytes()
}
