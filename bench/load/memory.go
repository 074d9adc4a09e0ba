package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A sample is the memory of the servers at a time, in bytes.
type sample struct {
	At   time.Duration `json:"at"`
	Heap int64         `json:"heap"`
	Live int64         `json:"live,omitempty"`
	Held int64         `json:"held,omitempty"`
}

// watch samples memory until the context is done.
func (o *options) watch(ctx context.Context, urls []string, begun time.Time) ([]sample, error) {
	var samples []sample
	tick := time.NewTicker(max(o.duration/60, 100*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return samples, nil
		case <-tick.C:
		}
		s := sample{At: time.Since(begun)}
		for _, url := range urls {
			if err := o.measure(ctx, url, &s); err != nil && ctx.Err() == nil {
				return samples, fmt.Errorf("metrics: %w", err)
			}
		}
		if ctx.Err() == nil {
			samples = append(samples, s)
		}
	}
}

// measure adds the figures of one server to a sample.
func (o *options) measure(ctx context.Context, url string, s *sample) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+o.credential)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	figures := map[string]*int64{heapGauge: &s.Heap, liveGauge: &s.Live, heldGauge: &s.Held}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if at := figures[name]; at != nil {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return err
			}
			*at += int64(n)
		}
	}
	return lines.Err()
}
