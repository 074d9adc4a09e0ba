package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A growth is a command that is measured on inputs of three sizes, each ten times the previous
// one.
type growth struct {
	name string
	unit string // unit of sizes
	size int    // size of the smallest input
	// prepare makes an input of a size and returns the command for it. The function before, if it is
	// not nil, is called before each round.
	prepare func(ctx context.Context, program, dir string, size int) (args []string, before func() error, err error)
}

var growths = []growth{
	{"import", "bytes", 400 << 10, growImport},
	{"compress", "bytes", 400 << 10, growCompress},
	{"search", "bytes", 400 << 10, growSearch},
	{"assemble", "artifacts", 1_000, growAssemble},
	{"pager", "blocks", 1_000, growPager},
}

// growthSlack allows for noise: a time may grow by this factor faster than size·log size.
const growthSlack = 1.25

// grown has the durations of one command in seconds, by size.
type grown struct {
	growth

	sizes   []int
	seconds []float64
}

// factor returns the largest growth of the time from one size to the next, divided by that of
// size·log size. At a factor of 1 or less, the time does not grow faster than size·log size.
func (g *grown) factor() (worst float64) {
	for i := 1; i < len(g.sizes); i++ {
		was, is := float64(g.sizes[i-1]), float64(g.sizes[i])
		worst = max(worst, g.seconds[i]/g.seconds[i-1]/(is*math.Log(is)/(was*math.Log(was))))
	}
	return worst
}

// grow measures the commands at ×1, ×10 and ×100, prints the times, and draws them into a file,
// unless file is "". It reports whether none grows too fast.
func (b *bench) grow(ctx context.Context, file string) (ok bool, err error) {
	ours, err := b.program(ctx)
	if err != nil {
		return false, err
	}
	ok = true
	var all []grown
	for _, g := range growths {
		if b.only != nil && !b.only.MatchString(g.name) {
			continue
		}
		one := grown{growth: g}
		for size := g.size; size <= 100*g.size; size *= 10 {
			least, err := b.leastTime(ctx, &g, ours, size)
			if err != nil {
				return false, fmt.Errorf("%s of %d %s: %w", g.name, size, g.unit, err)
			}
			one.sizes, one.seconds = append(one.sizes, size), append(one.seconds, least)
		}
		verdict := "met"
		if one.factor() > growthSlack {
			verdict, ok = "MISSED", false
		}
		fmt.Fprintf(b.out, "%-6s %-10s", verdict, g.name)
		for i, s := range one.seconds {
			fmt.Fprintf(b.out, "  %9d %s %8.1f ms", one.sizes[i], g.unit, 1000*s)
		}
		fmt.Fprintf(b.out, "  %.2f of size·log size\n", one.factor())
		all = append(all, one)
	}
	if file == "" {
		return ok, nil
	}
	return ok, os.WriteFile(file, []byte(drawGrowth(all)), 0o644) //nolint:gosec // a drawing is for everybody
}

// leastTime returns the least time of several rounds of a command, because noise only adds to
// it.
func (b *bench) leastTime(ctx context.Context, g *growth, program string, size int) (least float64, err error) {
	dir, err := os.MkdirTemp(b.tmp, "growth-")
	if err != nil {
		return 0, err
	}
	args, before, err := g.prepare(ctx, program, dir, size)
	if err != nil {
		return 0, err
	}
	run := command(program, storeIn(dir), args...)
	least = math.Inf(1)
	for range b.rounds {
		if before != nil {
			if err := before(); err != nil {
				return 0, err
			}
		}
		cost, err := run(ctx)
		if err != nil {
			return 0, err
		}
		least = min(least, cost)
	}
	return least, os.RemoveAll(dir)
}

func storeIn(dir string) []string {
	return []string{"CARREL_STORE=" + filepath.Join(dir, "store", "carrel.db")}
}

func growImport(_ context.Context, _, dir string, size int) ([]string, func() error, error) {
	file, err := sessionFile(dir, size)
	return []string{"import", file}, func() error { return os.RemoveAll(filepath.Join(dir, "store")) }, err
}

// imported imports a session of a size into the store of a directory.
func imported(ctx context.Context, program, dir string, size int) error {
	file, err := sessionFile(dir, size)
	if err == nil {
		_, err = command(program, storeIn(dir), "import", file)(ctx)
	}
	return err
}

func growCompress(ctx context.Context, program, dir string, size int) ([]string, func() error, error) {
	return []string{"compress", "@last", "--target", "50%", "-n"}, nil, imported(ctx, program, dir, size)
}

func growSearch(ctx context.Context, program, dir string, size int) ([]string, func() error, error) {
	return []string{"search", "wheel handler"}, nil, imported(ctx, program, dir, size)
}

func growAssemble(ctx context.Context, program, dir string, size int) ([]string, func() error, error) {
	var b strings.Builder
	now := time.Now()
	for i := range size {
		line, err := json.Marshal(map[string]any{
			"text":    fmt.Sprintf("Part %d of the relay turns wheel %d, and order %d says why.", i, i%97, i*7919%size),
			"created": now.Add(-time.Duration(i) * time.Second).UTC().Format(time.RFC3339),
		})
		if err != nil {
			return nil, nil, err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	file := filepath.Join(dir, "artifacts.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return nil, nil, err
	}
	_, err := command(program, storeIn(dir), "put", "--lines", file, "--type", "doc")(ctx)
	return []string{"assemble", "--query", "why does wheel 42 turn", "--budget", "8000", "-n"}, nil, err
}

func growPager(_ context.Context, _, dir string, size int) ([]string, func() error, error) {
	type block struct {
		ID   string `json:"id"`
		Turn int    `json:"turn"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	history := struct {
		Intent []string `json:"intent_ir"`
		Blocks []block  `json:"blocks"`
	}{Intent: []string{"fix", "wheel", "relay"}}
	for i := range size {
		history.Blocks = append(history.Blocks, block{fmt.Sprintf("block-0x%02x", i), i, "tool", fmt.Sprintf("wheel %d of the relay stands still, order %d", i%97, i)})
	}
	data, err := json.Marshal(history)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "history.json")
	return []string{"pager", "--history", file, "--contract", filepath.Join(dir, "session.limn"), "-n"}, nil, os.WriteFile(file, data, 0o600)
}

// Sizes of the drawing, in pixels.
const (
	drawLeft, drawTop  = 60, 30
	drawWide, drawTall = 420, 320
	drawLegend         = drawLeft + drawWide + 20
)

// drawGrowth draws times against sizes, both as multiples of the smallest on logarithmic
// axes, with size·log size as a dashed line.
func drawGrowth(all []grown) string {
	const decades = 2.5 // powers of ten on the time axis
	x := func(times float64) float64 { return drawLeft + drawWide*math.Log10(times)/2 }
	y := func(times float64) float64 {
		return drawTop + drawTall*(1-min(max(math.Log10(times), 0), decades)/decades)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", drawLegend+170, drawTop+drawTall+50)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	for _, times := range []float64{1, 10, 100} {
		fmt.Fprintf(&b, `<path d="M%.0f %dv%d M%d %.0fh%d" stroke="#ddd" fill="none"/>`+"\n", x(times), drawTop, drawTall, drawLeft, y(times), drawWide)
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">×%.0f</text><text x="%d" y="%.0f" text-anchor="end">×%.0f</text>`+"\n",
			x(times), drawTop+drawTall+18, times, drawLeft-6, y(times)+4, times)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">size of the input</text><text x="%d" y="%d">time</text>`+"\n",
		drawLeft+drawWide/2, drawTop+drawTall+38, drawLeft, drawTop-10)
	colors := []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"}
	for i, g := range all {
		points := make([]string, 0, len(g.sizes))
		for k := range g.sizes {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(g.sizes[k])/float64(g.sizes[0])), y(g.seconds[k]/g.seconds[0])))
		}
		color := colors[i%len(colors)]
		fmt.Fprintf(&b, `<polyline points="%s" stroke="%s" stroke-width="2" fill="none"/>`+"\n", strings.Join(points, " "), color)
		at := drawTop + 18*i + 10
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>`+"\n", drawLegend, at, color, drawLegend+30, at+4, g.name)
	}
	if len(all) > 0 {
		size := float64(all[0].sizes[0])
		var points []string
		for _, times := range []float64{1, 10, 100} {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(times), y(times*math.Log(times*size)/math.Log(size))))
		}
		at := drawTop + 18*len(all) + 10
		fmt.Fprintf(&b, `<polyline points="%s" stroke="#888" stroke-dasharray="4 3" fill="none"/>`+"\n", strings.Join(points, " "))
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="#888" stroke-dasharray="4 3"/><text x="%d" y="%d">size · log size</text>`+"\n", drawLegend, at, drawLegend+30, at+4)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
