package intent

import "slices"

// A Verb is the kind of work that a prompt asks for. It is stored as its text. The empty verb
// means that the prompt passes through.
type Verb string

// The seven verbs.
const (
	Explain   Verb = "explain"   // say how something is
	Create    Verb = "create"    // make something new
	Transform Verb = "transform" // give something at hand another form
	Analyze   Verb = "analyze"   // examine something at hand
	Decide    Verb = "decide"    // choose, or help to choose
	Plan      Verb = "plan"      // list the steps to a goal
	Fix       Verb = "fix"       // repair something that does not work
)

// Verbs returns all verbs, in the order of this list.
func Verbs() []Verb {
	return []Verb{Explain, Create, Transform, Analyze, Decide, Plan, Fix}
}

// A Slot is a named parameter of a verb. It is stored as its text, such as target; [Verb.Slots]
// lists those of a verb.
type Slot string

// The slots. Several belong to more than one verb.
const (
	slotTarget      Slot = "target"
	slotDepth       Slot = "depth"
	slotAudience    Slot = "audience"
	slotContext     Slot = "context"
	slotArtifact    Slot = "artifact"
	slotTopic       Slot = "topic"
	slotConstraints Slot = "constraints"
	slotStyle       Slot = "style"
	slotSource      Slot = "source"
	slotTargetForm  Slot = "target-form"
	slotCriteria    Slot = "criteria"
	slotFormat      Slot = "format"
	slotOptions     Slot = "options"
	slotGoal        Slot = "goal"
	slotSymptoms    Slot = "symptoms"
)

// Slots returns the slots of the verb, the required ones first. The seven verbs have 24 slots
// together.
func (v Verb) Slots() []Slot {
	switch v {
	case Explain:
		return []Slot{slotTarget, slotDepth, slotAudience, slotContext}
	case Create:
		return []Slot{slotArtifact, slotTopic, slotConstraints, slotAudience, slotStyle}
	case Transform:
		return []Slot{slotSource, slotTargetForm, slotConstraints}
	case Analyze:
		return []Slot{slotTarget, slotCriteria, slotFormat}
	case Decide:
		return []Slot{slotOptions, slotCriteria, slotContext}
	case Plan:
		return []Slot{slotGoal, slotConstraints, slotContext}
	case Fix:
		return []Slot{slotTarget, slotSymptoms, slotContext}
	default:
		return nil
	}
}

// Required returns the slots that must have a value before the work can begin: two for
// transform, one for any other verb.
func (v Verb) Required() []Slot {
	slots := v.Slots()
	switch {
	case slots == nil:
		return nil
	case v == Transform:
		return slots[:2]
	default:
		return slots[:1]
	}
}

// object returns the slot of the verb's object.
func (v Verb) object() Slot { return v.Slots()[0] }

// has reports whether the verb has the slot.
func (v Verb) has(s Slot) bool { return slices.Contains(v.Slots(), s) }
