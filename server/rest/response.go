package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
)

// The media types of responses.
const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
	typeBytes   = "application/octet-stream"
	typeLines   = "application/jsonl"
	typeText    = "text/plain; charset=utf-8"
	typeEvents  = "text/event-stream"
)

// rawTypes are the media types of a body that is the content of one field of its request.
var rawTypes = []string{typeJSON, typeLines, typeBytes}

// A response is a complete response to a request, ready to be sent.
type response struct {
	status  int
	kind    string // media type
	header  map[string]string
	body    []byte
	raw     bool         // the body is raw content, for which a request may ask for a range
	problem *api.Problem // if it is an error, or nil
}

// set sets a header.
func (res *response) set(name, value string) {
	if res.header == nil {
		res.header = make(map[string]string)
	}
	res.header[name] = value
}

// encode returns a result as JSON.
func encode(v any) (*response, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return &response{status: http.StatusOK, kind: typeJSON, body: b.Bytes()}, nil
}

// etag returns the strong ETag of a body: its digest in quotes.
func etag(body []byte) string { return strconv.Quote(digest.Of(body).String()) }

// patience is the longest time to send a response or one event.
const patience = 2 * time.Minute

// extend allows the response the time patience from now on, however long the job took.
func extend(w http.ResponseWriter) {
	deadline := time.Now().Add(patience) //nolint:forbidigo // sockets go by the clock of the machine
	// A writer without deadlines returns an error, which does not matter.
	_ = http.NewResponseController(w).SetWriteDeadline(deadline)
}

// send writes a response to a request.
func send(w http.ResponseWriter, r *http.Request, res *response) {
	extend(w)
	h := w.Header()
	for name, value := range res.header {
		h.Set(name, value)
	}
	h.Set("Content-Type", res.kind)
	reading := reads(r)
	h.Set("Cache-Control", "no-store")
	if res.status != http.StatusOK {
		sendBody(w, res)
		return
	}
	h.Set("ETag", etag(res.body))
	switch {
	case reading && res.raw:
		h.Set("Cache-Control", "private, no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(res.body)) // ranges and conditions
	case reading && matches(r.Header, h.Get("ETag")):
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
	case reading:
		h.Set("Cache-Control", "private, no-cache")
		sendBody(w, res)
	default:
		sendBody(w, res)
	}
}

// reads reports whether the method of a request is GET or HEAD.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func sendBody(w http.ResponseWriter, res *response) {
	w.Header().Set("Content-Length", strconv.Itoa(len(res.body)))
	w.WriteHeader(res.status)
	_, _ = w.Write(res.body) // an error means that the client is gone
}

// matches reports whether the header If-None-Match has the tag.
func matches(h http.Header, tag string) bool {
	for _, line := range h.Values("If-None-Match") {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// rawType returns the media type in which a request accepts raw content, or "" if it prefers
// JSON.
func rawType(h http.Header, data []byte) string {
	for _, kind := range accepted(h) {
		switch kind {
		case typeJSON, "application/*", "*/*":
			return ""
		case typeBytes, typeLines:
			return kind
		case "text/*", "text/plain":
			if utf8.Valid(data) {
				return typeText
			}
			return typeBytes
		}
	}
	return ""
}

// accepted returns the media types of the header Accept in their order, which is the preference.
// It ignores weights.
func accepted(h http.Header) []string {
	var kinds []string
	for _, line := range h.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			kind, _, _ := strings.Cut(one, ";")
			kinds = append(kinds, strings.ToLower(strings.TrimSpace(kind)))
		}
	}
	return kinds
}
