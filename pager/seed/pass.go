package seed

import (
	"time"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// A Pass is the result of [Run].
type Pass struct {
	Result  *Result
	Records []byte // that of Result.AppendRecords, for standard error
	Append  []byte // to be appended to the contract, all or nothing
}

// Run decides on a history and continues a contract. The argument history is JSON as
// [pagerjson.Parse] reads it, and name, the name of its file, appears in errors. The
// argument existing is the text of the contract so far, which may be empty, and at is
// the time of the pass in the contract. A nil o is [Defaults]. On an error the caller
// must not write anything. The error is that of [pagerjson.Parse] or [Decide], or a
// [*contract.SyntaxError] about the existing text.
//
// With [Options.Legacy] Run does not parse the existing text, as the original does
// not. If the last line of the existing text has no line feed, Append begins with one.
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

// decisions returns the directives of the records as moves of a contract, in their order.
func (r *Result) decisions() []contract.Move {
	ds := make([]contract.Move, len(r.Records))
	for i := range r.Records {
		ds[i] = contract.Move{Block: r.Records[i].Block, Bucket: buckets[r.Records[i].Directive]}
	}
	return ds
}

// continued returns the text to append to a contract.
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
