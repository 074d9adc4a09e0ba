package transcript

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// A client adds its own texts to user messages: output of local commands, reminders, and text
// around a summary. No person wrote them. This is the only table of them. [Words], [Machine]
// and [SummaryWords] use it.

// machineHeads are the beginnings of messages that a program wrote completely.
var machineHeads = [...]string{
	// Claude Code
	"<command-", "<local-command", "<bash-", "<task-notification", "<user-prompt-submit-hook", "<system-reminder",
	"[Request interrupted", "Caveat: The messages below",
	// Codex
	"<environment_context>", "<user_instructions>", "<turn_aborted>", "<subagent_notification>", "<user_shell_command>",
	"<codex_internal_context", "<skill>", "<permissions instructions>", "<image_resize_notice>",
	// Gemini CLI
	"<session_context>", "<state_snapshot>", "System: Please continue.", "System: Potential loop detected.",
	// OpenCode
	"Called the Read tool with the following input:", "Read tool failed to read ", "Reading MCP resource:", "Failed to read MCP resource ",
	"What did we do so far?", "The following tool was executed by the user", "Continue if you have next steps, or stop and ask for clarification",
	"The previous request exceeded the provider's size limit", "Use the above message and context to generate a prompt and call the task tool",
	// Carrel
	"[carrel",
}

// speechlessHeads are the beginnings of further messages that have no words of a person. Unlike
// the messages of machineHeads, these inform the model and count as user messages.
var speechlessHeads = [...]string{
	// Claude Code
	"This session is being continued from a previous conversation", "Operation stopped by hook",
	"Base directory for this skill:", "Stop hook feedback:",
	// Codex
	"# AGENTS.md instructions for ", "Another language model started to solve this problem and produced a summary",
}

// asideTags are the tags around text that a client adds to a person's message.
var asideTags = [...]string{
	// Claude Code
	"system-reminder", "ide_opened_file", "ide_selection",
	// Gemini CLI
	"hook_context",
}

// localCommands are commands that a client runs by itself. Their arguments are for the client, not
// for the model.
var localCommands = map[string]bool{
	// Claude Code
	"/add-dir": true, "/agents": true, "/clear": true, "/compact": true, "/config": true, "/context": true, "/cost": true,
	"/doctor": true, "/effort": true, "/exit": true, "/export": true, "/help": true, "/hooks": true, "/ide": true,
	"/login": true, "/logout": true, "/mcp": true, "/memory": true, "/model": true, "/permissions": true, "/plugin": true,
	"/rename": true, "/resume": true, "/rewind": true, "/status": true, "/theme": true, "/usage": true, "/vim": true,
}

// deliveredHead stands before a message that the user wrote while the model was working. Claude Code
// gives it to the model in a reminder, and adds one of deliveredTails.
const deliveredHead = "The user sent a new message while you were working:\n"

var deliveredTails = [...]string{
	"\n\nIMPORTANT: After completing your current task, you MUST address the user's message above.",
	"\n\nThis is how Claude Code surfaces messages the user sends mid-turn",
}

// summaryLines are the beginnings of the lines that a client adds around a summary.
var summaryLines = [...]string{
	// Claude Code
	"This session is being continued from a previous conversation",
	"The summary below covers the earlier portion of the conversation",
	"The conversation is summarized below",
	"If you need specific details from before compaction",
	"Recent messages are preserved verbatim.",
	"Your REPL VM state has been cleared",
	"The messages after this summary are the most recent messages",
	"Continue the conversation from where it left off",
	"Please continue the conversation from where we left",
	// Codex
	"Another language model started to solve this problem and produced a summary",
}

// Words returns the text that a person wrote in a user message: without additions of clients, and
// "" for a message that a program wrote. Of a slash command it returns the arguments, or "" if the
// client runs the command without the model, such as /compact.
func Words(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<command-") {
		if localCommands[within(text, "command-name")] {
			return ""
		}
		return within(text, "command-args")
	}
	text = strings.TrimSpace(withoutAsides(text))
	if Machine(text) || begins(text, speechlessHeads[:]) || localCommands[text] {
		return ""
	}
	return text
}

// Selection returns the lines that a person had selected in an editor when they wrote a message, as
// Claude Code adds them to it: "12 to 14 from FILE:" and a line feed, and the text of these lines.
// It returns "" for a message without such an addition.
func Selection(text string) string {
	said, found := strings.CutPrefix(within(text, "ide_selection"), "The user selected the lines ")
	if !found {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(said, "This may or may not be related to the current task."))
}

// Title returns a title for a conversation: the first line that a person wrote, cut to 80 code
// points, or "".
func Title(messages []Message) string {
	for i := range messages {
		if m := &messages[i]; m.Role == RoleUser && !m.Summary {
			if line := text.FirstLine(Words(m.Text())); line != "" {
				return text.Short(line, 80)
			}
		}
	}
	return ""
}

// Machine reports whether a program wrote a user message: the output of a
// local command, a reminder without words of the user, a note about an interruption.
func Machine(text string) bool {
	return begins(text, machineHeads[:]) && !strings.Contains(text, deliveredHead)
}

// delivered returns the user's words in the text of a reminder, or "".
func delivered(reminder string) string {
	words, found := strings.CutPrefix(strings.TrimSpace(reminder), deliveredHead)
	if !found {
		return ""
	}
	for _, tail := range deliveredTails {
		words, _, _ = strings.Cut(words, tail)
	}
	return words
}

// SummaryWords returns a summary without the text that clients add around it.
func SummaryWords(text string) string {
	text = withoutAsides(text)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !begins(strings.TrimSpace(line), summaryLines[:]) {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

func begins(text string, heads []string) bool {
	for _, head := range heads {
		if strings.HasPrefix(text, head) {
			return true
		}
	}
	return false
}

// within returns the text between the first opening and closing tag with a name.
func within(text, tag string) string {
	_, rest, _ := strings.Cut(text, "<"+tag+">")
	inner, _, _ := strings.Cut(rest, "</"+tag+">")
	return strings.TrimSpace(inner)
}

// withoutAsides returns a text without the text between tags of clients, except a user's words in
// it. If the end of the last one is missing, it was cut off and everything behind its tag goes,
// unless a blank or a quotation mark stands before the tag: then a person writes about the tag.
func withoutAsides(text string) string {
	for _, tag := range asideTags {
		text = withoutAside(text, "<"+tag+">", "</"+tag+">")
	}
	return text
}

func withoutAside(text, tag, end string) string {
	var b strings.Builder
	for {
		before, inner, found := strings.Cut(text, tag)
		aside, after, ended := strings.Cut(inner, end)
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case ended:
			b.WriteString(delivered(aside))
			text = after
		case before != "" && strings.ContainsAny(before[len(before)-1:], " `'\""):
			return b.String() + tag + inner
		default:
			return b.String()
		}
	}
}
