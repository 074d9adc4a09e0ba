// Package cli is the command line of Carrel.
//
// The commands are in packages below it, one for each family: session, artifact, contract, limn,
// server and admin. These packages do not import one another. Package job has what they share:
// settings, the store, files and the exit codes of errors. Package out prints. This package has
// the root command with its help, manual pages and completion. [Main] runs one command line and
// returns the exit code, so that tests need no process and only func main exits. An error prints
// one line and a hint at the next step.
//
// Nothing here is safe for concurrent use unless its comment says so.
package cli
