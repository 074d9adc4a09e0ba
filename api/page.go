package api

// A Tally is a number for each state of a block.
type Tally struct {
	Live int64 `json:"live"`
	Stub int64 `json:"stub"`
	Cold int64 `json:"cold"`
}

// Sum returns the sum over all states.
func (t Tally) Sum() int64 { return t.Live + t.Stub + t.Cold }
