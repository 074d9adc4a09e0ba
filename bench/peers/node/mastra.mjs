// Mastra: the token limiter in both of its ways to trim, and the filter of tool
// calls before it.
//
// The limiter counts by an estimator of its own, so its limit is the budget in its
// tokens: by the ratio of the two counts of the conversation, then corrected. What it
// refuses because no message fits counts as nothing kept.

import { TripWire } from '@mastra/core/agent';
import { TokenLimiterProcessor, ToolCallFilter } from '@mastra/core/processors';
import { argsOf, fit, serve, timed, total } from './peer.mjs';

// convert gives each message, and each call in it, its number where copies keep it.
function convert(m, src) {
  const providerOptions = { carrel: { src } };
  switch (m.role) {
    case 'system':
      return { role: 'system', content: m.text, providerOptions };
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: m.text }], providerOptions };
    case 'tool': {
      const output = { type: 'text', value: m.text };
      const content = [{ type: 'tool-result', toolCallId: m.call_id ?? '', toolName: m.tool ?? '', output }];
      return { role: 'tool', content, providerOptions };
    }
  }
  const content = m.text ? [{ type: 'text', text: m.text }] : [];
  m.calls.forEach((c, call) => {
    const carrel = { carrel: { call } };
    content.push({ type: 'tool-call', toolCallId: c.id, toolName: c.name, input: argsOf(c), providerOptions: carrel });
  });
  return { role: 'assistant', content, providerOptions };
}

function kept(messages, { role, content, providerOptions }) {
  const { src } = providerOptions.carrel;
  if (role !== 'assistant') return { src };
  const calls = content.filter((p) => p.type === 'tool-call').map((p) => p.providerOptions.carrel.call);
  return calls.length === messages[src].calls.length ? { src } : { src, calls };
}

// step runs a processor over a prompt, which stays if the processor says nothing.
async function step(processor, prompt) {
  return (await processor.processLLMRequest({ prompt, state: {} }))?.prompt ?? prompt;
}

// theirs returns the limiter's own count of a prompt.
function theirs(prompt) {
  const limiter = new TokenLimiterProcessor({ limit: 1 });
  return prompt.reduce((n, m) => n + limiter.countPromptMessageTokens(m), 0);
}

function method(trimMode, filter) {
  return (messages, budget) => {
    const prompt = messages.map(convert);
    const whole = total(messages, messages.map((_, src) => ({ src })));
    const guess = (budget * theirs(prompt)) / whole + TokenLimiterProcessor.TOKENS_PER_CONVERSATION;
    return fit(messages, budget, guess, async (limit) => {
      const limiter = new TokenLimiterProcessor({ limit, trimMode });
      const [out, us] = await timed(async () => {
        try {
          return await step(limiter, filter ? await step(filter, prompt) : prompt);
        } catch (err) {
          if (err instanceof TripWire) return [];
          throw err;
        }
      });
      return { us, keep: out.map((m) => kept(messages, m)) };
    });
  };
}

await serve('mastra', ['@mastra/core'], {
  'mastra-best-fit': method('best-fit'),
  'mastra-contiguous': method('contiguous'),
  'mastra-filter3-best-fit': method('best-fit', new ToolCallFilter({ filterAfterToolSteps: 3 })),
});
