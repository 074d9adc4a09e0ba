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

// The media types of results that are no problem.
const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
	typeBytes   = "application/octet-stream"
	typeLines   = "application/jsonl"
	typeText    = "text/plain; charset=utf-8"
	typeEvents  = "text/event-stream"
)

// rawTypes are the media types of a body that is one field of its request as it is.
var rawTypes = []string{typeJSON, typeLines, typeBytes}

// A response is what is sent back, before it is.
type response struct {
	status  int
	kind    string // media type
	header  map[string]string
	body    []byte
	raw     bool // the body is content itself, of which a range may be asked for
	problem *api.Problem
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

// etag returns the strong tag of bytes: their digest.
func etag(body []byte) string { return strconv.Quote(digest.Of(body).String()) }

// patience is how long it may take to send a response, or one event.
const patience = 2 * time.Minute

// extend gives whoever reads more time, however long the job took.
func extend(w http.ResponseWriter) {
	deadline := time.Now().Add(patience) //nolint:forbidigo // sockets go by the clock of the machine
	// A writer that has no deadlines needs none.
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
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
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

func sendBody(w http.ResponseWriter, res *response) {
	w.Header().Set("Content-Length", strconv.Itoa(len(res.body)))
	w.WriteHeader(res.status)
	_, _ = w.Write(res.body) // nobody is there to be told
}

// matches reports whether a request wants nothing that has a tag.
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

// rawType returns the media type in which a request wants content as it is, or
// nothing if it wants JSON.
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

// accepted returns the media types that a request takes, in its order. Weights are
// not looked at: what is named first is preferred.
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
