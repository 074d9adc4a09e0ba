// Package geminicli reads, writes and validates chat files of Gemini CLI: one JSON object on
// each line, or, as older versions wrote them, one object for all.
//
// # What is read
//
// A file is a log of changes to a list of messages, and is read as the client reads it. An
// object with sessionId and projectHash is about the session. An object with an id is a
// message: it is appended, or replaces the message with the same id. $set changes fields of
// the session and, if it has messages, replaces the list. $rewindTo removes a message and all
// after it, or all messages if none has the id.
//
// A message of type user or gemini is a content of the Gemini API, which package gemini
// reads. If a reply has its calls and thoughts beside its content, they are put into the
// content, as the client does when it resumes. Results are in a user's message after the
// reply; missing results are taken from the reply's toolCalls. Messages of other types are
// for the screen.
//
// Messages of a replaced list that are not in a later list form an earlier window; rewound
// messages form a fork. A message with a state snapshot is a summary. All other lines,
// unreadable lines and a torn last line keep their bytes and are not part of the conversation.
//
// # What is written
//
// A changed window keeps the lines of unchanged messages, of the session and of its settings.
// A message that changed, or whose results changed, is written as a new line with its calls in
// the content, and its results as another line; so the client reads each result once. Made
// lines have the time of the line before. Repairs follow package gemini and are listed in
// Repairs.
//
// Sessions of other formats, and windows encoded as a new session, have only such new lines.
// The format has no place for a system text: it is a loss. Gemini CLI 0.61.0 resumes
// such a file. Format is a [transcript.Resumed] and a [transcript.Metered].
//
// # What is checked
//
// Validate checks the contents by the rules of package gemini. The field of a violation is the
// line of its message.
//
// Source: the program and the files of Gemini CLI 0.61.0.
package geminicli
