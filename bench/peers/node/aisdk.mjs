// Vercel AI SDK: pruneMessages, which drops the calls and results of all but the
// newest messages. It knows no budget, so the newest of what it leaves are taken.

import { pruneMessages } from 'ai';
import { argsOf, serve, tail, timed } from './peer.mjs';

// convert gives each message, and each call in it, its number.
function convert(m, src) {
  switch (m.role) {
    case 'system':
    case 'user':
      return { role: m.role, content: m.text, src };
    case 'tool': {
      const output = { type: 'text', value: m.text };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: m.call_id ?? '', toolName: m.tool ?? '', output }], src };
    }
  }
  const content = m.text ? [{ type: 'text', text: m.text }] : [];
  m.calls.forEach((c, call) => {
    content.push({ type: 'tool-call', toolCallId: c.id, toolName: c.name, input: argsOf(c), call });
  });
  return { role: 'assistant', content, src };
}

function kept(messages, { src, role, content }) {
  if (role !== 'assistant') return { src };
  const calls = content.filter((p) => p.type === 'tool-call').map((p) => p.call);
  return calls.length === messages[src].calls.length ? { src } : { src, calls };
}

function method(newest, pairs) {
  return async (messages, budget) => {
    const list = messages.map(convert);
    const [pruned, us] = await timed(() => pruneMessages({ messages: list, toolCalls: `before-last-${newest}-messages` }));
    const keep = tail(messages, pruned.map((m) => kept(messages, m)), budget, pairs);
    return { us, keep };
  };
}

await serve('aisdk', ['ai'], {
  'aisdk-prune20-tail': method(20, false),
  'aisdk-prune20-tail-pairs': method(20, true),
});
