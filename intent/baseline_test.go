package intent

import (
	"slices"
	"strings"
)

// hints are the phrases that the published compiler matches for the required slot of each verb.
// The naive compiler takes the verb whose phrase comes first.
var hints = map[Verb]string{
	Explain:   "about|what is|how does|tell me about|explain|describe|what are|how do|what does|why does",
	Create:    "write|draft|create|make|generate|build|compose|produce|give me|design",
	Transform: "this text|the following|below|attached|my notes|this draft|the document|the code|paste|source",
	Analyze:   "analyze|analysis|review|evaluate|assess|look at|inspect|examine|audit|compare|diagnose",
	Decide:    "should i|which|choose between|pick|better|option|versus|decide between",
	Plan:      "plan|roadmap|strategy|how do i|how can i|steps to|help me|approach|workflow|schedule",
	Fix:       "fix|debug|repair|correct|what's wrong with|why is|broken|issue|error|bug",
}

// keys are the phrases that the published compiler matches for the optional slots.
var keys = map[Verb]map[Slot]string{
	Explain: {
		slotDepth:    "in detail|briefly|in depth|quick overview|thorough|short|one sentence|every detail|simply",
		slotAudience: "for a beginner|for beginners|like i'm five|for an expert|for someone who|for developers|for my boss",
		slotContext:  "because i need to|for a presentation|i'm trying to understand|for work|for school|so i can|before i",
	},
	Create: {
		slotTopic:       "about|on|regarding|for|covering|focused on|around|related to",
		slotConstraints: "must|should include|without|using|make sure|keep it|limit to|no more than|at least",
		slotAudience:    "for my team|for my boss|for executives|for customers|for students|for kids|for readers",
		slotStyle:       "formal|casual|friendly|professional|persuasive|playful|technical|concise|creative",
	},
	Transform: {slotConstraints: "preserve|keep|don't change|without changing|maintain|without losing|same meaning|same tone|shorten|expand"},
	Analyze: {
		slotCriteria: "for|based on|against|criteria|with respect to|focus on|looking for|check whether|judge by",
		slotFormat:   "as bullets|as a table|score|rank|summary|report|findings|pros and cons|list|brief",
	},
	Decide: {
		slotCriteria: "based on|priority is|i care about|optimize for|most important|budget|time|risk",
		slotContext:  "i'm trying to|my situation|for me|given that|because|currently|i need|i have",
	},
	Plan: {
		slotConstraints: "by|within|budget|limited to|only|deadline|without|using|available",
		slotContext:     "currently|right now|i have|starting from|my situation|we are|already",
	},
	Fix: {
		slotSymptoms: "fails|doesn't work|error|crashes|hangs|slow|exception|not loading|unexpected",
		slotContext:  "in python|in javascript|on mac|on windows|environment|version|after|when i|using",
	},
}

// naive compiles a prompt by substrings, as a baseline.
func naive(prompt string) *Intent {
	text := strings.ToLower(strings.TrimSpace(prompt))
	in := &Intent{}
	if slices.Contains([]string{"", "hi", "hello", "hey", "thanks", "yes", "no", "ok", "continue", "go on", "next", "sure"}, strings.Trim(text, ".! ")) {
		return in
	}
	in.Verb = Explain
	first := len(text)
	for _, v := range Verbs() {
		for hint := range strings.SplitSeq(hints[v], "|") {
			if at := strings.Index(text, hint); at >= 0 && at < first {
				in.Verb, first = v, at
			}
		}
	}
	in.Slots = make(map[Slot][]Phrase)
	for _, s := range in.Verb.Required() {
		in.Slots[s] = []Phrase{{Text: prompt}}
	}
	for s, list := range keys[in.Verb] {
		if containsAny(text, strings.Split(list, "|")) {
			in.Slots[s] = []Phrase{{Text: prompt}}
		}
	}
	for _, a := range ambers {
		if containsAny(text, strings.Split(a.left, ", ")) && containsAny(text, strings.Split(a.right, ", ")) {
			in.Amber = append(in.Amber, Flag{Name: a.name})
		}
	}
	for _, h := range humans {
		if containsAny(text, strings.Split(h.words, ", ")) {
			in.Human = append(in.Human, Flag{Name: h.name})
		}
	}
	return in
}

func containsAny(text string, list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, s) })
}
