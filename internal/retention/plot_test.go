package retention

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

// A drawing is well-formed, has a curve of each method in each panel that it has scores
// for, dashes what knows the future, and is wide enough for the longest name.
func TestSVG(t *testing.T) {
	row := func(budget, method string, oracle bool, scores map[Score]Estimate) Row {
		return Row{Budget: budget, Method: method, Oracle: oracle, Scores: scores}
	}
	both := map[Score]Estimate{ScoreGround: {Mean: .5}, ScoreLine: {Mean: .25}}
	r := &Report{Rows: []Row{
		row("5%", "a <simple> way", false, both), row("5%", "oracle-of-all", true, map[Score]Estimate{ScoreGround: {Mean: 1}}),
		row("10%", "a <simple> way", false, both), row("10%", "oracle-of-all", true, map[Score]Estimate{ScoreGround: {Mean: 1}}),
		{Family: "red", Budget: "5%", Method: "a <simple> way", Scores: both},
	}}
	var b strings.Builder
	if err := r.SVG(&b); err != nil {
		t.Fatal(err)
	}
	curves, dashed, width := 0, 0, 0
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, &b)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case e.Name.Local == "svg" && a.Name.Local == "width":
				width, _ = strconv.Atoi(a.Value)
			case e.Name.Local == "polyline" && a.Name.Local == "stroke-dasharray":
				dashed++
			}
		}
		if e.Name.Local == "polyline" {
			curves++
		}
	}
	if curves != 3 || dashed != 1 {
		t.Errorf("%d curves, %d dashed: want 3 and 1 in\n%s", curves, dashed, &b)
	}
	if least := legendAt + legendMark + legendByte*len("a <simple> way"); width < least {
		t.Errorf("it is %d wide, want %d", width, least)
	}
	if want := `points="125,180.0 275,180.0"`; !strings.Contains(b.String(), want) {
		t.Errorf("no %s in\n%s", want, &b)
	}
}

// A ring marks what was over its budget, in each panel and in the legend, and nothing else.
func TestSVGMarksWhatWasOver(t *testing.T) {
	scores := func(over float64) map[Score]Estimate {
		return map[Score]Estimate{ScoreGround: {Mean: .5}, ScoreLine: {Mean: .25}, ScoreOver: {Mean: over}}
	}
	for over, rings := range map[float64]int{0: 0, .5: 3} {
		r := &Report{Rows: []Row{{Budget: "5%", Method: "a", Scores: scores(over)}, {Budget: "10%", Method: "a", Scores: scores(0)}}}
		var b strings.Builder
		if err := r.SVG(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "<circle "); got != rings {
			t.Errorf("%g over: %d rings, want %d in\n%s", over, got, rings, &b)
		}
	}
}
