package intent

import "slices"

// A Verb says what kind of work a prompt asks for. It is stored as its text.
// The empty verb is that of a prompt that asks for nothing by itself.
type Verb string

// The seven verbs.
const (
	Explain   Verb = "explain"   // say what something is or how it works
	Create    Verb = "create"    // make something that is not there
	Transform Verb = "transform" // give something that is there another form
	Analyze   Verb = "analyze"   // find out how something is
	Decide    Verb = "decide"    // choose
	Plan      Verb = "plan"      // say in which steps a goal is reached
	Fix       Verb = "fix"       // mend what does not work
)

// Verbs returns all verbs, in the order of this list.
func Verbs() []Verb {
	return []Verb{Explain, Create, Transform, Analyze, Decide, Plan, Fix}
}

// A Slot names something that a verb can be told. It is stored as its text, such as
// target; [Verb.Slots] has all.
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

// Slots returns the slots of the verb, the required ones first. The seven
// verbs have 24 together.
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

// Required returns the slots that the work needs to begin: one, or two for the
// verb transform.
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

// object is the slot that the object of the verb fills.
func (v Verb) object() Slot { return v.Slots()[0] }

// has reports whether the verb has the slot.
func (v Verb) has(s Slot) bool { return slices.Contains(v.Slots(), s) }
