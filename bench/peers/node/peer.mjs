// What the peers in JavaScript share: the exchange with the bench, the cost that all
// methods are held to, and the search for a limit in somebody else's tokens.
//
// A method is a function (messages, budget) => {us, keep}. The messages are those of
// the bench, each with its cost; keep lists what stays, as
//
//	{src}         message number src as it is
//	{src, text}   with another text
//	{src, calls}  with only those of its calls, by their numbers

import { readFileSync } from 'node:fs';

// serve answers the bench until there are no more requests.
export async function serve(peer, packages, methods) {
  send({ peer, packages: versions(packages), methods: Object.keys(methods) });
  for await (const line of lines(process.stdin)) {
    const { id, method, budget, messages } = JSON.parse(line);
    try {
      for (const m of messages) measure(m);
      const { us, keep } = await methods[method](messages, budget);
      send({ id, us, keep });
    } catch (err) {
      send({ id, error: err.stack ?? String(err) });
    }
  }
}

function send(answer) {
  process.stdout.write(JSON.stringify(answer) + '\n');
}

async function* lines(stream) {
  let parts = [];
  for await (let chunk of stream) {
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n')) {
      parts.push(chunk.subarray(0, end));
      yield Buffer.concat(parts).toString();
      parts = [];
      chunk = chunk.subarray(end + 1);
    }
    parts.push(chunk);
  }
}

function versions(packages) {
  return Object.fromEntries(packages.map((name) => {
    const file = new URL(`./node_modules/${name}/package.json`, import.meta.url);
    return [name, JSON.parse(readFileSync(file)).version];
  }));
}

// timed runs f and returns what it gives, with the microseconds that it took.
export async function timed(f) {
  const start = performance.now();
  const out = await f();
  return [out, (performance.now() - start) * 1000];
}

const bytes = (text) => Buffer.byteLength(text);

function measure(m) {
  m.text ??= '';
  m.calls ??= [];
  for (const c of m.calls) c.bytes = bytes(c.name) + bytes(c.args);
  m.cost = costWith(m, m.text);
}

// costWith returns the tokens of a message with another text and all or some of its
// calls: 4, and one for each four bytes.
export function costWith(m, text, calls) {
  let n = bytes(text);
  m.calls.forEach((c, i) => {
    if (!calls || calls.includes(i)) n += c.bytes;
  });
  return 4 + Math.floor((n + 3) / 4);
}

// costOf returns the tokens of a kept message.
export function costOf(messages, { src, text, calls }) {
  const m = messages[src];
  return text === undefined && !calls ? m.cost : costWith(m, text ?? m.text, calls);
}

export function total(messages, keep) {
  return keep.reduce((n, k) => n + costOf(messages, k), 0);
}

// argsOf returns the arguments of a call as packages want them.
export function argsOf(call) {
  try {
    return JSON.parse(call.args);
  } catch {
    return { input: call.args };
  }
}

// tail returns the newest of what is kept that fit a budget, for packages that know
// none. With pairs it does not begin with a result, whose call would be missing.
export function tail(messages, keep, budget, pairs) {
  let from = keep.length;
  while (from > 0 && (budget -= costOf(messages, keep[from - 1])) >= 0) from--;
  while (pairs && from < keep.length && messages[keep[from].src].role === 'tool') from++;
  return keep.slice(from);
}

// fit translates a budget into the tokens of a package that has its own count: it
// runs attempt(limit), which gives {us, keep}, with up to eight limits, the first of
// them a guess, and returns the fullest that is not over the budget.
export async function fit(messages, budget, guess, attempt) {
  let [low, high, limit, best] = [0, Infinity, guess, null];
  for (let i = 0; i < 8; i++) {
    const got = await attempt(Math.floor(limit));
    got.cost = total(messages, got.keep);
    got.over = got.cost > budget;
    if (!best || (best.over ? got.cost < best.cost : !got.over && got.cost > best.cost)) best = got;
    if (!got.over && got.cost >= budget * 0.97) break;
    if (got.over) high = limit;
    else low = limit;
    if (low > 0 && high < Infinity) limit = (low + high) / 2;
    else limit *= got.over ? (0.9 * budget) / got.cost : 1.1;
  }
  return best;
}
