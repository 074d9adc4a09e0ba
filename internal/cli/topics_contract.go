package cli

const topicTools = `Five tools share a language, Liminate, whose sentences are programs:

  limn      runs, checks and formats programs of it. Contracts are such programs.
  intent    says what a prompt asks for. Its keywords are what the pager's formula
            measures relevance by, and a packet has it.
  compress  cuts a window to a budget. It writes what became of each block into the
            contract, which is run before anything is stored.
  contract  keeps decisions, questions, corrections, sources and rules. Its pins,
            corrections and rules bind the pager.
  handoff   makes a packet of conversation, contract and intent. "carrel accept"
            begins a conversation and a contract with one.

One session from the beginning to the next agent:

  carrel import session.jsonl
  carrel contract init --from payload.json       decisions and questions that stand
  carrel intent "$(cat prompt.txt)"              what is open in a prompt, before work
  carrel contract add --correction 'run before claiming' --block ID
  carrel contract add --rule 'require window-tokens is below 90000'
  carrel compress --target 50%                   refused if a rule would fail
  carrel contract check                          what holds, line by line
  carrel limn run "$(carrel contract path)"      the same as a program
  carrel handoff --for reviewer -o packet.md
  carrel contract close
  carrel accept packet.md                        elsewhere: a new session that inherits

"carrel help contracts", "carrel help handoffs" and "carrel limn --help" say more.`

const topicContracts = `A contract says what a conversation has agreed on, as a program in the Liminate
language. Each conversation has one, from the first pass over its window on, or
from "carrel contract init". It only grows:

  blocks       which of them are retained, paged or evicted, after each pass
  pins         which must stay in the window
  decisions    tracked-decisions, and inherited-decisions of earlier sessions
  questions    open-questions and unresolved-questions
  corrections  session-corrections and active-corrections: how the user wants it
  sources      texts, claims, and verified-claims
  budget       how large the window is, and how large it may be

The contract is run whenever something is about to be added, by a pass as by you.
If it would not hold, the pass is refused with exit code 9 and nothing has
changed. So a rule of yours binds every pass, such as

  carrel contract add --rule 'require evicted-blocks not includes "block-…"'

A decision that contradicts one that stands is refused, unless --on-conflict says
what is to become of it. Corrections change what stays in the window: blocks that
record one stay; with consult-prior-context, what carries facts of an earlier
session counts more; with verify-against-source-not-memory, what shows a source.

The file of a contract ("carrel contract path") is for other programs, and a copy:
the store has the contract. It is in a folder that only you can read, and in no
work tree of git. Nothing is uploaded.

When a session ends: "carrel contract close", and "carrel contract init --inherit"
for the next, or "carrel handoff" for another agent.`

const topicHandoffs = `"carrel handoff" makes a packet with which another agent goes on, "carrel accept"
begins a conversation with one. Fifteen sections say, each entry with its basis:

  what it is for and how it stands    goal, state, intent
  what is known, and how well         sources, inferred claims, decisions
  what the user wants                 open questions, corrections
  what was done                       completed, not completed, artifacts
  what to do                          context to preserve, boundaries, next action

A source is verified (it ran, or the contract has it), scanned (it was read),
referenced (it was mentioned) or unavailable. What the agent decided is an
inferred claim, what the user decided a decision. Corrections are in the user's
words and all there. What nobody knows begins with "Unknown:".

Eight rules keep it honest, and "carrel handoff check" applies them to packets of
others, too: linked is not read, assumed is not decided, open is not done, no
hidden reasoning, no access promised, corrections stay as they were said, how well
something is known stays, doubt stands up front.

What the packet lists is cut to the newest where there is very much, and it says
so; everything is in the store that it came from. A packet is made on one machine
and accepted on another without loss: handed over again, it says the same. With
--json --strict it has the keys of the published schema alone, for readers that
refuse others.`
