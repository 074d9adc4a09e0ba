// Package geminicli reads, writes and validates chat files of Gemini CLI: one JSON object on
// each line, or, as older versions wrote them, one object for all.
//
// # What is read
//
// A file is a log of changes to a list of messages, and is read as the client reads it. An
// object with sessionId and projectHash is about the session. One with an id is a message: it
// is added, or takes the place of the one that has this id. $set changes what is known of the
// session, and with messages begins the list anew. $rewindTo takes away a message and all
// behind it, and all of them where no message has the id.
//
// A message of type user or gemini is a content of the Gemini API, and read as package gemini
// does. Where a reply has its calls and thoughts beside its content, they are put into it as
// the client does it when it resumes. Results are in a message of the user's behind the reply;
// those that are not there are taken from the reply's toolCalls. Messages of other types are
// what a screen showed.
//
// What was in the list when it was begun anew, and neither came back nor was said again, is an
// earlier window; what was taken away is a fork. A message with a state snapshot is a summary.
// All else, what cannot be read and a torn last line keep their bytes and are no part of the
// conversation.
//
// # What is written
//
// A changed window keeps the line of each message that did not change, the one about the
// session, and what was set of it. A message that did change, or whose results did, is written
// anew as a content with its calls in it, and one with its results; so the client has each
// result once. Lines that are made have the time of the line before. What the provider would
// refuse is mended as package gemini does it, and listed in Repairs.
//
// Sessions of other formats, and the beginning of a new session, are written in this form
// throughout. There is no place for a system text: it is a loss. Gemini CLI 0.61.0 resumes
// such a file.
//
// # What is checked
//
// Validate checks the contents by the rules of package gemini. The field of a violation is the
// line of its message.
//
// Source: the program and the files of Gemini CLI 0.61.0.
package geminicli
