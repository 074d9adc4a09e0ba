// Package agents is the table of the agents whose sessions Carrel reads: their names, the folders
// of their sessions, and which files there are sessions. Each agent has a file in this package.
//
// The name of an agent is its name on the command line, as in "carrel setup claude". Folders
// depend only on the environment and may not exist. This package changes no file.
package agents
