// Package e2e has tests with the real agents that Carrel serves and whose files it
// reads and writes. An agent has a home of its own, and its model is a script that
// package fakeupstream plays on the loopback interface: neither a model nor the
// internet is needed, and what the provider would refuse is refused.
//
// Each test needs its agent and skips, with the reason, where the variable that
// names the agent's program is not set. What the agent calls is the carrel of this
// tree, built once for all tests, and the plug-in of this tree.
package e2e
