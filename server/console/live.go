package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/carrel-dev/carrel"
)

// The interval at which the revision of a session is read while a page is open, and the time
// after which the browser has to connect again, which is less than the server's write timeout.
const (
	liveEvery = time.Second
	liveLife  = 100 * time.Second
)

// live sends a page an event with the state of its session whenever the state changes: with its
// revision, and with its last call.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	v, err := c.enter(r)
	if err != nil {
		c.fail(w, r, nil, err)
		return
	}
	id, err := v.session()
	if err != nil {
		c.fail(w, r, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	ctx, cancel := context.WithTimeout(r.Context(), liveLife)
	defer cancel()
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for last := ""; ; {
		info, err := v.engine.Session(ctx, v.scope, &carrel.SessionRequest{Session: id})
		if err != nil {
			return // the browser connects again
		}
		calls, err := v.engine.Calls(ctx, v.scope, &carrel.CallsRequest{Session: id, Cursor: carrel.Cursor{Limit: 1}})
		if err != nil {
			return
		}
		if now := stateOf(info.Revision, calls.Items); now != last {
			last = now
			_, err = fmt.Fprintf(w, "data: %s\n\n", now)
			if errors.Join(err, http.NewResponseController(w).Flush()) != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.opts.Stopping:
			return
		case <-tick.C:
		}
	}
}
