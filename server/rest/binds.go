package rest

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// The functions of this file replace a name in a request by the actor of the caller, so that no
// caller can act in another's name.

// setVerifier replaces VerifiedBy by the caller in each artifact whose VerifiedBy is not empty.
func setVerifier(req *api.PutRequest, g *governance.Grant) {
	for _, a := range req.Artifacts {
		if a != nil && a.VerifiedBy != "" {
			a.VerifiedBy = string(g.Actor)
		}
	}
}

// hand makes the caller the author of a handoff.
func hand(req *api.HandoffRequest, g *governance.Grant) { req.By = string(g.Actor) }

// sign makes the caller the author of a decision.
func sign(req *api.DecideRequest, g *governance.Grant) { req.By = string(g.Actor) }
