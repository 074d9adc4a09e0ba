// LangChain: trimMessages, and the edit that clears old tool results.
//
// Both take a counter, so they are given ours. A message is counted once and looked
// up by its number afterwards, for both count the same messages again and again.

import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from '@langchain/core/messages';
import { ClearToolUsesEdit } from 'langchain';
import { argsOf, costWith, serve, timed } from './peer.mjs';

// convert gives each message its number where copies keep it.
function convert(m, src) {
  const fields = { content: m.text, response_metadata: { src } };
  switch (m.role) {
    case 'system':
      return new SystemMessage(fields);
    case 'user':
      return new HumanMessage(fields);
    case 'tool':
      return new ToolMessage({ ...fields, tool_call_id: m.call_id ?? '', name: m.tool });
  }
  const calls = m.calls.map((c) => ({ type: 'tool_call', id: c.id, name: c.name, args: argsOf(c) }));
  return new AIMessage({ ...fields, tool_calls: calls });
}

const counter = (messages) => (list) => list.reduce((n, m) => {
  const from = messages[m.response_metadata.src];
  return n + (m.content === from.text ? from.cost : costWith(from, m.content));
}, 0);

function kept(messages, m) {
  const { src } = m.response_metadata;
  return m.content === messages[src].text ? { src } : { src, text: m.content };
}

// method clears all but so many results, if it is told a number, and trims.
function method(options, results) {
  return async (messages, budget) => {
    const list = messages.map(convert);
    const tokenCounter = counter(messages);
    const [out, us] = await timed(async () => {
      if (results !== undefined) {
        const edit = new ClearToolUsesEdit({ trigger: { tokens: budget }, keep: { messages: results } });
        await edit.apply({ messages: list, countTokens: tokenCounter });
      }
      return trimMessages(list, { strategy: 'last', maxTokens: budget, tokenCounter, ...options });
    });
    return { us, keep: out.map((m) => kept(messages, m)) };
  };
}

await serve('langchain', ['langchain', '@langchain/core'], {
  'langchain-trim': method({}),
  'langchain-trim-human': method({ startOn: 'human' }),
  'langchain-trim-pairs': method({ startOn: ['human', 'ai'] }),
  'langchain-trim-partial': method({ allowPartial: true }),
  'langchain-clear3-trim': method({}, 3),
  'langchain-clear3-trim-pairs': method({ startOn: ['human', 'ai'] }, 3),
});
