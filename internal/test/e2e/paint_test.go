package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/carrel-dev/carrel/governance"
)

// With CARREL_BENCH_DIR, where the benchmark of the console keeps its stores of 10,000 calls and
// 100,000 blocks, the test says after how many milliseconds the browser paints each page.
func TestFirstPaintInABrowser(t *testing.T) {
	kept := program(t, "CARREL_BENCH_DIR")
	for _, name := range []string{"many", "one"} {
		data, err := os.ReadFile(filepath.Join(kept, "console-"+name+".db"))
		if err != nil {
			t.Skipf("the benchmark has not run yet: %v", err)
		}
		b := newBrowser(t, func(t *testing.T) *server {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "carrel.db"), data)
			return newServerOver(t, dir, []string{string(governance.DefaultScope)}, "--console")
		})
		id := strings.Trim(strings.TrimSpace(string(b.run("", carrelProgram, "sessions", "--jq", ".items[0].session"))), `"`)
		root := b.url + "/console/"
		b.do("sign in", chromedp.Navigate(root), types("#credential", b.credential), waits("nav"))
		pages := []string{"", "calls", "call/4242", "cost", "search?q=pool", "health", "session/" + id, "session/" + id + "/window"}
		for _, p := range pages {
			var paints []float64
			for range 3 {
				b.do(p, chromedp.Navigate(root+p), waits("footer"))
				paints = append(paints, value[float64](b, `new Promise((done) => new PerformanceObserver((l) => done(l.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))`))
			}
			t.Logf("%s %q: first paint after %.0f ms", name, strings.ReplaceAll(p, id, "S"), paints)
		}
	}
}
