// Package cli is the command line of Carrel.
//
// The commands are in packages below it, one for each family: session, artifact,
// contract, limn, server and admin. They do not know one another. What they share is in
// package job: settings, the store, files, and what an error means. What they print goes
// through package out. Here is the root command, with its help, manual pages and
// completion. [Main] runs one command line and returns the exit code, so that tests need
// no process and only main exits. An error prints one line, and a hint at what to try
// next.
//
// Nothing here is safe for concurrent use but what says so.
package cli
