// Package codex reads, writes and validates session files of Codex, which it calls
// rollouts: one JSON object on each line, with a timestamp, a type and a payload.
//
// # What is read
//
// A row of type response_item has an item of the Responses API, which package responses
// reads. A row of type compacted replaces all items before it by its replacement_history or,
// without one, by its message; the replaced items, except those that the history keeps, are an
// earlier window. The first session_meta has the id, the working directory and the
// instructions, and the latest turn_context has the model. All other rows, unreadable rows and
// a torn last line keep their bytes and are not part of the conversation.
//
// The id of a sub-agent's session begins with that of the session that started it ([SubAgent]).
// The files of a fork and of a rewound thread have new rows only, and name the file with the
// rows before them: insert these rows after the first row before you call Decode. Where they
// are missing, there is a warning.
//
// Format is a [transcript.Resumed] and a [transcript.Metered]. A token_usage_record has the
// tokens of one call; in a file without such records, the token_count of each call counts.
//
// # What is written
//
// A changed window keeps the rows of unchanged items, and the rows about the session and its
// settings. Events for the screen (event_msg), token counts and the windows before a
// compaction are left out. A row without a source has the timestamp of the row before it. Repairs follow
// package responses and are listed in Repairs.
//
// Sessions of other formats are written with a session_meta, a turn_context with the model,
// and one row for each item. A session of package responses keeps the bytes of its items,
// and its reasoning. Codex 0.169.0 resumes such a file, and a changed file of its own, and
// sends every item in the file.
//
// A window encoded as a new session (As) has the new id in its first row, without a parent
// session; rows about the parent session of a fork are left out.
//
// # What is checked
//
// Validate checks the items of the conversation by the rules of package responses. The
// field of a violation is the line of its item.
//
// Source: files that Codex 0.169.0 wrote.
package codex
