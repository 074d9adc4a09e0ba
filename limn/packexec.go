package limn

import (
	"slices"
	"strings"
)

// A packRule says which parameters a type of execution requires and accepts.
type packRule struct {
	writes  bool     // requires target_name or target_slot, and source_slot or literal_value
	names   []string // required parameters whose value is a slot for a name
	values  []string // required parameters whose value is a slot for a name or a value
	targets []string // required parameters whose value is a name that the execution writes
	judges  bool     // has the optional parameter on_mismatch
}

// packRuleOf returns the rule of a type of execution, and false for an unknown type.
func packRuleOf(execution string) (packRule, bool) {
	switch execution {
	case "set_value", "append_to_list", "set_field":
		return packRule{writes: true}, true
	case "substring_check":
		return packRule{values: []string{"check_slot"}, names: []string{"against_slot"}}, true
	case "compare_values":
		return packRule{names: []string{"left_slot", "right_slot"}, targets: []string{"status_target"}, judges: true}, true
	case "numeric_extract_compare":
		return packRule{
			values: []string{"check_slot", "tolerance_slot"}, names: []string{"against_slot"},
			targets: []string{"status_target", "matched_target", "delta_target"}, judges: true,
		}, true
	case "range_check":
		return packRule{
			values: []string{"check_slot"}, names: []string{"against_slot"},
			targets: []string{"status_target", "claimed_target", "reference_target", "divergence_target"}, judges: true,
		}, true
	case "conformance_check":
		return packRule{
			names:   []string{"record_slot", "shape_slot"},
			targets: []string{"status_target", "missing_target", "type_mismatch_target", "extra_target"}, judges: true,
		}, true
	}
	return packRule{}, false
}

// fields returns the names of all parameters that a type of execution accepts.
func (rule packRule) fields(execution string) []string {
	fields := slices.Concat([]string{"type"}, rule.names, rule.values, rule.targets)
	if rule.writes {
		fields = append(fields, "target_name", "target_slot", "source_slot", "literal_value")
	}
	if rule.judges {
		fields = append(fields, "on_mismatch")
	}
	switch execution {
	case "set_field":
		fields = append(fields, "field_name")
	case "compare_values":
		fields = append(fields, "comparison", "details_target")
	}
	return fields
}

func (r *packReader) execution(at string, v any, verb *packVerb) execution {
	if v == nil {
		r.fail(at, "is missing")
		return execution{}
	}
	fields, _ := v.(map[string]any)
	name, _ := fields["type"].(string)
	rule, ok := packRuleOf(name)
	if !ok {
		r.fail(member(at, "type"), "is %q: want set_value, append_to_list, set_field, substring_check, compare_values, numeric_extract_compare, range_check or conformance_check", name)
		return execution{}
	}
	x := packParams{r.object(at, v, rule.fields(name)...), verb, map[string]string{}}
	x.rule(rule)
	switch name {
	case "set_field":
		x.word("field_name")
	case "compare_values":
		x.comparison()
	}
	return execution{Type: name, Params: x.params}
}

// packParams reads the parameters of an execution.
type packParams struct {
	packObject

	verb   *packVerb
	params map[string]string
}

func (x packParams) rule(rule packRule) {
	for _, name := range rule.names {
		x.slot(name, true)
	}
	for _, name := range rule.values {
		x.slot(name, false)
	}
	for _, name := range rule.targets {
		x.word(name)
	}
	if rule.writes {
		x.either("target_name", "target_slot")
		x.either("source_slot", "literal_value")
	}
	if rule.judges {
		x.params["on_mismatch"] = x.choice("on_mismatch", "flag", "error", "flag")
	}
}

// comparison reads the parameters of compare_values.
func (x packParams) comparison() {
	x.params["comparison"] = x.choice("comparison", "", "equality", "structural")
	switch {
	case x.params["comparison"] == "structural":
		x.word("details_target")
	case x.has("details_target"):
		x.fail("details_target", "is only for \"comparison\": \"structural\": remove it")
	}
}

// either reads the one of two parameters that is present. It records an error if
// both or none are present.
func (x packParams) either(a, b string) {
	if x.has(a) == x.has(b) {
		x.fail(a, "and %s exclude one another: give exactly one of them", b)
		return
	}
	name := a
	if x.has(b) {
		name = b
	}
	switch name {
	case "target_name":
		x.word(name)
	case "target_slot":
		x.slot(name, true)
	case "source_slot":
		x.slot(name, false)
	case "literal_value":
		x.params[name] = x.text(name)
	}
}

// word reads a parameter whose value is a name.
func (x packParams) word(name string) {
	x.params[name] = x.r.word(member(x.at, name), x.text(name))
}

// slot reads a parameter whose value is the name of a required slot of the verb. If isName
// is set, that slot must take names.
func (x packParams) slot(name string, isName bool) {
	s := x.text(name)
	x.params[name] = s
	i := x.verb.slot(s)
	switch {
	case i < 0:
		x.fail(name, "is %q, which is no slot of the verb", s)
	case !x.verb.Slots[i].Required:
		x.fail(name, "is %q, an optional slot: name one with \"required\": true", s)
	case isName && !x.verb.Slots[i].IsName:
		x.fail(name, "is %q, a slot that takes values: name one with \"value_type\": \"name\"", s)
	}
}

// packTarget reports whether the value of a parameter is a name that the execution writes.
func packTarget(param string) bool {
	return param == "target_name" || strings.HasSuffix(param, "_target")
}
