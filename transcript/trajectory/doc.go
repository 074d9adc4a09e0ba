// Package trajectory reads and writes the records of research agents:
// trajectories of SWE-agent and events of OpenHands.
//
// # SWE-agent
//
// [SWEAgent] is an object with the lists trajectory and history (files *.traj). The history
// is the conversation that the model saw: messages of the Chat Completions API with a few
// additional fields; tool_call_ids of a result names its call. A file without
// a history is read from its trajectory: each step is a reply with the thought and a call of
// the tool "action", and the observation is its result. Source: the documentation of
// SWE-agent 1.1, "Output files", and the types History and TrajectoryStep in its
// sweagent/types.py.
//
// # OpenHands
//
// [OpenHands] is a list of events, or an object with such a list under history. An action of
// the agent other than a message is a call, by the name and id in its tool_call_metadata, or
// by its own name and the id of the event; an observation is the result of the action that
// is its cause. Actions in a row are one reply. What the environment and the user interface
// noted (changes of state, recalls, condensations, empty actions) is kept, and not a part of the
// conversation. Source: the documentation of OpenHands 0.5x, "Trajectories", and the
// serialization in its openhands/events.
//
// # What is written
//
// An intact window is the input, byte for byte. In a changed window, all bytes around the list
// and each unchanged element stay; the list trajectory of SWE-agent does not change, even if it
// repeats messages that were removed from the history. A file that was read from its trajectory
// gets its messages as a history. Sessions of other formats are
// written as a list alone, with the parts that Chat Completions can carry; repairs and losses
// are those of package openai.
//
// No service takes these files. Validate checks the conversation by the rules of package
// openai, so that it can be sent on.
package trajectory
