package rest_test

import (
	"testing"

	"github.com/carrel-dev/carrel/server/rest"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		rest.New(nil)
	}
}

func BenchmarkSessions(b *testing.B) {
	w := newWorld(b, nil)
	w.ask("POST", "/v1/sessions/s/messages", appended("hi"))
	for b.Loop() {
		w.logs.Reset()
		if rec := w.ask("GET", "/v1/sessions", nil); rec.Code != 200 {
			b.Fatal(rec.Code)
		}
	}
}
