// Package codex reads, writes and validates session files of Codex, which it calls
// rollouts: one JSON object on each line, with a timestamp, a type and a payload.
//
// # What is read
//
// A row of type response_item has an item of the Responses API, which is read as package
// responses does. A row of type compacted puts its replacement_history, or where it has
// none its message, in place of everything before; what was before is an earlier window,
// without what the history keeps of it. The first session_meta has the id, the working
// directory and the instructions, and the latest turn_context the model. All other rows,
// what cannot be read and a torn last line keep their bytes and are no part of the
// conversation.
//
// A sub-agent is a session in that of the agent that asked it ([SubAgent]). A fork, and a
// thread that was rewound, have only what is new in their files, and say what stands before;
// who reads the file puts that behind its first row (package internal/agents). Where it is
// missing, there is a warning.
//
// A token_usage_record says what one call took; where a file has none, the token_count of each
// call does. A file that only grew is read from its last message on.
//
// # What is written
//
// A changed window keeps the row of each item that did not change, and the rows that are
// about the session and its settings. What a screen showed (event_msg), counts of tokens
// and the windows before a compaction are left out. A row that is made has the timestamp
// of the row before it. What the provider would refuse is mended as package responses does
// it, and listed in Repairs.
//
// Sessions of other formats are written with a session_meta, a turn_context with the model,
// and one row for each item. A session of package responses keeps the bytes of its items,
// and its reasoning. Codex 0.169.0 resumes such a file, and a changed one of its own: what it
// sends has every item of it.
//
// A window that begins a new session (As) has its id in the first row, which says that the
// session parts from none; rows about the session that it parted from are left out.
//
// # What is checked
//
// Validate checks the items of the conversation by the rules of package responses. The
// field of a violation is the line of its item.
//
// Source: files that Codex 0.169.0 wrote.
package codex
