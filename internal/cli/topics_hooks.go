package cli

import (
	"github.com/carrel-dev/carrel/internal/cli/admin"
)

const topicHooks = `An agent runs "carrel hook CLIENT EVENT" when something happens, with the event as
JSON on standard input. "carrel setup CLIENT" writes that into the settings of an agent:
Claude Code, ` + admin.LowestClaude + ` or newer, or Codex. For Claude Code the plug-in in the folder
plugin of the repository brings it along.

  PostToolUse        a result of more than 25,000 bytes goes into the stash, and a
                     pointer takes its place before the model sees it: how to get
                     all of it, head, tail, and the lines most likely to be needed
  PreCompact         says what the summary must keep word for word
  SessionStart       after a compaction, says it again to the agent that goes on;
                     otherwise only how to recall
  UserPromptSubmit, Stop, PostCompact, SessionEnd
                     import what is new in the conversation; Stop, which the
                     agent waits for, only below 1 MiB

Codex is not told anything at PreCompact. A result is shortened there for a command that
has ended and a tool of an MCP server, and not within a program of the model's.

What an agent sends becomes smaller in three ways: a hook shortens a large result
before the model sees it; the agent's own compaction makes a summary, for which a
hook says what to keep; or the session is exported, and the agent resumes the copy.
What "carrel compress", "carrel discard" and the tools of the same names change is
the window that Carrel holds. The tool status and "carrel context" tell both sizes.

Each hook notes in which session its client is, in the folder run/clients beside the
store's default place. So the tools of "carrel mcp" are about the session of the agent
that calls them, also after /clear, a resume or a fork, and with several agents in one
folder. A client without hooks is known if it is Codex, which says its session with each
call, or Claude Code, by the call in its transcript. Where the session cannot be known, the tools ask for it. On systems other
than Linux and macOS, hooks cannot note it.

A hook never blocks. If anything is wrong, it prints nothing, the agent goes on as
if it were not there, and standard error has the reason. A result is replaced only
once the original is on the disk; what looks as if it held a credential stays.

Settings:

  hook.large      bytes of a result from which on it is stashed    25000
  hook.pointer    tokens of a pointer                              1500
  hook.brief      tokens of what is said around a compaction       2000
  hook.limit      how long an event may take                       5s
  hook.secrets    stash credentials, too                           false

The result of a call that failed stays as it is: Claude Code lets a hook comment on
it, and not replace it. So what a command printed that ended with another exit code
than 0 is not stashed, however long it is. The client itself cuts it to 10,000
characters at its middle.

Gemini CLI has BeforeAgent in place of SessionStart and PreCompact, AfterTool in place of
PostToolUse, and AfterAgent in place of Stop. There is no event for a compression of its
own: the next prompt is told what must survive. There a failed call is stashed, too.

Of a file that Read returns, each line that a pointer shows has its number in the file
in front.`
