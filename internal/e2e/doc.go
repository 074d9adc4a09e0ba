// Package e2e has tests with the real agents whose files Carrel reads and
// writes. An agent talks to a small upstream on the loopback interface, so that
// neither a model nor the internet is needed.
//
// Each test needs its agent and skips, with the reason, where the variable that
// names the agent's program is not set.
package e2e
