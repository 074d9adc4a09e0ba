package cli

const topicSummaries = `"carrel compress" makes a window smaller by one of these strategies (--strategy,
compress.strategy):

  account       no summary; an account of the work: what was said, calls with how
                they ended, changed lines, parts of files, and at its end the
                state. The default: "carrel help budget". If a model is set
                (generate.*) and what it writes passes the checks, that takes
                the place of the agent's sentences
  importance    no summary; the lines and names most likely needed next, chosen
                across all blocks
  anchored      an account that answers the probes, and the id of a summary that
                is merged with the one before. If it does not, the summary
                itself, and of all else the likeliest lines and names
  hybrid        the same summary; of the other blocks the newest stay
  regenerative  a summary written anew each time; the newest stay
  opaque        a dense line of names, which nobody can check; the last few
                stay. Refused (exit code 9) for a session marked critical
  window        no summary; the newest blocks stay
  pager         no summary; whole blocks by the context pager's formula

What rules hold stays with each of them. Where no new summary is made, one that
there is already stays as it is.

A summary has sections that must all be said: Session Intent, Files Modified,
Decisions Made with the reason of each, Current State, Blockers / Open
Questions, Next Steps, Technical Context and Errors Encountered; Key Artifacts
may be left out. Where there is nothing to say it says None. A program makes it
from the blocks that are new since the last time, or a model if one is set (the
settings generate.*); what a model writes is checked first. "carrel summary
show" prints it, "carrel recall sum_…" too; the blocks it is from stay in the
store.

Before a new summary takes its place, probes are asked of the window as it would
be: questions that the originals answer, "carrel probe gen". It is accepted if
90% of all are answered (--probe-min, probes.accept) and every critical one:
the first task, corrections, changed files, decisions of the user. Red flags
are fewer than 70%, and more than 95% of the tokens gone.

If it is not accepted, of anchored the summary in the window is tried, then a
summary with more detail, then one with the
last 10 blocks as they are, then a window. If none passes, nothing is changed,
the exit code is 1, and the probes that failed are listed. Then a larger
--target helps, or --strategy account, which makes no summary, or
--probe-min 0, which takes whatever comes. "carrel probe report" shows how it
went over the compressions.`
