package cli

import "github.com/spf13/cobra"

// newTopics returns what help can be asked about besides commands.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "formats", Short: "Formats that are read and written", Long: topicFormats},
		{Use: "budget", Short: "What a budget is and how it is met", Long: topicBudget},
		{Use: "summaries", Short: "How a window is made smaller, and when that is accepted", Long: topicSummaries},
		{Use: "tiers", Short: "How far a context is cut", Long: topicTiers},
		{Use: "gate", Short: "What may be remembered", Long: topicGate},
		{Use: "tools", Short: "How language, intent, pager, contract and handoff work together", Long: topicTools},
		{Use: "contracts", Short: "What a conversation has agreed on", Long: topicContracts},
		{Use: "hooks", Short: "What agents are told by themselves", Long: topicHooks},
		{Use: "handoffs", Short: "How another agent goes on", Long: topicHandoffs},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: topicExitCodes},
		{Use: "env", Short: "Variables of the environment", Long: topicEnv},
	}
}

const topicFormats = `Formats that import finds out by itself, and that export writes:

  claudecode   session files of Claude Code (*.jsonl), with forks, sub-agents
               and compactions. Also known as claude. An export is a new session
               for "claude --resume": see "carrel export --help".
  codex        session files of Codex (rollout-*.jsonl, .zst too), with forks, sub-agents
               and compactions. An export is for "codex resume".
  opencode     sessions that OpenCode exports and imports, which import --all reads out
               of its database; with compactions and reverts
  geminicli    chat files of Gemini CLI (session-*.jsonl, and *.json of older
               versions), with compactions and rewinds
  anthropic    bodies of requests to the Messages API
  openai       bodies of requests to the Chat Completions API
  responses    bodies of requests to the Responses API, and lists of its items. One
               with previous_response_id, conversation or an item_reference is
               kept and not paged: a part of its history is at the provider's.
  gemini       bodies of requests to the Gemini API, and lists of its contents
  sweagent     trajectories of SWE-agent (*.traj): the history in them
  openhands    events of OpenHands, as a list or under "history"
  markdown     Markdown for people: what was said, how calls ended, stubs with their
               ids, and a table of what is not in the window
  pager        history files of the context pager

An untouched conversation leaves in its own format byte for byte as it came.
In a changed one, every message that was not itself changed keeps its bytes.
"carrel validate FILE" says whether a provider would refuse a file, and
"carrel repair FILE" mends a request that one would refuse.`

const topicBudget = `A budget is the number of tokens that the window of a conversation may have:
messages, stubs, tool definitions and what the provider adds for roles and
calls. "carrel compress" takes it as --target in tokens, or as a share such as
50%: half of the tokens of the conversation as it was imported, and system text,
tool definitions and framing, which cannot leave, whole beside it. Without --target it takes half of the
effective window, which is 80% of the model's context window: "carrel help
level".

What fills it is an account of the work: what persons and the agent said, calls
with how they ended, changed lines, parts of files, and at its end the state:
tasks, branch, changed files, the last command. It consists of units, such as a
sentence or a line, each whole or absent. What a unit is worth follows from its
kind and from how likely its names and lines are needed next: when they were
last seen, how often and by whom they were used, and more, with weights that
were fitted to recorded sessions. What is said twice is kept once. Behind a
block of which something is missing stands its id in brackets, and the newest
blocks stay as they are. What a budget keeps, every larger one keeps, too.

Rules come before chances:

  absolute  stays as it is: system text, the provider's own compactions, pins,
            calls without a result
  hard      never leaves, and is whole first: the newest user message and its
            answer, corrections, the first task; cut at the line only where they
            do not fit their part of the budget
  soft      never leaves: code edits that none supersedes, the newest plan, the
            last blocks (--keep-last)

With the strategies other than account, importance and anchored, what is hard stays as it
is, too. Pager cuts blocks in steps, those with the lowest score first:
thinking goes, then results of calls become a line each, then the block a line,
then it goes.

If what rules hold does not fit, nothing is changed, the exit code is 5, and
what holds the budget up is listed, with the smallest window that there can be;
"carrel compress --smallest" makes it. "carrel why ID" tells about one block, and
about its likeliest lines and names. "carrel bench retention" measures on your
own sessions how much of what was needed is kept, and "carrel bench exam" what
windows still tell.

An agent can tidy its own window: "carrel messages" lists what is in it and what
may go, "carrel discard" takes it out, down to a floor. "carrel context trigger" and
"carrel context level" say by their exit codes when it is time. All of this is about the
window that Carrel holds. What an agent sends does not change by it: "carrel help
hooks" says what does.

Tokens of OpenAI models are exact. For others they are an upper bound, so that
what fits here fits there.`

const topicExitCodes = `  0    done, or the answer is yes
  1    the answer is no: nothing found, a file would be refused, a check failed,
       contexts differ
  2    wrong command line: unknown flag, bad argument, abbreviation that fits
       several things
  3    a file cannot be read or written, or breaks its format
  4    not found: session, block, artifact, manifest, operation, store; or gone
  5    the budget is impossible: what must be in the window is above it
  6    integrity: the store or a manifest does not verify
  7    store busy or changed by somebody else, or time is up: try again
  8    a source cannot be reached
  9    refused by policy: what holds a credential, what no setting allows, a
       file that is there already and no --force, an agent's own folder,
       a discard of what rules keep, a contract that would not hold, a shorter
       copy of a known session; or held by the gate
  10   a person has to consent first: "carrel contract save"
  11   the store cannot be read or written: its disk is full or fails, the file or
       its folder is read-only, or it was moved away; the message says which, and
       what to do. What only reads works on a store that is read-only
  70   a bug in carrel
  130  interrupted; 143 terminated

After an error nothing has changed, save that an import of several files keeps
those that could be read. With --json an error is a problem document on
standard output.`

const topicEnv = `Flags win over the environment, and that over files: "carrel help config".

  CARREL_STORE       path of the store. Without it and without a setting, it
                     is carrel.db in the nearest folder named .carrel, here
                     or above, or else $XDG_DATA_HOME/carrel/carrel.db
  CARREL_SCOPE       tenant/project/agent whose conversations these are
  CARREL_CONFIG      file whose settings win over the project's and yours
  CARREL_PROFILE     profile whose settings to take
  CARREL_OFFLINE     1 connects to nothing
  CARREL_EFFECTIVE_CONTEXT
                     tokens of the context window that are of use; 80% of it
                     otherwise: "carrel help context level"
  CARREL_EMBED_KEY   key of the embedder at embed.url; it is never shown
  CARREL_GENERATE_KEY
                     key of the model at generate.url; it is never shown
  CARREL_CREDENTIAL_KEY_FILE
                     file of the key of credentials: "carrel credential"
  CARREL_JSON        1 prints JSON
  CARREL_NOW         the time to take for the clock, for reproducible bytes;
                     SOURCE_DATE_EPOCH, in seconds, if that is not set
  CARREL_TIMEOUT     duration after which to give up, such as 30s
  CARREL_COLOR       auto, always or never; see also NO_COLOR, CLICOLOR_FORCE
                     and TERM
  CARREL_PROGRESS    auto, plain, json or none
  CARREL_LOG         info or debug: log to standard error
  CARREL_LOG_FORMAT  json makes the log JSON
  CLAUDE_CONFIG_DIR  where Claude Code keeps its sessions; ~/.claude otherwise
  LIMINATE_CONTRACTS_DIR
                     folder for the files of contracts: "carrel contract path"
  XDG_CONFIG_HOME    where settings of the user's programs are; ~/.config
                     otherwise
  XDG_DATA_HOME      where data of the user's programs is; ~/.local/share
                     otherwise`
