package handoff

import "github.com/carrel-dev/carrel/contract"

// Legacy returns a contract that says what the packet says. Entries that a contract
// cannot have are left to the packet: texts that are empty once they are cleaned,
// and decisions that contradict one before them.
func (p *Packet) Legacy() *contract.Contract {
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

// claimOf returns what a source of a packet says as a contract has it.
func claimOf(s *Source) string {
	if s.Type == contractType {
		return contract.Clean(s.What)
	}
	return contract.Clean(s.Source + ": " + s.What)
}
