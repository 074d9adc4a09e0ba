package limn

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync" //nolint:depguard // for a pattern that is compiled once
)

// The parameters that several types of execution have.
const (
	paramCheck   = "check_slot"
	paramAgainst = "against_slot"
	paramStatus  = "status_target"

	paramTolerance = "tolerance_slot"
)

// The statuses of verifications, besides those of differences.
const (
	statusNoNumbers  = "no_numbers_found"
	statusParseError = "parse_error"
)

// A finding is the result of a verification.
type finding struct {
	values  map[string]Value // values to bind; the key is the parameter with the name to bind
	failure string           // type of the failure, or empty on success
	message string
	figures map[string]any // metadata of the failure
}

// conclude binds the names of a finding to its values. Then it returns the failure of
// the finding, if there is one.
func (x packRun) conclude(f finding, err error) error {
	if err != nil {
		return err
	}
	for _, param := range slices.Sorted(maps.Keys(f.values)) {
		name := Name{Pos: x.c.Pos, Text: x.param(param)}
		if err := x.m.bindable(name); err != nil {
			return err
		}
		if err := x.m.bind(name.Text, packed, f.values[param]); err != nil {
			return err
		}
	}
	if f.failure == "" {
		return nil
	}
	metadata := map[string]any{"verb": x.c.Verb.Word, "pack": x.c.Verb.Pack, "failure_type": f.failure}
	for i, s := range x.c.Verb.Slots {
		metadata[s.Name] = x.filling(s, x.c.Slots[i])
	}
	maps.Copy(metadata, f.figures)
	return &failure{status: StatusPackFailure, message: f.message, metadata: metadata}
}

// filling returns the argument of a slot as it stands in the metadata: the name if
// the slot takes names, otherwise the value.
func (x packRun) filling(s packSlot, e expr) any {
	if w, ok := e.(*word); ok && s.IsName {
		return w.Text
	}
	v, err := x.m.eval(e, x.f)
	if err != nil { // or the argument is left out
		return nil
	}
	return toJSON(v)
}

// substring checks that a text occurs in another text, byte for byte.
func (x packRun) substring() (finding, error) {
	v, err := x.values(paramCheck, paramAgainst)
	if err != nil {
		return finding{}, err
	}
	text, source := v[0].String(), v[1].String()
	if strings.Contains(source, text) {
		return finding{}, nil
	}
	return finding{
		failure: "substring_not_found",
		message: "'" + x.said(paramAgainst) + "' does not contain: " + text,
		figures: map[string]any{"actual": source},
	}, nil
}

// compare compares two values.
func (x packRun) compare() (finding, error) {
	v, err := x.values("left_slot", "right_slot")
	if err != nil {
		return finding{}, err
	}
	d := difference{status: differNot}
	if x.param("comparison") == "structural" {
		d = differ(v[0], v[1])
	} else if !v[0].Equal(v[1]) {
		d.status = differItem
	}
	f := finding{values: map[string]Value{paramStatus: String(d.status)}}
	if x.param("details_target") != "" {
		f.values["details_target"] = d.divergences()
	}
	if d.status != differNot {
		f.failure = "comparison_" + d.status
		f.message = "'" + x.said("left_slot") + "' is not as '" + x.said("right_slot") + "': " + d.status
		f.figures = map[string]any{"divergences": toJSON(d.divergences())}
	}
	return f, nil
}

// numberPattern matches a number in a text.
var numberPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`) })

// numbers returns the numbers in a value that is displayed. A pattern takes more time for each
// byte than other ways to read a text, so it takes more steps, and so do the numbers.
func (x packRun) numbers(v Value) ([]Value, error) {
	if err := x.m.spendOn(v); err != nil {
		return nil, err
	}
	numbers := numbersIn(v.String())
	return numbers, x.m.spend(len(numbers))
}

// numbersIn returns the numbers in a text. It skips numbers that are too large.
func numbersIn(text string) []Value {
	var numbers []Value
	for _, s := range numberPattern().FindAllString(text, -1) {
		if v, err := parseNumber(s); err == nil {
			numbers = append(numbers, v)
		}
	}
	return numbers
}

// The statuses of measurements.
const (
	statusWithin  = "within_tolerance"
	statusOutside = "outside_tolerance"
)

// measure finds the number in a text that is nearest to a claimed number, and checks that
// their distance is within a tolerance. Claim and tolerance may be given as texts.
func (x packRun) measure() (finding, error) {
	v, err := x.values(paramCheck, paramAgainst, paramTolerance)
	if err != nil {
		return finding{}, err
	}
	claim, err := x.figure(paramCheck, v[0])
	if err != nil {
		return finding{}, err
	}
	tolerance, err := x.figure(paramTolerance, v[2])
	if err != nil {
		return finding{}, err
	}
	numbers, err := x.numbers(v[1])
	if err != nil {
		return finding{}, err
	}
	nearest, delta, err := nearestNumber(numbers, claim)
	if err != nil {
		return finding{}, err
	}
	f := finding{values: map[string]Value{paramStatus: String(statusWithin), "matched_target": nearest, "delta_target": delta}}
	switch {
	case nearest.v == nil:
		f.values = map[string]Value{paramStatus: String(statusNoNumbers), "matched_target": String(none), "delta_target": String(none)}
		f.failure = statusNoNumbers
		f.message = "there is no number in '" + x.said(paramAgainst) + "'"
	case compareNumbers(delta, tolerance) > 0:
		f.values[paramStatus] = String(statusOutside)
		f.failure = statusOutside
		f.message = "the nearest number in '" + x.said(paramAgainst) + "' is " + nearest.String() + ", " + delta.String() + " from " + claim.String()
		f.figures = map[string]any{"actual": toJSON(nearest), "delta": toJSON(delta)}
	}
	return f, nil
}

// figure returns v if it is not a text. It parses a text as a number, and fails
// if it is none.
func (x packRun) figure(param string, v Value) (Value, error) {
	text, ok := v.text()
	if !ok {
		return v, nil
	}
	text = strings.TrimSpace(text)
	if text == "" || !isNumber(text) {
		return v, runtimeError(x.c.Slots[x.index(param)].pos(), "%q takes a number as %s, and %q is none", x.c.Verb.Word, x.param(param), text)
	}
	return parseNumber(text)
}

// nearestNumber returns the number that is nearest to claim, and its distance from claim.
// If several are equally near, it returns the first of these. Both results are zero Values
// if there are no numbers.
func nearestNumber(numbers []Value, claim Value) (nearest, delta Value, err error) {
	for _, n := range numbers {
		high, low := n, claim
		if compareNumbers(high, low) < 0 {
			high, low = low, high
		}
		d, err := arithmetic(opMinus, high, low)
		if err != nil {
			return Value{}, Value{}, err
		}
		if nearest.v == nil || compareNumbers(d, delta) < 0 {
			nearest, delta = n, d
		}
	}
	return nearest, delta, nil
}

// The divergences of ranges.
const (
	divergesLow  = "lower"
	divergesHigh = "upper"
	divergesBoth = "both"
)

// ranges compares two ranges. A range is the first two numbers in a text.
func (x packRun) ranges() (finding, error) {
	v, err := x.values(paramCheck, paramAgainst)
	if err != nil {
		return finding{}, err
	}
	claimed, err := x.numbers(v[0])
	if err != nil {
		return finding{}, err
	}
	reference, err := x.numbers(v[1])
	if err != nil {
		return finding{}, err
	}
	f := finding{values: map[string]Value{paramStatus: String(differNot)}}
	diverges := none
	if len(claimed) < 2 || len(reference) < 2 {
		f.values[paramStatus], f.failure = String(statusParseError), statusParseError
		f.message = "a range is two numbers: " + x.said(paramCheck) + " or '" + x.said(paramAgainst) + "' has fewer"
	} else if diverges = divergence(claimed, reference); diverges != none {
		f.values[paramStatus], f.failure = String(differItem), "range_mismatch"
		f.message = "the range of " + x.said(paramCheck) + " is not that of '" + x.said(paramAgainst) + "', which says: " + v[1].String()
	}
	f.values["claimed_target"] = rangeText(claimed)
	f.values["reference_target"] = rangeText(reference)
	f.values["divergence_target"] = String(diverges)
	f.figures = map[string]any{
		"claimed_range":   toJSON(f.values["claimed_target"]),
		"reference_range": toJSON(f.values["reference_target"]),
		"divergence":      diverges,
	}
	return f, nil
}

// divergence returns which ends of two ranges differ. The ends of a range are the first
// two numbers of the list.
func divergence(a, b []Value) string {
	low, high := a[0].Equal(b[0]), a[1].Equal(b[1])
	switch {
	case low && high:
		return none
	case low:
		return divergesHigh
	case high:
		return divergesLow
	}
	return divergesBoth
}

// rangeText formats a range.
func rangeText(ends []Value) Value {
	if len(ends) < 2 {
		return String(none)
	}
	return String(ends[0].String() + " to " + ends[1].String())
}

// conform checks a record against another record, the shape: the record must have all fields
// of the shape, and the value of each must be of the same kind. It reports additional fields,
// but does not fail because of them.
func (x packRun) conform() (finding, error) {
	v, err := x.values("record_slot", "shape_slot")
	if err != nil {
		return finding{}, err
	}
	var missing, different, extra []Value
	for _, want := range v[1].allEntries() {
		got, ok := v[0].field(want.Name)
		switch {
		case !ok:
			missing = append(missing, String(want.Name))
		case got.kindOf() != want.Value.kindOf():
			different = append(different, String(want.Name))
		}
	}
	for _, e := range v[0].allEntries() {
		if _, ok := v[1].field(e.Name); !ok {
			extra = append(extra, String(e.Name))
		}
	}
	f := finding{values: map[string]Value{
		paramStatus:            String(differNot),
		"missing_target":       {newList(missing)},
		"type_mismatch_target": {newList(different)},
		"extra_target":         {newList(extra)},
	}}
	if len(missing)+len(different) > 0 {
		f.values[paramStatus] = String(differItem)
		f.failure = "conformance_mismatch"
		f.message = "'" + x.said("record_slot") + "' is not of the shape of '" + x.said("shape_slot") + "'"
		f.figures = map[string]any{
			"missing":       toJSON(f.values["missing_target"]),
			"type_mismatch": toJSON(f.values["type_mismatch_target"]),
			"extra":         toJSON(f.values["extra_target"]),
		}
	}
	return f, nil
}
