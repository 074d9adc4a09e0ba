package probe

import "github.com/carrel-dev/carrel/ratio"

// A Round is the graded result of one compression.
type Round struct {
	Number int     `json:"number"`
	Report *Report `json:"report"`
}

// A RoundScore is the score of a round.
type RoundScore struct {
	Number int         `json:"number"`
	Score  ratio.Ratio `json:"score"`
	Types  []TypeTally `json:"types"`
}

// A TypeDrift is the change of a type's score from the first round with
// probes of the type to the last.
type TypeDrift struct {
	Type   Type        `json:"type"`
	First  ratio.Ratio `json:"first"`
	Last   ratio.Ratio `json:"last"`
	Change ratio.Ratio `json:"change"` // Last − First
}

// A Drift is the change of scores over rounds.
type Drift struct {
	Rounds    []RoundScore `json:"rounds"`
	First     ratio.Ratio  `json:"first"`
	Last      ratio.Ratio  `json:"last"`
	Change    ratio.Ratio  `json:"change"` // Last − First
	Types     []TypeDrift  `json:"types"`
	Regressed []string     `json:"regressed"` // ids that passed in some round and fail in the last
	Recovered []string     `json:"recovered"` // ids that failed in the last but one round and pass in the last
}

// DriftOf compares rounds, oldest first. Rounds without a report or without
// probes are ignored. Probes are matched by id.
func DriftOf(rounds []Round) *Drift {
	d := &Drift{Rounds: []RoundScore{}, Types: []TypeDrift{}, Regressed: []string{}, Recovered: []string{}}
	var reports []*Report
	for _, r := range rounds {
		if r.Report != nil && r.Report.Total > 0 {
			reports = append(reports, r.Report)
			d.Rounds = append(d.Rounds, RoundScore{r.Number, r.Report.Score, r.Report.Types})
		}
	}
	if len(reports) == 0 {
		return d
	}
	last := reports[len(reports)-1]
	d.First, d.Last = reports[0].Score, last.Score
	d.Change = d.Last - d.First
	for _, t := range Types() {
		if td, ok := typeDrift(d.Rounds, t); ok {
			d.Types = append(d.Types, td)
		}
	}
	passed, failed := make(map[string]bool), make(map[string]bool) // ever; in the round before the last
	for i, r := range reports[:len(reports)-1] {
		for _, res := range r.Results {
			passed[res.Probe.ID] = passed[res.Probe.ID] || res.Place == Window
			failed[res.Probe.ID] = i == len(reports)-2 && res.Place != Window
		}
	}
	for _, res := range last.Results {
		switch id := res.Probe.ID; {
		case res.Place != Window && passed[id]:
			d.Regressed = append(d.Regressed, id)
		case res.Place == Window && failed[id]:
			d.Recovered = append(d.Recovered, id)
		}
	}
	return d
}

func typeDrift(rounds []RoundScore, t Type) (TypeDrift, bool) {
	d, seen := TypeDrift{Type: t}, false
	for _, r := range rounds {
		for _, tt := range r.Types {
			if tt.Type != t {
				continue
			}
			d.Last = tt.score()
			if !seen {
				d.First, seen = d.Last, true
			}
		}
	}
	d.Change = d.Last - d.First
	return d, seen
}
