// Package e2e has tests with what users have beside Carrel: the real agents that it
// serves and whose files it reads and writes, and the tools that make a client of
// what the server says of itself.
//
// An agent has a home of its own, and its model is a script that package upstream
// plays on the loopback interface: neither a model nor the internet is needed, and
// what the provider would refuse is refused. What the agent calls is the carrel of
// this tree, built once for all tests, and the plug-in of this tree.
//
// A long session, of 45 calls and more than three small windows, runs with an agent alone, to
// check the test itself, and with carrel run between it and its provider.
//
// Each test skips, with the reason, where the variable that names its program is not
// set.
package e2e
