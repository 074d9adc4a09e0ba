package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
)

const (
	// attempts is how often a request is sent to a server that is overloaded or cannot be reached.
	// The pause after the first attempt is firstPause, and each later pause is twice the one
	// before.
	attempts   = 3
	firstPause = 200 * time.Millisecond

	// patience is how long a server may take to begin its answer.
	patience = time.Minute

	// largestAnswer is the largest number of bytes that are read of an answer in XML.
	largestAnswer = 4 << 20
)

// An answerError is an answer of the server with the status of a failure.
type answerError struct {
	Status  int    `xml:"-"`
	Code    string `xml:"Code"` // empty in the answer to HEAD
	Message string `xml:"Message"`
}

func (e *answerError) Error() string {
	return fmt.Sprintf("the server answers %d %s %s", e.Status, e.Code, e.Message)
}

// isAnswer reports whether err is an answer of the server with one of the given statuses.
func isAnswer(err error, statuses ...int) bool {
	answer, is := errors.AsType[*answerError](err)
	for _, status := range statuses {
		if is && answer.Status == status {
			return true
		}
	}
	return false
}

// explain turns an error of the server or of the connection into one of package store. If ctx has
// ended, it returns the error as it is. The error itself does not tell that: a timeout of the
// network is a [context.DeadlineExceeded] too.
func (p *place) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	t := &blob.TroubleError{Place: p.address, Cause: err}
	answer, _ := errors.AsType[*answerError](err)
	switch {
	case answer == nil:
		t.Kind, t.Next = store.ErrUnreachable, "start the server, or correct the endpoint"
	case answer.Code == "NoSuchBucket":
		t.Kind, t.Next = store.ErrUnreachable, "create the bucket, or correct its name"
	case answer.Status == http.StatusNotFound:
		return fmt.Errorf("blobs in %s: %w", p, fs.ErrNotExist)
	case answer.Status == http.StatusForbidden || answer.Status == http.StatusUnauthorized:
		t.Kind, t.Next = store.ErrUnreadable, "check the keys and their permissions"
	case answer.Status == http.StatusInsufficientStorage:
		t.Kind, t.Next = store.ErrFull, "free some space on the server"
	case answer.Status/100 == 3:
		t.Kind, t.Next = store.ErrUnreachable, "correct the region or the endpoint: the bucket is elsewhere"
	default:
		t.Kind, t.Next = store.ErrUnreachable, "look into the log of the server"
	}
	return t
}

// send sends a request about the object with the given name, or about the bucket if the name is
// empty, and returns the body of the answer. It reads at most most+1 bytes of the body.
func (p *place) send(ctx context.Context, method, name string, query url.Values, body []byte, most int64) ([]byte, error) {
	to := *p.server
	to.Path, to.RawQuery = "/"+p.o.Bucket+"/"+name, query.Encode()
	sum := digestOf(body)
	for n, pause := 1, firstPause; ; n, pause = n+1, 2*pause {
		answer, err := p.sendOnce(ctx, method, &to, sum, body, most)
		if err == nil || !passes(err) || n == attempts || ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passes reports whether an error may be gone when the request is sent again.
func passes(err error) bool {
	_, answered := errors.AsType[*answerError](err)
	return !answered || isAnswer(err, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout)
}

func (p *place) sendOnce(ctx context.Context, method string, to *url.URL, sum string, body []byte, most int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	p.o.sign(r, sum, p.o.Now())
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		e := &answerError{Status: answer.StatusCode}
		// An answer that is no XML, as that of a proxy, leaves only the status.
		_ = xml.NewDecoder(io.LimitReader(answer.Body, largestAnswer)).Decode(e)
		return nil, e
	}
	return blob.ReadAtMost(answer.Body, most)
}
