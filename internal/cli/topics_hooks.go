package cli

const topicHooks = `An agent runs "carrel hook CLIENT EVENT" when something happens, with the event as
JSON on standard input. "carrel setup claude" writes that into the settings of Claude
Code, ` + lowestClaude + ` or newer; the plug-in in the folder plugin of the repository brings it
along.

  PostToolUse        a result of more than 25,000 bytes goes into the stash, and a
                     pointer takes its place before the model sees it: how to get
                     all of it, head, tail, and the lines most likely to be needed
  PreCompact         says what the summary must keep word for word
  SessionStart       after a compaction, says it again to the agent that goes on;
                     otherwise only how to recall
  UserPromptSubmit, Stop, PostCompact, SessionEnd
                     import the conversation as it has grown

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

Of a file that Read returns, each line that a pointer shows has its number in the file
in front.`
