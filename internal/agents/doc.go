// Package agents is the table of the agents whose sessions Carrel reads: how each is called,
// where it keeps its sessions, and which files of those folders are sessions. Each agent has
// a file of its own.
//
// A name is that of the command line, as in "carrel setup claude". Folders follow from the
// environment alone; they need not be there. Nothing in here changes a file.
package agents
