package seed_test

import (
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/pager/seed"
)

func ExampleRun() {
	history := []byte(`{"intent_ir": ["pager", "score"], "blocks": [
		{"id": "block-0x01", "turn": 1, "role": "user", "text": "Good morning!"},
		{"id": "block-0x02", "turn": 2, "role": "user", "text": "Print the score of the pager."}]}`)
	p, err := seed.Run("history.json", history, nil, time.Date(2026, 5, 17, 3, 0, 0, 0, time.UTC), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s%s", p.Records, p.Append)
	// Output:
	// {"block": "block-0x01", "kind": null, "similarity": 0.0, "delta_t": 1, "R": 0.1772, "action": "evict"}
	// {"block": "block-0x02", "kind": null, "similarity": 1.0, "delta_t": 0, "R": 1.0, "action": "retain"}
	// remember a list called retained-blocks
	// remember a list called paged-blocks
	// remember a list called evicted-blocks
	// add "block-0x01" to evicted-blocks
	// add "block-0x02" to retained-blocks
	// remember a string called last-pager-pass with "2026-05-17T03:00:00+00:00"
}
