package cli

const topicTiers = `The tier of a context says how far it was cut. It follows from the demand: what
the context would take if nothing were cut, measured before anything is.

  full        below 80% of the budget     everything that is worth a place
  summarized  from 80%                    transcripts in 200 tokens at most, others
                                          in half their tokens until it fits
  core        from 95% to 110%            what a person has verified
  minimal     above 110%                  no artifact, and a flag for a person to
                                          look

An artifact takes 2,000 tokens at most (assemble.page): a larger one comes in by
the passages that have most to do with the query.

These tiers are the article's, with a large step at 95%: what no person verified is
gone at once. "carrel assemble --tiers soft" goes down a gentler ladder:

  full        up to the budget            everything, whole
  soft        above it                    what a person has verified, then the
                                          best of the others, whole, while they
                                          fit; a flag for a person to look if
                                          something verified is not whole

The system text, pinned artifacts, the window of a session and the query are in
every tier; if they alone are over the budget, the exit code is 5. What a tier
leaves out is in the manifest with that reason. The edges are settings, see
"carrel help config"; "carrel debug tier --demand 0.79,0.80" calculates, and "carrel
assemble --tier core" forces one.`

const topicGate = `The gate decides what may be remembered. "carrel commit" brings a memory to it,
with a confidence that always comes from outside: Carrel computes none, and an
agent cannot vouch for itself.

  commit   the memory is stored, and may enter contexts
  hold     it is kept apart until a person decides: "carrel review"; exit code 9
  refuse   nothing is stored, and nothing is logged; exit code 9

It refuses what holds a credential, repeats the context or a memory of it, or is
remembered already. It holds what has no valid confidence, one below 0.7 (the
setting gate.confidence), a verdict on another text, scope or policy, and what
gives orders to an assistant or hides characters.

With --redact, or the setting redact.personal, addresses of e-mail and numbers of
telephones are taken out of what is kept; put and stash put do the same.

A verdict that an evaluator wrote is a JSON file for --verdict:

  {"evaluator": "deploy-test", "confidence": 0.88, "content": "<sha256 of the
   text>", "scope": "local", "policy": "<as carrel manifest show prints it>",
   "expires": "2026-03-01T00:00:00Z"}`
