package seed

import (
	"time"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// A Pass is what one run over a history gives.
type Pass struct {
	Result  *Result
	Records []byte // a line for each block, for standard error
	Append  []byte // to be appended to the contract, all or nothing
}

// Run decides on a history and continues a contract, whose present text may be
// empty. The name of the history's file goes into errors. Nothing is to be
// written if there is an error, which is that of [pagerjson.Parse], of [Decide]
// or a [*contract.SyntaxError] about the present text.
//
// With [Options.Legacy] a contract is not looked at, as the original does not.
// In either case a last line without an end gets one first.
func Run(name string, history, existing []byte, at time.Time, o *Options) (*Pass, error) {
	h, err := pagerjson.Parse(name, history)
	if err != nil {
		return nil, err
	}
	res, err := Decide(h, o)
	if err != nil {
		return nil, err
	}
	p := &Pass{Result: res}
	if p.Append, err = res.continued(existing, at); err != nil {
		return nil, err
	}
	p.Records = res.AppendRecords(make([]byte, 0, 128*len(res.Records)))
	return p, nil
}

// decisions returns what the records decide, in their order.
func (r *Result) decisions() []contract.Move {
	ds := make([]contract.Move, len(r.Records))
	for i := range r.Records {
		ds[i] = contract.Move{Block: r.Records[i].Block, Bucket: buckets[r.Records[i].Directive]}
	}
	return ds
}

// continued returns what is to be appended to the text of a contract.
func (r *Result) continued(existing []byte, at time.Time) ([]byte, error) {
	var out []byte
	if n := len(existing); n > 0 && existing[n-1] != '\n' {
		out = append(out, '\n')
	}
	if r.Options.Legacy {
		text, err := contract.Legacy(r.decisions(), at)
		return append(out, text...), err
	}
	state, err := contract.Replay(contract.Lines(string(existing)))
	if err != nil {
		return nil, err
	}
	lines, err := state.Pass(r.decisions(), at)
	if err != nil {
		return nil, err
	}
	size := len(out)
	for _, line := range lines {
		size += len(line) + 1
	}
	out = append(make([]byte, 0, size), out...)
	for _, line := range lines {
		out = append(append(out, line...), '\n')
	}
	return out, nil
}
