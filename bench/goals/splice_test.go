package main

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// The body is what its goal says, and is edited.
func TestRequestBody(t *testing.T) {
	body, err := requestBody()
	if err != nil {
		t.Fatal(err)
	}
	var d rawjson.Document
	if err := spliced(&d, body); err != nil {
		t.Fatal(err)
	}
	n, left := 0, 0
	for range d.Children(d.Member(rawjson.Root, "messages")) {
		if !out(n) {
			left++
		}
		n++
	}
	if mb := float64(len(body)) / 1e6; mb < .9 || mb > 1.1 || n != 552 || n-left != 11 {
		t.Errorf("%.2f MB, %d messages, %d of them leave", mb, n, n-left)
	}
}
