package rest

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// What follows makes the caller the one who a request says has done something.

// setVerifier makes the caller the one who vouches for what is put in.
func setVerifier(req *api.PutRequest, g *governance.Grant) {
	for _, a := range req.Artifacts {
		if a != nil && a.VerifiedBy != "" {
			a.VerifiedBy = string(g.Actor)
		}
	}
}

// hand makes the caller the one who hands a session on.
func hand(req *api.HandoffRequest, g *governance.Grant) { req.By = string(g.Actor) }

// sign makes the caller the one who decides.
func sign(req *api.DecideRequest, g *governance.Grant) { req.By = string(g.Actor) }
