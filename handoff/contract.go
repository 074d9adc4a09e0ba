package handoff

import "github.com/carrel-dev/carrel/contract"

// Contract returns a contract with the decisions, corrections, questions and verified
// sources of the packet. It leaves out entries that a contract refuses: texts that are
// empty after cleaning, and decisions that contradict an earlier decision.
func (p *Packet) Contract() *contract.Contract {
	s := new(contract.Contract)
	for _, d := range p.Decisions {
		_, _ = s.AddDecision(contract.Clean(d.Text), contract.Refuse)
	}
	for _, c := range p.Corrections {
		_, _ = s.AddCorrection(c.Correction)
	}
	for _, q := range p.Questions {
		_, _ = s.AddQuestion(contract.Clean(q.Question))
	}
	for _, src := range p.Sources {
		if src.State == Verified {
			_, _ = s.Verify(claimOf(&src), "")
		}
	}
	return s
}

// contractType is the type of a source that is a contract.
const contractType = "contract"

// claimOf returns the text of the verified claim that a contract has for a source of a
// packet.
func claimOf(s *Source) string {
	if s.Type == contractType {
		return contract.Clean(s.What)
	}
	return contract.Clean(s.Source + ": " + s.What)
}
