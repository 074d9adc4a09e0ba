package cli

// The exit codes, which are part of the interface.
const (
	exitDone        = 0
	exitNo          = 1
	exitUsage       = 2
	exitInput       = 3
	exitNotFound    = 4
	exitBudget      = 5
	exitIntegrity   = 6
	exitNetwork     = 8
	exitPolicy      = 9
	exitConsent     = 10
	exitBug         = 70
	exitInterrupted = 130
)
