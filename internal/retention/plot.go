package retention

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// Sizes in the plot, in pixels.
const (
	plotWidth  = 300 // width of a panel
	plotHeight = 280
	plotLeft   = 50
	plotTop    = 40
	plotGap    = 60
	legendAt   = plotLeft + 2*plotWidth + plotGap + 30
	legendLine = 18
	legendMark = 30 // space before a name
	legendByte = 8  // width for a byte of a name, more than most need
)

// SVG draws ground and line against the budget, as means of all families. Curves of oracles are
// dashed. A ring marks a point with windows over the budget, as in the table.
func (r *Report) SVG(w io.Writer) error {
	budgets := r.distinct(func(row *Row) string { return row.Budget })
	methods := r.distinct(func(row *Row) string { return row.Method })
	height := max(plotTop+plotHeight+50, plotTop+legendLine*(len(methods)+1))
	width := legendAt + legendMark + legendByte*len("windows over the budget")
	for _, m := range methods {
		width = max(width, legendAt+legendMark+legendByte*len(m))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for i, score := range []Score{ScoreGround, ScoreLine} {
		p := panel{Report: r, b: &b, score: score, left: plotLeft + i*(plotWidth+plotGap), budgets: budgets}
		p.frame()
		for k, m := range methods {
			p.curve(m, color(k, len(methods)))
		}
	}
	for k, m := range methods {
		y := plotTop + legendLine*k + 8
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2"%s/><text x="%d" y="%d">%s</text>`+"\n",
			legendAt, y, color(k, len(methods)), r.dash(m), legendAt+legendMark, y+4, html.EscapeString(m))
	}
	if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Family == "" && row.Scores[ScoreOver].Mean > 0 }) {
		y := plotTop + legendLine*len(methods) + 8
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="5" fill="none" stroke="#c00" stroke-width="2"/><text x="%d" y="%d">windows over the budget</text>`+"\n",
			legendAt+12, y, legendAt+legendMark, y+4)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// distinct returns the different values of a field of rows, in order.
func (r *Report) distinct(of func(row *Row) string) []string {
	var list []string
	for i := range r.Rows {
		if s := of(&r.Rows[i]); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func (r *Report) dash(method string) string {
	if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Method == method && row.Oracle }) {
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// color returns the k-th of n colors around the circle.
func color(k, n int) string {
	return fmt.Sprintf("hsl(%d,65%%,%d%%)", 360*k/n, 35+15*(k%2))
}

// titles are the titles of the panels.
var titles = map[Score]string{ScoreGround: "ground: identifiers that are there", ScoreLine: "line: lines that are there"}

// A panel is the drawing of one score.
type panel struct {
	*Report
	b       *strings.Builder
	score   Score
	left    int
	budgets []string
}

// x returns the position of a budget. Budgets have equal distances.
func (p *panel) x(i int) int { return p.left + plotWidth*(2*i+1)/(2*len(p.budgets)) }

func (p *panel) frame() {
	fmt.Fprintf(p.b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", p.left, plotTop-14, titles[p.score])
	for tenths := 0; tenths <= 10; tenths += 2 {
		y := plotTop + plotHeight*(10-tenths)/10
		fmt.Fprintf(p.b, `<path d="M%d %dh%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%d%%</text>`+"\n",
			p.left, y, plotWidth, p.left-6, y+4, tenths*10)
	}
	for i, name := range p.budgets {
		fmt.Fprintf(p.b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", p.x(i), plotTop+plotHeight+18, html.EscapeString(name))
	}
	fmt.Fprintf(p.b, `<text x="%d" y="%d" text-anchor="middle">budget</text>`+"\n", p.left+plotWidth/2, plotTop+plotHeight+38)
}

func (p *panel) curve(method, color string) {
	var points []string
	for i, budget := range p.budgets {
		for k := range p.Rows {
			row := &p.Rows[k]
			if e, ok := row.Scores[p.score]; ok && row.Family == "" && row.Method == method && row.Budget == budget {
				y := plotTop + plotHeight*(1-e.Mean)
				points = append(points, fmt.Sprintf("%d,%.1f", p.x(i), y))
				if row.Scores[ScoreOver].Mean > 0 {
					fmt.Fprintf(p.b, `<circle cx="%d" cy="%.1f" r="5" fill="none" stroke="#c00" stroke-width="2"/>`+"\n", p.x(i), y)
				}
			}
		}
	}
	if len(points) > 0 {
		fmt.Fprintf(p.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), color, p.dash(method))
	}
}
